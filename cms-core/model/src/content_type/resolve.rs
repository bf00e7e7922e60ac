//! Schemas of a content type for `resolveRef`: without `$ref`, which only the OpenAPI document
//! could resolve.

use serde_json::{Map, Value, json};

use super::model::{DATA_SOURCE_REF, Definition};
use crate::query::path::InternalField;

/// Returns the schema of the type's own properties only.
pub fn strict_schema(definition: &Definition) -> Value {
    let (properties, required) = own(definition);
    json!({"schema": {"type": "object", "properties": properties, "required": required}})
}

/// Returns the `schemaDefinition` without `allOf`: own properties, `id` and `internal` in one map.
pub fn resolved_schema(definition: &Definition) -> Value {
    let (mut properties, required) = own(definition);
    properties.extend(system_properties());
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn own(definition: &Definition) -> (Map<String, Value>, &Value) {
    let schema = &definition.schema_definition;
    let own = schema["allOf"][1]["properties"].as_object();
    let mut properties = own.cloned().unwrap_or_default();
    properties.values_mut().for_each(inline_links);
    (properties, &schema["required"])
}

/// Replaces references to the schema of links with that schema, at any depth.
fn inline_links(value: &mut Value) {
    match value {
        Value::Object(members) if members.get("$ref").is_some_and(|to| to == DATA_SOURCE_REF) => {
            *value = data_source();
        }
        Value::Object(members) => members.values_mut().for_each(inline_links),
        Value::Array(items) => items.iter_mut().for_each(inline_links),
        _ => {}
    }
}

/// The schema of a link: an item of a relation.
fn data_source() -> Value {
    json!({
        "type": "object",
        "required": ["dataUrl", "type"],
        "properties": {
            "dataUrl": {"type": "string"},
            "type": {"type": "string", "enum": ["internal", "external"], "default": "internal"},
        },
        "additionalProperties": false,
    })
}

/// The system properties of every object.
fn system_properties() -> [(String, Value); 2] {
    let internal = InternalField::ALL.map(|field| {
        let name = field.as_str();
        let kind = if name.ends_with("Version") { "number" } else { "string" };
        (name.to_owned(), json!({"type": kind}))
    });
    let id = json!({"type": "string", "description": "Unique id of the object within its type"});
    let internal = json!({
        "type": "object",
        "description": "Metadata of the object; read-only",
        "additionalProperties": false,
        "required": ["createdAt", "updatedAt", "deletedAt", "contentType"],
        "properties": Map::from_iter(internal),
    });
    [("id".to_owned(), id), ("internal".to_owned(), internal)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content_type::builtin;

    #[test]
    fn resolved_schemas_have_own_and_system_properties() {
        for definition in builtin::definitions() {
            let (own, required) = own(&definition);
            let resolved = resolved_schema(&definition);
            let keys = |value: &Value| -> Vec<String> {
                value.as_object().unwrap().keys().cloned().collect()
            };
            let names: Vec<String> = own
                .keys()
                .map(String::as_str)
                .chain(["id", "internal"])
                .map(str::to_owned)
                .collect();
            assert_eq!(keys(&resolved["properties"]), names);
            assert_eq!(&resolved["required"], required);
            assert_eq!(keys(&resolved), ["type", "properties", "required", "additionalProperties"]);

            let strict = strict_schema(&definition);
            let expected = json!({"type": "object", "properties": own, "required": required});
            assert_eq!(strict, json!({ "schema": expected }));
            // The client has no document to resolve references.
            assert!(!resolved.to_string().contains("$ref"), "{resolved}");
        }
    }

    #[test]
    fn resolved_schemas_inline_links_at_any_depth() {
        let relation = |items: Value| json!({"type": "array", "items": items, "minItems": 1});
        let properties = |link: Value| {
            let nested = json!({"type": "object", "properties": {"deep": relation(link.clone())}});
            json!({"title": {"type": "string"}, "near": relation(link), "parts": relation(nested)})
        };
        let mut definition = builtin::definitions().remove(0);
        definition.schema_definition["allOf"][1]["properties"] =
            properties(json!({"$ref": "#/components/schemas/DataSource"}));
        let link = json!({
            "type": "object",
            "required": ["dataUrl", "type"],
            "properties": {
                "dataUrl": {"type": "string"},
                "type": {"type": "string", "enum": ["internal", "external"], "default": "internal"},
            },
            "additionalProperties": false,
        });
        let wanted = properties(link);
        assert_eq!(strict_schema(&definition)["schema"]["properties"], wanted);
        let resolved = resolved_schema(&definition);
        for (name, schema) in wanted.as_object().unwrap() {
            assert_eq!(resolved["properties"][name], *schema, "{name}");
        }
    }
}
