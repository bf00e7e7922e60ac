use serde_json::{Value, json};

use super::*;

/// Content types of a table, in the order of a list of types.
fn types() -> Vec<ContentType> {
    let table: Vec<Value> =
        serde_json::from_str(include_str!("../../../../fixtures/tables/typescript.json")).unwrap();
    let mut types: Vec<ContentType> = table.into_iter().map(content_type).collect();
    types.sort_by(|one, other| one.name.cmp(&other.name));
    types
}

fn content_type(mut payload: Value) -> ContentType {
    for (key, value) in [
        ("id", json!("")),
        ("workflowId", json!("generic")),
        ("draftPublic", json!(false)),
        ("internal", json!(false)),
        ("slugs", json!([])),
        ("featuredImage", json!([])),
        ("createdAt", json!("")),
    ] {
        if payload.get(key).is_none() {
            payload[key] = value;
        }
    }
    serde_json::from_value(payload).unwrap()
}

/// `clients/typescript/test` compiles the same types.
#[test]
fn every_input_type_and_hostile_text_is_printed() {
    let text = file(&types());
    let own = text.strip_prefix(HEADER).unwrap().strip_prefix(SUPPORT).unwrap();
    insta::assert_snapshot!(own);
    assert_eq!(file(&types()), text);
}

#[test]
fn file_without_types_has_an_empty_map() {
    assert!(file(&[]).ends_with("\nexport interface ContentTypes {\n}\n"));
}
