use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde::Deserialize;

use super::*;
use crate::{
    content_type::{model::Definition, parse, schema},
    object::validate::validate,
    testing::fixture,
    workflow::model::WorkflowSet,
};

/// `fixtures/tables/conversions.json`.
#[derive(Deserialize)]
struct Matrix {
    /// Schema and config per pair `type/inputType`.
    kinds: BTreeMap<String, (Value, Value)>,
    groups: BTreeMap<String, Vec<String>>,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    from: String,
    to: String,
    /// Value before, value after, and outcome; null is no value and no outcome.
    cases: Vec<(Value, Value, Option<String>)>,
}

impl Matrix {
    fn read() -> Self {
        let text = std::fs::read(fixture("tables/conversions.json")).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    fn members<'a>(&'a self, name: &'a String) -> Vec<&'a String> {
        self.groups.get(name).map_or_else(|| vec![name], |members| members.iter().collect())
    }

    fn property(&self, kind: &str, more: &Value) -> Property {
        let (schema, config) = &self.kinds[kind];
        let mut config = config.clone();
        config["label"] = json!("F");
        config["inputType"] = json!(kind.split_once('/').unwrap().1);
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        definition(schema, &config).properties().remove(0)
    }
}

/// A type with one property, `f`.
fn definition(schema: &Value, config: &Value) -> Definition {
    let payload = json!({
        "name": "t",
        "label": "T",
        "schemaDefinition": {"allOf": [
            {"$ref": "#/components/schemas/AbstractContentTypeSchemaDefinition"},
            {"type": "object", "properties": {"f": schema}},
        ]},
        "metaDefinition": {"order": ["f"], "propertiesConfig": {"f": config}},
    });
    parse::definition(payload.as_object().unwrap(), None, &WorkflowSet::built_in())
        .expect("the definition is valid")
}

fn present(value: &Value) -> Option<&Value> {
    Some(value).filter(|value| !value.is_null())
}

#[test]
fn conversion_follows_the_table_for_every_pair() {
    let matrix = Matrix::read();
    let mut seen = BTreeSet::new();
    for row in &matrix.rows {
        for from in matrix.members(&row.from) {
            for to in matrix.members(&row.to) {
                let (old, new) =
                    (matrix.property(from, &json!({})), matrix.property(to, &json!({})));
                for (before, after, outcome) in &row.cases {
                    let converted = convert(Some(&old), &new, present(before));
                    let found =
                        converted.outcome.map(|outcome| format!("{outcome:?}").to_lowercase());
                    let context = format!("{from} to {to}: {before}");
                    assert_eq!(converted.value.as_ref(), present(after), "{context}");
                    assert_eq!(&found, outcome, "{context}");
                }
                assert!(!row.cases.is_empty(), "{from} to {to}");
                seen.insert((from, to));
            }
        }
    }
    // Every pair of different kinds has a case.
    let kinds: Vec<&String> = matrix.kinds.keys().collect();
    let inputs: BTreeSet<&str> = kinds.iter().map(|kind| kind.split_once('/').unwrap().1).collect();
    assert_eq!(inputs, InputType::ALL.iter().map(|input| input.as_str()).collect());
    assert_eq!(kinds.len(), 19);
    let all = kinds.iter().flat_map(|from| kinds.iter().map(move |to| (*from, *to)));
    let missing: Vec<_> =
        all.filter(|(from, to)| from != to && !seen.contains(&(*from, *to))).collect();
    assert!(missing.is_empty(), "no case for {missing:?}");
}

#[test]
fn text_is_parsed_with_convert_parse() {
    let matrix = Matrix::read();
    let parse = json!({"convert": "parse"});
    let rows = [
        ("number/number", " 12 ", json!(12), ValueOutcome::Converted),
        ("number/number", "-1.50", json!(-1.5), ValueOutcome::Converted),
        ("number/number", "1e3", json!(1000), ValueOutcome::Converted),
        ("number/number", "-9223372036854775808", json!(i64::MIN), ValueOutcome::Converted),
        ("number/number", "9223372036854775808", json!(0), ValueOutcome::Lost),
        ("number/number", "1e400", json!(0), ValueOutcome::Lost),
        // Numbers are never rounded.
        ("number/number", "-9223372036854775809", json!(0), ValueOutcome::Lost),
        ("number/number", "9007199254740993.0", json!(0), ValueOutcome::Lost),
        (
            "number/number",
            "9007199254740992.0",
            json!(9_007_199_254_740_992_i64),
            ValueOutcome::Converted,
        ),
        ("number/number", "0.1", json!(0.1), ValueOutcome::Converted),
        ("number/number", "00.10e-1", json!(0.01), ValueOutcome::Converted),
        ("number/number", "1e-400", json!(0), ValueOutcome::Lost),
        ("number/number", "-0.0", json!(0), ValueOutcome::Converted),
        ("integer/number", "3.0000000000000000001", json!(0), ValueOutcome::Lost),
        ("number/number", "12,-", json!(0), ValueOutcome::Lost),
        ("number/number", "NaN", json!(0), ValueOutcome::Lost),
        ("number/number", "", json!(0), ValueOutcome::Converted),
        ("integer/number", "7.0", json!(7), ValueOutcome::Converted),
        ("integer/number", "7.5", json!(0), ValueOutcome::Lost),
        ("boolean/checkbox", "TRUE", json!(true), ValueOutcome::Converted),
        ("boolean/checkbox", "0", json!(false), ValueOutcome::Converted),
        ("boolean/checkbox", "yes", json!(false), ValueOutcome::Lost),
    ];
    for from in &matrix.groups["strings"] {
        let old = matrix.property(from, &json!({}));
        for (to, before, after, outcome) in &rows {
            let new = matrix.property(to, &parse);
            let converted = convert(Some(&old), &new, Some(&json!(before)));
            let expected = Converted { value: Some(after.clone()), outcome: Some(*outcome) };
            assert_eq!(converted, expected, "{from} to {to}: {before}");
        }
    }
    // Only text is parsed.
    let (old, new) =
        (matrix.property("array/simpleList", &json!({})), matrix.property("number/number", &parse));
    assert_eq!(convert(Some(&old), &new, Some(&json!(["7"]))).outcome, Some(ValueOutcome::Lost));
}

/// A list of items with the given schemas, configs and required names.
fn list(properties: &Value, required: &Value) -> Property {
    let (mut schemas, mut configs) = (Map::new(), Map::new());
    for (name, pair) in properties.as_object().unwrap() {
        schemas.insert(name.clone(), pair[0].clone());
        let mut config = pair[1].clone();
        config["label"] = json!("N");
        configs.insert(name.clone(), config);
    }
    let order: Vec<&String> = schemas.keys().collect();
    let config = json!({
        "label": "F", "inputType": "object",
        "items": {"order": order, "propertiesConfig": configs},
    });
    let schema = json!({
        "type": "array",
        "items": {"type": "object", "properties": schemas, "required": required},
    });
    definition(&schema, &config).properties().remove(0)
}

#[test]
fn lists_are_converted_item_by_item() {
    let text = json!([{"type": "string"}, {"inputType": "text"}]);
    let number = json!([{"type": "number"}, {"inputType": "number"}]);
    let renamed = json!([{"type": "string"}, {"inputType": "text", "renamedFrom": "t"}]);
    let filled = json!([{"type": "string"}, {"inputType": "text", "backfill": "?"}]);
    let nothing = json!([]);
    // old, new, required, items before, items after, outcome
    let rows = [
        (
            json!({"t": text}),
            json!({"t": number}),
            nothing.clone(),
            json!([{"t": "x", "y": 1}, {}, "z"]),
            json!([{"t": 0, "y": 1}, {"t": 0}, "z"]),
            ValueOutcome::Lost,
        ),
        (
            json!({"t": number}),
            json!({"t": text}),
            nothing.clone(),
            json!([{"t": 1.0}, {}]),
            json!([{"t": "1"}, {}]),
            ValueOutcome::Converted,
        ),
        (
            json!({"t": text, "u": text}),
            json!({"u": text}),
            nothing.clone(),
            json!([{"t": "x", "u": "y"}]),
            json!([{"u": "y"}]),
            ValueOutcome::Lost,
        ),
        (
            json!({"t": text, "u": text}),
            json!({"u": text}),
            nothing.clone(),
            json!([{"t": "", "u": "y"}]),
            json!([{"u": "y"}]),
            ValueOutcome::Converted,
        ),
        (
            json!({"t": text}),
            json!({"u": renamed}),
            nothing.clone(),
            json!([{"t": "x"}, {}]),
            json!([{"u": "x"}, {}]),
            ValueOutcome::Converted,
        ),
        // A renamed property replaces an undeclared member with its new name.
        (
            json!({"t": text}),
            json!({"u": renamed}),
            nothing.clone(),
            json!([{"u": "y", "t": "x"}, {"t": "x", "u": "y"}, {"u": "y"}]),
            json!([{"u": "x"}, {"u": "x"}, {"u": "y"}]),
            ValueOutcome::Lost,
        ),
        (
            json!({"t": text}),
            json!({"u": renamed}),
            nothing.clone(),
            json!([{"t": "x", "u": ""}]),
            json!([{"u": "x"}]),
            ValueOutcome::Converted,
        ),
        (
            json!({"t": text}),
            json!({"t": filled}),
            json!(["t"]),
            json!([{"t": "x"}, {"t": ""}, {}]),
            json!([{"t": "x"}, {"t": "?"}, {"t": "?"}]),
            ValueOutcome::Converted,
        ),
        (
            json!({"t": text}),
            json!({"t": text, "u": filled}),
            json!(["u"]),
            json!([{"t": "x"}]),
            json!([{"t": "x", "u": "?"}]),
            ValueOutcome::Converted,
        ),
        (
            json!({"t": text}),
            json!({"t": text, "u": text}),
            nothing.clone(),
            json!([{"t": "x"}]),
            json!([{"t": "x"}]),
            ValueOutcome::Kept,
        ),
    ];
    for (old, new, required, before, after, outcome) in rows {
        let context = format!("{old} to {new}");
        let (old, new) = (list(&old, &nothing), list(&new, &required));
        assert_eq!(converts(&old, &new), outcome != ValueOutcome::Kept, "{context}");
        let converted = convert(Some(&old), &new, Some(&before));
        assert_eq!(
            converted,
            Converted { value: Some(after), outcome: Some(outcome) },
            "{context}"
        );
        assert_eq!(convert(Some(&old), &new, None), Converted { value: None, outcome: None });
    }
}

/// Valid values of a type pair.
fn value_of(kind: &str) -> BoxedStrategy<Value> {
    let text = || "[a-c,é\" ]{0,6}|-?[0-9]{1,3}(\\.[0-9])?|true|false".prop_map(Value::from);
    let number =
        || prop_oneof![any::<i64>().prop_map(Value::from), (-1e18..1e18).prop_map(Value::from)];
    match kind {
        "number/number" => number().boxed(),
        "integer/number" => any::<i64>().prop_map(Value::from).boxed(),
        "boolean/checkbox" => any::<bool>().prop_map(Value::from).boxed(),
        "array/select" | "array/simpleList" => {
            prop::collection::vec(text(), 0..4).prop_map(Value::from).boxed()
        }
        "array/object" => prop::collection::vec(text().prop_map(|text| json!({"t": text})), 0..4)
            .prop_map(Value::from)
            .boxed(),
        "array/datasource" => prop::collection::vec("[a-z]{1,3}", 0..3)
            .prop_map(|ids| ids.iter().map(|id| json!({"type": "external", "dataUrl": id})).collect())
            .boxed(),
        "object/geo" => (number(), number()).prop_map(|(lat, lon)| json!({"lat": lat, "lon": lon})).boxed(),
        "object/block" => text()
            .prop_map(|text| json!({"time": 1, "version": "2", "blocks": [{"id": text, "type": "paragraph"}]}))
            .boxed(),
        "object/custom" => number().prop_map(|top| json!({"top": top})).boxed(),
        _ => text().boxed(),
    }
}

fn change() -> impl Strategy<Value = (String, String, Option<Value>)> {
    let kinds: Vec<String> = Matrix::read().kinds.into_keys().collect();
    let kind = prop::sample::select(kinds);
    (kind.clone(), kind).prop_flat_map(|(from, to)| {
        let value = prop::option::weighted(0.9, value_of(&from));
        (Just(from), Just(to), value)
    })
}

proptest! {
    /// Converted values are valid for a type without constraints, except fractions for integers.
    #[test]
    fn converted_values_are_of_the_new_type((from, to, before) in change(), parse: bool) {
        let matrix = Matrix::read();
        let more = if parse { json!({"convert": "parse"}) } else { json!({}) };
        let old = matrix.property(&from, &json!({}));
        let (schema, _) = &matrix.kinds[&to];
        let mut config = json!({
            "label": "F", "inputType": to.split_once('/').unwrap().1,
            "validation": {"relationContenttype": "", "relationMultiple": true},
            "items": {"order": ["t"], "propertiesConfig": {"t": {"label": "T", "inputType": "text"}}},
        });
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let definition = definition(schema, &config);
        let new = definition.properties();
        let Converted { value, outcome } = convert(Some(&old), &new[0], before.as_ref());
        prop_assert_eq!(outcome.is_none(), before.is_none() && value.is_none());
        prop_assert_eq!(outcome == Some(ValueOutcome::Kept), before.is_some() && before == value);
        let is_fraction = value.as_ref().and_then(Value::as_f64).is_some_and(|n| n.fract() != 0.0);
        let object = value.map(|value| ("f".to_owned(), value)).into_iter().collect();
        let errors = validate(&new, &schema::compile(&new, &definition), &object, None);
        let is_refused = to == "integer/number" && is_fraction;
        prop_assert_eq!(!errors.is_empty(), is_refused, "{:?}", errors);
    }
}
