//! Converts an object that was in the trash while its type changed, see
//! docs/reference/trash.md#restore
//!
//! The object passes through all definitions that the type had since, as a live object does. This
//! module reports no validation errors: the caller validates the result.

use serde_json::{Map, Value};

use super::{model::Definition, rewrite::Rewrite};
use crate::error::{Error, Result};

/// Converts the stored text of an object from the first definition to the last one. Properties that
/// the last one does not declare are removed.
pub fn convert_object(definitions: &[Definition], data: &str) -> Result<Map<String, Value>> {
    let mut data = data.to_owned();
    for (before, after) in definitions.iter().zip(definitions.iter().skip(1)) {
        let (old, new) = (before.properties(), after.properties());
        let mut rewrite = Rewrite::new((before, &old), (after, &new));
        let rewritten = rewrite.rewrite_version("", "", &data, &|_| Ok(true))?;
        data = rewritten.map_or(data, |rewritten| rewritten.data);
    }
    let mut object: Map<String, Value> = serde_json::from_str(&data).map_err(Error::internal)?;
    if let Some(last) = definitions.last() {
        let properties = last.properties();
        object.retain(|name, _| properties.iter().any(|property| property.name == *name));
    }
    Ok(object)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{content_type::parse, workflow::model::WorkflowSet};

    fn definition(properties: &Value, order: &[&str], configs: &Value) -> Definition {
        let payload = json!({
            "name": "post", "label": "Post",
            "schemaDefinition": {"type": "object", "allOf": [
                {"$ref": "#/components/schemas/AbstractContentTypeSchemaDefinition"},
                {"type": "object", "properties": properties}],
                "required": [], "additionalProperties": false},
            "metaDefinition": {"order": order, "propertiesConfig": configs},
        });
        let Value::Object(payload) = payload else { unreachable!("an object literal") };
        parse::definition(&payload, None, &WorkflowSet::built_in()).unwrap()
    }

    #[test]
    fn object_is_converted_through_every_definition() {
        let number = json!({"type": "number"});
        let text = json!({"type": "string"});
        let config = |kind: &str| json!({"label": "Label", "unique": false, "helpText": "", "inputType": kind});
        let mut renamed = config("text");
        renamed["renamedFrom"] = json!("rank");
        let definitions = [
            definition(
                &json!({"rank": number, "old": text}),
                &["rank", "old"],
                &json!({"rank": config("number"), "old": config("text")}),
            ),
            definition(&json!({"rank": text}), &["rank"], &json!({"rank": config("text")})),
            definition(&json!({"place": text}), &["place"], &json!({"place": renamed})),
            definition(&json!({"place": text}), &["place"], &json!({"place": config("text")})),
        ];
        let converted = |from: usize, object: Value| {
            Value::Object(convert_object(&definitions[from..], &object.to_string()).unwrap())
        };
        assert_eq!(converted(0, json!({"rank": 1.5, "old": "lost"})), json!({"place": "1.5"}));
        assert_eq!(converted(1, json!({"rank": "first"})), json!({"place": "first"}));
        assert_eq!(converted(3, json!({"place": "a", "unknown": 1})), json!({"place": "a"}));
    }
}
