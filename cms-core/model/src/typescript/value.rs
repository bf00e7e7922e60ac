//! Converts a property of a content type to a TypeScript type.

use serde_json::{Map, Value};

use super::syntax::{Member, object, quoted, union};
use crate::content_type::{
    model::{InputType, Property, SchemaType},
    stored_level::StoredLevel,
};

/// An object with any members.
const ANY_OBJECT: &str = "{ [name: string]: unknown }";

/// Converts the properties of an object type. `level` is the level of indentation of its `}`; its
/// members are indented by one level more.
pub(super) fn members(
    properties: &[Property],
    stored: StoredLevel<'_>,
    level: usize,
) -> Vec<Member> {
    let member = |property: &Property| {
        let name = property.name.as_str();
        let (schema, config) = (&stored.schemas[name], &stored.configs[name]);
        let value = value(property, schema, config, level + 1);
        let notes = notes(name, config["label"].as_str(), config["helpText"].as_str());
        Member::new(name, !property.required, notes, value)
    };
    properties.iter().map(member).collect()
}

/// The label, unless it only repeats the name, and the help text.
pub(super) fn notes(name: &str, label: Option<&str>, help: Option<&str>) -> Vec<String> {
    let letters = |text: &str| {
        text.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase()
    };
    let label = label.filter(|label| letters(label) != letters(name));
    let texts = [label, help].into_iter().flatten();
    texts.filter(|text| !text.is_empty()).map(str::to_owned).collect()
}

fn value(property: &Property, schema: &Value, config: &Value, level: usize) -> String {
    match property.input_type {
        InputType::Datasource => links(property, schema),
        InputType::Block => match &property.block_types {
            None => "Blocks".to_owned(),
            Some(types) if types.is_empty() => "Blocks<\"paragraph\">".to_owned(),
            Some(types) => format!("Blocks<{}>", union(types)),
        },
        InputType::Geo => {
            let required = schema["required"].as_array();
            let has = |name: &str| required.is_some_and(|names| names.iter().any(|n| n == name));
            let mark = |name: &str| if has(name) { "" } else { "?" };
            match ["lat", "lon"].map(mark) {
                ["", ""] => "GeoPoint".to_owned(),
                [lat, lon] => format!("{{ lat{lat}: number; lon{lon}: number }}"),
            }
        }
        InputType::Object if !property.nested.is_empty() => {
            let stored = StoredLevel::nested(property, schema, config);
            format!("{}[]", object(&members(&property.nested, stored, level), level))
        }
        InputType::Custom if property.is_nested_object() => {
            let stored = StoredLevel::nested(property, schema, config);
            object(&members(&property.nested, stored, level), level)
        }
        _ => from_schema(schema, &property.options, level),
    }
}

/// Converts a relation. A relation to one object is a tuple, whose element is optional unless
/// `minItems` requires it.
fn links(property: &Property, schema: &Value) -> String {
    let relation = property.relation.as_ref();
    let target = relation.and_then(|relation| relation.target.as_deref());
    let link = target.map_or("Link".to_owned(), |target| format!("Link<{}>", quoted(target)));
    if relation.is_some_and(|relation| relation.multiple) {
        return list(&link);
    }
    let is_present = schema["minItems"].as_u64().unwrap_or(0) > 0;
    if is_present { format!("[{link}]") } else { format!("[{link}?]") }
}

/// Converts a value that only its stored schema describes.
fn from_schema(schema: &Value, options: &[String], level: usize) -> String {
    let kind = schema["type"].as_str().and_then(SchemaType::parse);
    match kind {
        Some(SchemaType::String) if !options.is_empty() => union(options),
        Some(SchemaType::String) => "string".to_owned(),
        Some(SchemaType::Number | SchemaType::Integer) => "number".to_owned(),
        Some(SchemaType::Boolean) => "boolean".to_owned(),
        Some(SchemaType::Null) => "null".to_owned(),
        Some(SchemaType::Array) => list(&from_schema(&schema["items"], options, level)),
        Some(SchemaType::Object) => match &schema["properties"] {
            Value::Object(schemas) if !schemas.is_empty() => declared(schema, schemas, level),
            _ => ANY_OBJECT.to_owned(),
        },
        None => "unknown".to_owned(),
    }
}

/// Converts an object that has no form settings.
fn declared(schema: &Value, schemas: &Map<String, Value>, level: usize) -> String {
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|n| n == name));
    let member = |(name, schema): (&String, &Value)| {
        Member::new(name, !is_required(name), Vec::new(), from_schema(schema, &[], level + 1))
    };
    object(&schemas.iter().map(member).collect::<Vec<_>>(), level)
}

/// Prints a list type.
fn list(element: &str) -> String {
    let is_union = element.contains(" | ") && !element.starts_with('{');
    if is_union { format!("({element})[]") } else { format!("{element}[]") }
}
