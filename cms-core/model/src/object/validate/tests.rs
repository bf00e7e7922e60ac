use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::validate_readonly;
use crate::{
    content_type::schema::PropertySchema,
    error::FieldErrors,
    object::link,
    testing::{ObjectValidator, table::Table},
};

fn map(value: &Value) -> &Map<String, Value> {
    value.as_object().expect("objects are JSON objects")
}

fn example() -> (Table, ObjectValidator) {
    let table = Table::read("object_messages");
    let example = ObjectValidator::new(&table.types[1]);
    (table, example)
}

/// A type with one property `f`.
fn single(schema: &Value, config: &Value) -> ObjectValidator {
    let mut config = config.clone();
    config["label"] = json!("F");
    ObjectValidator::new(&json!({
        "name": "example",
        "label": "Example",
        "schemaDefinition": {"required": ["f"], "allOf": [
            {"$ref": "#/components/schemas/AbstractContentTypeSchemaDefinition"},
            {"type": "object", "properties": {"f": schema}},
        ]},
        "metaDefinition": {"order": ["f"], "propertiesConfig": {"f": config}},
    }))
}

#[test]
fn invalid_objects_have_all_their_messages() {
    let (table, example) = example();
    for given in table.objects.iter().filter(|given| given.content_type == "topic") {
        let found = ObjectValidator::new(&table.types[0]).errors(map(&given.object), None);
        assert_eq!(found, FieldErrors::default());
    }
    assert_eq!(example.errors(map(&table.base), None), FieldErrors::default());
    for row in table.rows.iter().filter(|row| !row.database) {
        let stored = (row.method == "PUT").then(|| map(&table.base));
        let found = example.errors(map(&row.apply(&table.base)), stored);
        assert_eq!(found, row.errors, "{}", row.name);
    }
    let for_the_store = table.rows.iter().filter(|row| row.database).count();
    assert_eq!((table.rows.len(), for_the_store), (ROWS, 5));
}

const ROWS: usize = 86;

/// Unusual values that are accepted on purpose.
#[test]
fn tolerated_values_are_valid() {
    let text = json!({"inputType": "text"});
    let block = json!({"type": "object", "properties": {"blocks": {"type": "array"}}});
    let links = json!({"type": "array", "items": {"$ref": "#/components/schemas/DataSource"}});
    let any = json!({"inputType": "datasource", "validation": {"relationContenttype": ""}});
    let number = json!({"inputType": "number"});
    let rows: [(&str, Value, &Value, Value); 12] = [
        ("required list is empty", links.clone(), &any, json!([])),
        (
            "raw and encoded ids",
            links,
            &any,
            json!([{"type": "internal", "dataUrl": "/api/v1/content/a/100%25 {x}"}]),
        ),
        ("minLength of a number", json!({"type": "number", "minLength": 5}), &number, json!(1)),
        ("largest integer", json!({"type": "number"}), &number, json!(i64::MAX)),
        ("smallest integer", json!({"type": "number"}), &number, json!(i64::MIN)),
        ("float without fraction for an integer", json!({"type": "integer"}), &number, json!(2.0)),
        (
            "unenforced keywords",
            json!({"type": "string", "format": "uuid", "enum": [], "$ref": "http://localhost/x", "if": {}, "const": 1}),
            &text,
            json!("x"),
        ),
        ("characters, not bytes", json!({"type": "string", "minLength": 2}), &text, json!("éé")),
        ("unanchored pattern", json!({"type": "string", "pattern": "b"}), &text, json!("abc")),
        ("look-ahead", json!({"type": "string", "pattern": "^(?!draft)"}), &text, json!("public")),
        (
            "time as number, any block type",
            block.clone(),
            &json!({"inputType": "block"}),
            json!({"time": 1, "blocks": [{"type": "own", "data": {"any": 1}}]}),
        ),
        (
            "only paragraphs",
            block,
            &json!({"inputType": "block", "blockEditorTypes": []}),
            json!({"blocks": [{"type": "paragraph"}]}),
        ),
    ];
    for (name, schema, config, value) in rows {
        let found = single(&schema, config).errors(map(&json!({"f": value})), None);
        assert_eq!(found, FieldErrors::default(), "{name}");
    }
}

#[test]
fn patterns_share_the_budget_of_their_object() {
    let pattern = "^(a|aa)+\\1b$";
    let list = json!({"type": "array", "items": {"type": "string", "pattern": pattern}});
    let validator = single(&list, &json!({"inputType": "simpleList"}));
    // Each of them alone would exhaust the budget, and the last one would match.
    let mut values = vec!["a".repeat(60); 1000];
    values.push("aab".to_owned());
    let message = format!("Does not match the regex pattern {pattern}");
    let found = validator.errors(map(&json!({"f": values})), None);
    assert!(found.iter().all(|(_, messages)| messages.len() == 1 && messages[0] == message));
    assert!(found.iter().any(|(path, _)| path == "f[0]"));
    let alone = validator.errors(map(&json!({"f": ["aab"]})), None);
    assert_eq!(alone, FieldErrors::default());
}

#[test]
fn patterns_that_are_not_ecma_262_are_stored_but_not_checked() {
    // An earlier version accepted this pattern.
    let mut validator = single(&json!({"type": "string"}), &json!({"inputType": "text"}));
    let stored = json!({"type": "string", "minLength": 2, "pattern": "(?i)^[a-z]++\\z"});
    validator.schemas[0] = PropertySchema::of(&validator.properties[0], &stored);
    assert_eq!(validator.errors(map(&json!({"f": "1 2"})), None), FieldErrors::default());
    let too_short = FieldErrors::one("f", "Must be at least 2 characters long");
    assert_eq!(validator.errors(map(&json!({"f": "1"})), None), too_short);
}

#[test]
fn messages_of_one_text_are_ordered_length_pattern_options() {
    let schema = json!({"type": "string", "minLength": 3, "pattern": "b"});
    let validator = single(&schema, &json!({"inputType": "radio", "options": ["bbb"]}));
    let found = validator.errors(map(&json!({"f": "a"})), None);
    let expected = [
        "Must be at least 3 characters long",
        "Does not match the regex pattern b",
        "The value does not match possible options",
    ];
    assert_eq!(found.at("f"), expected);
}

#[test]
fn links_are_found_at_every_depth_with_decoded_ids() {
    let (table, example) = example();
    let links = link::links(&example.properties, map(&table.base));
    let found = links.iter().map(|l| format!("{} {} {}", l.path, l.content_type, l.id));
    let found = found.collect::<Vec<_>>();
    let expected = [
        "cover topic one",
        "topics topic one",
        "topics topic two words",
        "anything topic one",
        "rows[0].refs topic one",
    ];
    assert_eq!(found, expected);
}

#[test]
fn read_only_value_may_be_omitted_or_equal() {
    let (table, example) = example();
    let stored = map(&table.base);
    let mut new = stored.clone();
    assert!(validate_readonly(&example.properties, stored, &new).is_empty());
    new.remove("serial");
    assert!(validate_readonly(&example.properties, stored, &new).is_empty());
    assert!(!validate_readonly(&example.properties, &new, stored).is_empty());
    // Written by a client without floats.
    let with = |serial: Value| {
        let mut object = stored.clone();
        object.insert("serial".to_owned(), serial);
        object
    };
    let (float, integer) = (with(json!({ "at": [5.0] })), with(json!({ "at": [5] })));
    assert!(validate_readonly(&example.properties, &float, &integer).is_empty());
    assert!(
        !validate_readonly(&example.properties, &float, &with(json!({ "at": [6] }))).is_empty()
    );
}

fn some_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        "/api/v1/content/[a-z]{0,3}/[a-z%0-9]{0,6}".prop_map(Value::from),
        "internal|external|paragraph|image".prop_map(Value::from),
    ];
    let key = "dataUrl|type|blocks|data|time|cell|code|refs|grid|lat|[a-z]{1,3}";
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Validation of any value does not panic and does not depend on the order of keys; valid
    /// objects have only well-formed links.
    #[test]
    fn validation_never_panics(
        values in prop::collection::vec((0_usize..17, some_json()), 0..6),
    ) {
        let (table, example) = example();
        let mut object = map(&table.base).clone();
        for (at, value) in values {
            let key = object.keys().nth(at).unwrap().clone();
            object.insert(key, value);
        }
        let reversed: Map<String, Value> = object.clone().into_iter().rev().collect();
        let links = link::links(&example.properties, &object);
        prop_assert!(links.iter().all(|link| !link.content_type.is_empty() && !link.id.is_empty()));
        let errors = example.errors(&object, None);
        prop_assert_eq!(errors, example.errors(&reversed, None));
    }
}
