//! Schemas as JSON: the keywords that each version has for them (contract 9.6).

use serde_json::{Map, Value, json};

use super::ir::{Composed, Kind, List, Object, Range, Rest, Schema, Text};
use crate::wire::openapi::OpenApiVersion as Version;

/// Prints a schema.
pub(super) fn print(schema: &Schema, version: Version) -> Value {
    Value::Object(keywords(schema, version))
}

/// Where the schemas of a document stand.
pub(super) fn pointer(name: &str, version: Version) -> String {
    match version {
        Version::V2 => format!("#/definitions/{name}"),
        Version::V30 | Version::V31 => format!("#/components/schemas/{name}"),
    }
}

/// Prints a schema as keywords that may stand among others.
pub(super) fn keywords(schema: &Schema, version: Version) -> Map<String, Value> {
    let mut out = match &schema.kind {
        Kind::Reference(name) => single("$ref", pointer(name, version)),
        Kind::Null if version == Version::V31 => single("type", "null"),
        // Older versions cannot say null; anything is close enough for what nobody sends.
        Kind::Any | Kind::Null => Map::new(),
        Kind::Boolean => single("type", "boolean"),
        Kind::Number(range) => number(range),
        Kind::Text(known) => text(known),
        Kind::File => {
            let mut file = single("type", "string");
            insert(&mut file, "format", "binary");
            file
        }
        Kind::List(known) => list(known, version),
        Kind::Object(known) => object(known, version),
        Kind::All(known) => composed(known, version),
        Kind::AnyOf(_) if version == Version::V2 => Map::new(),
        Kind::AnyOf(alternatives) => single("anyOf", prints(alternatives, version)),
    };
    if schema.nullable {
        allow_null(&mut out, version);
    }
    if let Some(description) = &schema.description {
        insert(&mut out, "description", description.as_str());
    }
    if let Some(default) = &schema.default {
        insert(&mut out, "default", default.clone());
    }
    match (&schema.example, version) {
        (None, _) => {}
        (Some(example), Version::V31) => insert(&mut out, "examples", json!([example])),
        (Some(example), Version::V30 | Version::V2) => insert(&mut out, "example", example.clone()),
    }
    out
}

fn prints(schemas: &[Schema], version: Version) -> Value {
    schemas.iter().map(|schema| print(schema, version)).collect()
}

fn single(key: &str, value: impl Into<Value>) -> Map<String, Value> {
    Map::from_iter([(key.to_owned(), value.into())])
}

fn insert(out: &mut Map<String, Value>, key: &str, value: impl Into<Value>) {
    out.insert(key.to_owned(), value.into());
}

/// Swagger 2 has no null: there the type is left open.
fn allow_null(out: &mut Map<String, Value>, version: Version) {
    match version {
        Version::V31 => {
            if let Some(kind) = out.get_mut("type") {
                *kind = json!([kind.take(), "null"]);
            }
        }
        Version::V30 => insert(out, "nullable", true),
        Version::V2 => {
            out.shift_remove("type");
            insert(out, "x-nullable", true);
        }
    }
}

fn number(range: &Range) -> Map<String, Value> {
    let mut out = single("type", if range.integer { "integer" } else { "number" });
    if let Some(minimum) = &range.minimum {
        insert(&mut out, "minimum", minimum.clone());
    }
    if let Some(maximum) = &range.maximum {
        insert(&mut out, "maximum", maximum.clone());
    }
    out
}

fn text(text: &Text) -> Map<String, Value> {
    let mut out = single("type", "string");
    if text.min_length > 0 {
        insert(&mut out, "minLength", text.min_length);
    }
    if let Some(max_length) = text.max_length {
        insert(&mut out, "maxLength", max_length);
    }
    if let Some(pattern) = &text.pattern {
        insert(&mut out, "pattern", pattern.as_str());
    }
    if !text.options.is_empty() {
        insert(&mut out, "enum", text.options.clone());
    }
    out
}

fn list(list: &List, version: Version) -> Map<String, Value> {
    let mut out = single("type", "array");
    insert(&mut out, "items", print(&list.items, version));
    if list.min > 0 {
        insert(&mut out, "minItems", list.min);
    }
    if let Some(max) = list.max {
        insert(&mut out, "maxItems", max);
    }
    out
}

fn object(object: &Object, version: Version) -> Map<String, Value> {
    let mut out = single("type", "object");
    if !object.properties.is_empty() {
        let properties = object.properties.iter();
        let print = |(name, schema): &(String, Schema)| (name.clone(), print(schema, version));
        insert(&mut out, "properties", properties.map(print).collect::<Map<_, _>>());
    }
    require(&mut out, &object.required);
    match &object.rest {
        Rest::Anything => {}
        Rest::Nothing => insert(&mut out, "additionalProperties", false),
        Rest::Of(schema) => insert(&mut out, "additionalProperties", print(schema, version)),
    }
    out
}

/// `additionalProperties` does not look into `allOf`; only 3.1 has a keyword that does.
fn composed(composed: &Composed, version: Version) -> Map<String, Value> {
    let mut out = single("type", "object");
    insert(&mut out, "allOf", prints(&composed.parts, version));
    require(&mut out, &composed.required);
    if composed.closed && version == Version::V31 {
        insert(&mut out, "unevaluatedProperties", false);
    }
    out
}

/// An empty list is forbidden in the older versions, and says nothing in the newest.
fn require(out: &mut Map<String, Value>, required: &[String]) {
    if !required.is_empty() {
        insert(out, "required", required.to_vec());
    }
}
