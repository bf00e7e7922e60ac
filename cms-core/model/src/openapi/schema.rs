//! Prints schemas with the keywords of each version (see docs/reference/openapi.md#versions).
//!
//! Documents are large, so they are serialized directly, without a tree of values.

use serde::{Serialize, Serializer, ser::SerializeMap};

use super::ir::{AdditionalProperties, Schema, SchemaKind};
use crate::wire::openapi::OpenApiVersion as Version;

/// A schema in one version.
pub(super) struct Printed<'a> {
    pub(super) schema: &'a Schema,
    pub(super) version: Version,
}

impl Serialize for Printed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(None)?;
        keywords(&mut out, self.schema, self.version)?;
        let Schema { description, default, example, .. } = self.schema;
        optional(&mut out, "description", description.as_ref())?;
        optional(&mut out, "default", default.as_ref())?;
        if self.version == Version::V31 {
            optional(&mut out, "examples", example.as_ref().map(|example| [example]))?;
        } else {
            optional(&mut out, "example", example.as_ref())?;
        }
        out.end()
    }
}

/// Prints the validation keywords of a schema into an open object.
pub(super) fn keywords<M: SerializeMap>(
    out: &mut M,
    schema: &Schema,
    version: Version,
) -> Result<(), M::Error> {
    let kind = |out: &mut M, name| kind(out, name, schema.nullable, version);
    match &schema.kind {
        SchemaKind::Reference(name) => out.serialize_entry("$ref", &pointer(name, version))?,
        SchemaKind::Null if version == Version::V31 => out.serialize_entry("type", "null")?,
        // Older versions have no null type: any value is valid there.
        SchemaKind::Any | SchemaKind::Null => {}
        SchemaKind::Boolean => kind(out, "boolean")?,
        SchemaKind::Number(range) => {
            kind(out, if range.integer { "integer" } else { "number" })?;
            optional(out, "minimum", range.minimum.as_ref())?;
            optional(out, "maximum", range.maximum.as_ref())?;
        }
        SchemaKind::Text(text) => {
            kind(out, "string")?;
            optional(out, "minLength", positive(text.min_length))?;
            optional(out, "maxLength", text.max_length)?;
            optional(out, "pattern", text.pattern.as_ref())?;
            optional(out, "enum", not_empty(&text.options))?;
        }
        // Some validators reject the type `file` of Swagger 2.0.
        SchemaKind::File => {
            kind(out, "string")?;
            out.serialize_entry("format", "binary")?;
        }
        SchemaKind::List(list) => {
            kind(out, "array")?;
            out.serialize_entry("items", &Printed { schema: &list.items, version })?;
            optional(out, "minItems", positive(list.min))?;
            optional(out, "maxItems", list.max)?;
        }
        SchemaKind::Object(object) => {
            kind(out, "object")?;
            if !object.properties.is_empty() {
                out.serialize_entry("properties", &Named { schemas: &object.properties, version })?;
            }
            optional(out, "required", not_empty(&object.required))?;
            match &object.additional_properties {
                AdditionalProperties::Allowed => {}
                AdditionalProperties::Forbidden => {
                    out.serialize_entry("additionalProperties", &false)?;
                }
                AdditionalProperties::Of(schema) => {
                    out.serialize_entry("additionalProperties", &Printed { schema, version })?;
                }
            }
        }
        SchemaKind::All(composed) => {
            kind(out, "object")?;
            out.serialize_entry("allOf", &prints(&composed.parts, version))?;
            optional(out, "required", not_empty(&composed.required))?;
            // `additionalProperties` ignores the properties of `allOf`; only 3.1 has a keyword that
            // includes them.
            if composed.closed && version == Version::V31 {
                out.serialize_entry("unevaluatedProperties", &false)?;
            }
        }
        SchemaKind::AnyOf(_) if version == Version::V2 => {}
        SchemaKind::AnyOf(alternatives) => {
            out.serialize_entry("anyOf", &prints(alternatives, version))?;
        }
    }
    match version {
        Version::V30 if schema.nullable => out.serialize_entry("nullable", &true),
        Version::V2 if schema.nullable => out.serialize_entry("x-nullable", &true),
        _ => Ok(()),
    }
}

/// Prints a keyword that has a value.
pub(super) fn optional<M: SerializeMap>(
    out: &mut M,
    keyword: &str,
    value: Option<impl Serialize>,
) -> Result<(), M::Error> {
    value.map_or(Ok(()), |value| out.serialize_entry(keyword, &value))
}

/// Swagger 2 has no null: the type of a nullable value is omitted.
fn kind<M: SerializeMap>(
    out: &mut M,
    name: &str,
    nullable: bool,
    version: Version,
) -> Result<(), M::Error> {
    match version {
        Version::V31 if nullable => out.serialize_entry("type", &[name, "null"]),
        Version::V2 if nullable => Ok(()),
        _ => out.serialize_entry("type", name),
    }
}

/// The JSON pointer of a schema.
fn pointer(name: &str, version: Version) -> String {
    let parent = if version == Version::V2 { "definitions" } else { "components/schemas" };
    ["#/", parent, "/", name].concat()
}

fn prints(schemas: &[Schema], version: Version) -> Vec<Printed<'_>> {
    schemas.iter().map(|schema| Printed { schema, version }).collect()
}

/// Schemas by name, in order.
pub(super) struct Named<'a> {
    pub(super) schemas: &'a [(String, Schema)],
    pub(super) version: Version,
}

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let version = self.version;
        let named = self.schemas.iter().map(|(name, schema)| (name, Printed { schema, version }));
        serializer.collect_map(named)
    }
}

fn positive(minimum: u64) -> Option<u64> {
    (minimum > 0).then_some(minimum)
}

/// Omits an empty list, which older versions forbid.
fn not_empty(list: &[String]) -> Option<&[String]> {
    (!list.is_empty()).then_some(list)
}
