//! A content type with its references resolved, as `resolveRef` asks for (contract 2.3).

use serde_json::{Map, Value, json};

use super::model::Definition;

/// Returns the schema of the type's own properties, and nothing else.
pub(crate) fn strict_schema(definition: &Definition) -> Value {
    let (properties, required) = own(definition);
    json!({"schema": {"type": "object", "properties": properties, "required": required}})
}

/// Returns the `schemaDefinition` without `allOf`: own properties, `id` and `internal` in one map.
pub(crate) fn resolved_schema(definition: &Definition) -> Value {
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
    let properties = schema["allOf"][1]["properties"].as_object().cloned().unwrap_or_default();
    (properties, &schema["required"])
}

/// What every object has besides the properties of its type.
fn system_properties() -> Map<String, Value> {
    let text = || json!({"type": "string"});
    let number = || json!({"type": "number"});
    let mut properties = Map::new();
    let id = json!({"type": "string", "description": "Unique id of the object within its type"});
    properties.insert("id".to_owned(), id);
    let internal = json!({
        "type": "object",
        "description": "Facts about the object that the server keeps; read-only",
        "additionalProperties": false,
        "required": ["createdAt", "updatedAt", "deletedAt", "contentType"],
        "properties": {
            "contentType": text(),
            "createdAt": text(),
            "updatedAt": text(),
            "deletedAt": text(),
            "workflowState": text(),
            "objectTitle": text(),
            "latestVersion": number(),
            "workflowPublicVersion": number(),
            "workflowPublishedAt": text(),
            "status": text(),
            "publicVersion": number(),
            "publishedAt": text(),
            "scheduledAt": text(),
            "scheduledAtTimeZone": text(),
        },
    });
    properties.insert("internal".to_owned(), internal);
    properties
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctd::builtin;

    #[test]
    fn resolved_schemas_hold_own_and_system_properties() {
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
        }
    }
}
