use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::definition;
use crate::{
    content_type::{model::Definition, schema},
    error::FieldErrors,
    testing::table::{Row, Table},
    workflow::model::WorkflowSet,
};

fn parse(payload: &Value, base: Option<&Definition>) -> Result<Definition, FieldErrors> {
    definition(payload.as_object().expect("a payload is an object"), base, &WorkflowSet::built_in())
}

#[test]
fn invalid_payloads_have_all_their_messages() {
    let table = Table::read("ctd_messages");
    let base = parse(&table.base, None).expect("the base payload is valid");
    for row in table.rows.iter().filter(|row| !row.database) {
        let stored = (row.method == "PUT").then_some(&base);
        let found = parse(&row.apply(&table.base), stored).err().unwrap_or_default();
        assert_eq!(found, row.errors, "{}", row.name);
    }
    let for_the_store = table.rows.iter().filter(|row| row.database).count();
    assert_eq!((table.rows.len(), for_the_store), (168, 3));
}

#[test]
fn definition_is_stored_as_sent_with_two_defaults() {
    let mut sent = Table::read("ctd_messages").base;
    let schema = sent["schemaDefinition"].as_object_mut().unwrap();
    schema.remove("required");
    schema.remove("additionalProperties");
    sent["metaDefinition"]["propertiesConfig"]["title"]["colour"] = json!("red");
    let parsed = parse(&sent, None).unwrap();
    sent["schemaDefinition"]["required"] = json!([]);
    sent["schemaDefinition"]["additionalProperties"] = json!(false);
    assert_eq!(Value::Object(parsed.schema_definition), sent["schemaDefinition"]);
    assert_eq!(Value::Object(parsed.meta_definition), sent["metaDefinition"]);
    assert_eq!((parsed.workflow_id.as_str(), parsed.draft_public), ("generic", false));
}

#[test]
fn update_keeps_omitted_keys() {
    let mut payload = Table::read("ctd_messages").base;
    let image = json!([{"dataUrl": "/api/v1/content/_media/a", "type": "internal"}]);
    payload["draftPublic"] = json!(true);
    payload["internal"] = json!(true);
    payload["slugs"] = json!([{"source": "title", "target": "kind", "active": true}]);
    payload["featuredImage"] = image;
    let stored = parse(&payload, None).unwrap();
    for key in ["draftPublic", "internal", "slugs", "featuredImage"] {
        payload.as_object_mut().unwrap().remove(key);
    }
    assert_eq!(parse(&payload, Some(&stored)).unwrap(), stored);

    payload["slugs"] = json!([]);
    assert_eq!(parse(&payload, Some(&stored)).unwrap().slugs, []);
}

#[test]
fn stored_slug_rule_needs_its_properties() {
    let mut payload = Table::read("ctd_messages").base;
    payload["slugs"] = json!([{"source": "words", "target": "title", "active": true}]);
    let stored = parse(&payload, None).unwrap();
    payload.as_object_mut().unwrap().remove("slugs");
    remove_property(&mut payload, "words");
    let errors = parse(&payload, Some(&stored)).unwrap_err();
    assert_eq!(errors.at("slugs[0].source").len(), 1);
}

#[test]
fn inactive_slug_rule_for_an_unknown_property_is_dropped() {
    let mut payload = Table::read("ctd_messages").base;
    payload["slugs"] = json!([{"source": "nowhere", "target": "title", "active": false}]);
    assert_eq!(parse(&payload, None).unwrap().slugs, []);
}

#[test]
fn relation_to_any_type_and_leading_underscores_are_accepted() {
    let mut payload = Table::read("ctd_messages").base;
    payload["metaDefinition"]["propertiesConfig"]["tags"]["validation"] =
        json!({"relationContenttype": ""});
    rename_property(&mut payload, "words", "__translations");
    let parsed = parse(&payload, None).unwrap();
    let properties = parsed.properties();
    assert_eq!(properties[4].relation.as_ref().unwrap().target, None);
    assert_eq!(properties[9].name, "__translations");
}

#[test]
fn nested_patterns_are_rejected_at_their_paths() {
    let errors_of = |schema: Value, input_type: &str| {
        let payload = json!({
            "name": "example",
            "label": "Example",
            "schemaDefinition": {"allOf": [
                {"$ref": "#/components/schemas/AbstractContentTypeSchemaDefinition"},
                {"type": "object", "properties": {"f": schema}},
            ]},
            "metaDefinition": {"order": ["f"], "propertiesConfig": {
                "f": {"label": "F", "inputType": input_type},
            }},
        });
        parse(&payload, None).err()
    };
    let at = |path| {
        let path = format!("schemaDefinition.allOf[1].properties.f{path}.pattern");
        Some(FieldErrors::one(path, "This value is not valid."))
    };
    let text = json!({"type": "string", "pattern": "(?i)a"});
    assert_eq!(errors_of(text.clone(), "text"), at(""));
    assert_eq!(errors_of(json!({"type": "array", "items": text}), "simpleList"), at(".items"));
    let custom = json!({"type": "object", "properties": {"a": text}});
    assert_eq!(errors_of(custom, "custom"), at(".properties.a"));
}

/// Every pair of a schema type and an input type, see docs/reference/content-types.md#input-types
#[test]
fn pairs_are_allowed_as_documented() {
    const PAIRS: [(&str, &[&str]); 17] = [
        ("text", &["string"]),
        ("richtext", &["string"]),
        ("textarea", &["string"]),
        ("textMarkdown", &["string"]),
        ("markdown", &["string"]),
        ("email", &["string"]),
        ("radio", &["string"]),
        ("dateTime", &["string"]),
        ("number", &["number", "integer"]),
        ("checkbox", &["boolean"]),
        ("select", &["string", "strings"]),
        ("simpleList", &["strings"]),
        ("datasource", &["links"]),
        ("object", &["objects"]),
        ("geo", &["geo"]),
        ("block", &["block"]),
        (
            "custom",
            &[
                "string", "number", "integer", "boolean", "null", "strings", "links", "objects",
                "geo", "block", "object", "array",
            ],
        ),
    ];
    let schemas = json!({
        "string": {"type": "string"}, "number": {"type": "number"}, "null": {"type": "null"},
        "integer": {"type": "integer"}, "boolean": {"type": "boolean"},
        "array": {"type": "array"}, "object": {"type": "object"},
        "strings": {"type": "array", "items": {"type": "string"}},
        "links": {"type": "array", "items": {"$ref": "#/components/schemas/DataSource"}},
        "objects": {"type": "array", "items": {"type": "object", "properties": {"t": {"type": "string"}}}},
        "geo": {"type": "object", "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}}},
        "block": {"type": "object", "properties": {"blocks": {"type": "array"}}},
    });
    for (input, fitting) in PAIRS {
        for (name, schema) in schemas.as_object().unwrap() {
            let config = json!({
                "label": "F", "inputType": input, "validation": {"relationContenttype": ""},
                "items": {"order": ["t"], "propertiesConfig": {"t": {"label": "T", "inputType": "text"}}},
            });
            let found = parse(&single(schema, &config), None).err().unwrap_or_default();
            let is_pair = fitting.contains(&name.as_str());
            let message = found.at("metaDefinition.propertiesConfig.f");
            let expected: &[&str] = if is_pair { &[] } else { &["Wrong meta type for type of f"] };
            assert_eq!(message, expected, "{input} with {name}");
            assert!(!is_pair || found.is_empty(), "{input} with {name}: {found:?}");
        }
    }
}

/// A payload with one property, `f`.
fn single(schema: &Value, config: &Value) -> Value {
    json!({
        "name": "example",
        "label": "Example",
        "schemaDefinition": {"allOf": [
            {"$ref": "#/components/schemas/AbstractContentTypeSchemaDefinition"},
            {"type": "object", "properties": {"f": schema}},
        ]},
        "metaDefinition": {"order": ["f"], "propertiesConfig": {"f": config}},
    })
}

fn rename_property(payload: &mut Value, from: &str, to: &str) {
    let text = payload.to_string().replace(&format!("\"{from}\""), &format!("\"{to}\""));
    *payload = serde_json::from_str(&text).unwrap();
}

fn remove_property(payload: &mut Value, name: &str) {
    let properties = &mut payload["schemaDefinition"]["allOf"][1]["properties"];
    properties.as_object_mut().unwrap().remove(name);
    let meta = &mut payload["metaDefinition"];
    meta["propertiesConfig"].as_object_mut().unwrap().remove(name);
    meta["order"].as_array_mut().unwrap().retain(|known| known != name);
}

/// Replaces the value at index `at` of a depth-first traversal.
fn replace_nth(value: &mut Value, at: &mut usize, new: &Value) {
    if *at == 0 {
        *value = new.clone();
    }
    *at = at.wrapping_sub(1);
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| replace_nth(item, at, new)),
        Value::Object(map) => map.values_mut().for_each(|value| replace_nth(value, at, new)),
        _ => {}
    }
}

fn some_json() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!([{"type": "array", "items": {"type": "object"}}])),
        Just(json!({"inputType": "object", "label": "", "items": {"inputType": "geo"}})),
        Just(json!({"type": "object", "properties": {"id": {"type": "string"}}})),
    ]
}

proptest! {
    /// A payload with replaced values is parsed or rejected; parsed definitions compile.
    #[test]
    fn parser_never_panics(
        changes in prop::collection::vec((0_usize..220, some_json()), 1..4),
        update in any::<bool>(),
    ) {
        let base = Table::read("ctd_messages").base;
        let stored = parse(&base, None).unwrap();
        let mut payload = base;
        for (mut at, new) in changes {
            replace_nth(&mut payload, &mut at, &new);
        }
        let nothing = Map::new();
        let payload = payload.as_object().unwrap_or(&nothing);
        match definition(payload, update.then_some(&stored), &WorkflowSet::built_in()) {
            Ok(parsed) => {
                let properties = parsed.properties();
                for property in schema::compile(&properties, &parsed) {
                    property.validator();
                }
            }
            Err(errors) => prop_assert!(!errors.is_empty()),
        }
    }

    #[test]
    fn key_order_does_not_matter(row in 0_usize..147) {
        let table = Table::read("ctd_messages");
        let row: &Row = &table.rows[row];
        let payload = row.apply(&table.base);
        let reversed = reverse_keys(&payload);
        prop_assert_eq!(parse(&payload, None).err(), parse(&reversed, None).err());
    }
}

fn reverse_keys(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(reverse_keys).collect(),
        Value::Object(map) => {
            map.iter().rev().map(|(key, value)| (key.clone(), reverse_keys(value))).collect()
        }
        scalar => scalar.clone(),
    }
}
