//! Prints schemas with the keywords of each version (see docs/reference/openapi.md#versions).
//!
//! Documents are large, so they are serialized directly, without a tree of values.

use serde::{Serialize, Serializer, ser::SerializeMap};

use super::ir::{
    AdditionalProperties, Composed, ListSchema, ObjectSchema, Range, Schema, SchemaKind, TextSchema,
};
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
        if let Some(description) = description {
            out.serialize_entry("description", description)?;
        }
        if let Some(default) = default {
            out.serialize_entry("default", default)?;
        }
        match example {
            None => {}
            Some(example) if self.version == Version::V31 => {
                out.serialize_entry("examples", &[example])?;
            }
            Some(example) => out.serialize_entry("example", example)?,
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
            number(out, range)?;
        }
        SchemaKind::Text(known) => {
            kind(out, "string")?;
            text(out, known)?;
        }
        // Some validators reject the type `file` of Swagger 2.0.
        SchemaKind::File => {
            kind(out, "string")?;
            out.serialize_entry("format", "binary")?;
        }
        SchemaKind::List(known) => {
            kind(out, "array")?;
            list(out, known, version)?;
        }
        SchemaKind::Object(known) => {
            kind(out, "object")?;
            object(out, known, version)?;
        }
        SchemaKind::All(known) => {
            kind(out, "object")?;
            composed(out, known, version)?;
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

fn number<M: SerializeMap>(out: &mut M, range: &Range) -> Result<(), M::Error> {
    if let Some(minimum) = &range.minimum {
        out.serialize_entry("minimum", minimum)?;
    }
    if let Some(maximum) = &range.maximum {
        out.serialize_entry("maximum", maximum)?;
    }
    Ok(())
}

fn text<M: SerializeMap>(out: &mut M, text: &TextSchema) -> Result<(), M::Error> {
    if text.min_length > 0 {
        out.serialize_entry("minLength", &text.min_length)?;
    }
    if let Some(max_length) = text.max_length {
        out.serialize_entry("maxLength", &max_length)?;
    }
    if let Some(pattern) = &text.pattern {
        out.serialize_entry("pattern", pattern)?;
    }
    if !text.options.is_empty() {
        out.serialize_entry("enum", &text.options)?;
    }
    Ok(())
}

fn list<M: SerializeMap>(out: &mut M, list: &ListSchema, version: Version) -> Result<(), M::Error> {
    out.serialize_entry("items", &Printed { schema: &list.items, version })?;
    if list.min > 0 {
        out.serialize_entry("minItems", &list.min)?;
    }
    if let Some(max) = list.max {
        out.serialize_entry("maxItems", &max)?;
    }
    Ok(())
}

fn object<M: SerializeMap>(
    out: &mut M,
    object: &ObjectSchema,
    version: Version,
) -> Result<(), M::Error> {
    if !object.properties.is_empty() {
        out.serialize_entry("properties", &Named { schemas: &object.properties, version })?;
    }
    require(out, &object.required)?;
    match &object.additional_properties {
        AdditionalProperties::Allowed => Ok(()),
        AdditionalProperties::Forbidden => out.serialize_entry("additionalProperties", &false),
        AdditionalProperties::Of(schema) => {
            out.serialize_entry("additionalProperties", &Printed { schema, version })
        }
    }
}

/// `additionalProperties` ignores the properties of `allOf`; only 3.1 has a keyword that includes
/// them.
fn composed<M: SerializeMap>(
    out: &mut M,
    composed: &Composed,
    version: Version,
) -> Result<(), M::Error> {
    out.serialize_entry("allOf", &prints(&composed.parts, version))?;
    require(out, &composed.required)?;
    if composed.closed && version == Version::V31 {
        out.serialize_entry("unevaluatedProperties", &false)?;
    }
    Ok(())
}

/// Omits an empty list, which older versions forbid.
fn require<M: SerializeMap>(out: &mut M, required: &[String]) -> Result<(), M::Error> {
    if required.is_empty() { Ok(()) } else { out.serialize_entry("required", required) }
}
