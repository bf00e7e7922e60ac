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
    /// Schema and config of each pair of type and input type.
    kinds: BTreeMap<String, (Value, Value)>,
    groups: BTreeMap<String, Vec<String>>,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    from: String,
    to: String,
    /// Before, after, and the fate; null stands for no value and no fate.
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
fn the_matrix_says_what_becomes_of_every_pair() {
    let matrix = Matrix::read();
    let mut seen = BTreeSet::new();
    for row in &matrix.rows {
        for from in matrix.members(&row.from) {
            for to in matrix.members(&row.to) {
                let (old, new) =
                    (matrix.property(from, &json!({})), matrix.property(to, &json!({})));
                for (before, after, fate) in &row.cases {
                    let converted = convert(Some(&old), &new, present(before));
                    let found = converted.fate.map(|fate| format!("{fate:?}").to_lowercase());
                    let context = format!("{from} to {to}: {before}");
                    assert_eq!(converted.value.as_ref(), present(after), "{context}");
                    assert_eq!(&found, fate, "{context}");
                }
                assert!(!row.cases.is_empty(), "{from} to {to}");
                seen.insert((from, to));
            }
        }
    }
    // Every pairing of contract 2.5, each with each.
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
fn text_is_read_on_demand() {
    let matrix = Matrix::read();
    let parse = json!({"convert": "parse"});
    let rows = [
        ("number/number", " 12 ", json!(12), Fate::Converted),
        ("number/number", "-1.50", json!(-1.5), Fate::Converted),
        ("number/number", "1e3", json!(1000), Fate::Converted),
        ("number/number", "-9223372036854775808", json!(i64::MIN), Fate::Converted),
        ("number/number", "9223372036854775808", json!(0), Fate::Emptied),
        ("number/number", "1e400", json!(0), Fate::Emptied),
        // What a number cannot hold is not rounded in silence.
        ("number/number", "-9223372036854775809", json!(0), Fate::Emptied),
        ("number/number", "9007199254740993.0", json!(0), Fate::Emptied),
        ("number/number", "9007199254740992.0", json!(9_007_199_254_740_992_i64), Fate::Converted),
        ("number/number", "0.1", json!(0.1), Fate::Converted),
        ("number/number", "00.10e-1", json!(0.01), Fate::Converted),
        ("number/number", "1e-400", json!(0), Fate::Emptied),
        ("number/number", "-0.0", json!(0), Fate::Converted),
        ("integer/number", "3.0000000000000000001", json!(0), Fate::Emptied),
        ("number/number", "12,-", json!(0), Fate::Emptied),
        ("number/number", "NaN", json!(0), Fate::Emptied),
        ("number/number", "", json!(0), Fate::Converted),
        ("integer/number", "7.0", json!(7), Fate::Converted),
        ("integer/number", "7.5", json!(0), Fate::Emptied),
        ("boolean/checkbox", "TRUE", json!(true), Fate::Converted),
        ("boolean/checkbox", "0", json!(false), Fate::Converted),
        ("boolean/checkbox", "yes", json!(false), Fate::Emptied),
    ];
    for from in &matrix.groups["strings"] {
        let old = matrix.property(from, &json!({}));
        for (to, before, after, fate) in &rows {
            let new = matrix.property(to, &parse);
            let converted = convert(Some(&old), &new, Some(&json!(before)));
            let expected = Converted { value: Some(after.clone()), fate: Some(*fate) };
            assert_eq!(converted, expected, "{from} to {to}: {before}");
        }
    }
    // Nothing but text is read.
    let (old, new) =
        (matrix.property("array/simpleList", &json!({})), matrix.property("number/number", &parse));
    assert_eq!(convert(Some(&old), &new, Some(&json!(["7"]))).fate, Some(Fate::Emptied));
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
    // old, new, items before, items after, fate
    let rows = [
        (
            json!({"t": text}),
            json!({"t": number}),
            nothing.clone(),
            json!([{"t": "x", "y": 1}, {}, "z"]),
            json!([{"t": 0, "y": 1}, {"t": 0}, "z"]),
            Fate::Emptied,
        ),
        (
            json!({"t": number}),
            json!({"t": text}),
            nothing.clone(),
            json!([{"t": 1.0}, {}]),
            json!([{"t": "1"}, {}]),
            Fate::Converted,
        ),
        (
            json!({"t": text, "u": text}),
            json!({"u": text}),
            nothing.clone(),
            json!([{"t": "x", "u": "y"}]),
            json!([{"u": "y"}]),
            Fate::Emptied,
        ),
        (
            json!({"t": text, "u": text}),
            json!({"u": text}),
            nothing.clone(),
            json!([{"t": "", "u": "y"}]),
            json!([{"u": "y"}]),
            Fate::Converted,
        ),
        (
            json!({"t": text}),
            json!({"u": renamed}),
            nothing.clone(),
            json!([{"t": "x"}, {}]),
            json!([{"u": "x"}, {}]),
            Fate::Converted,
        ),
        (
            json!({"t": text}),
            json!({"t": filled}),
            json!(["t"]),
            json!([{"t": "x"}, {"t": ""}, {}]),
            json!([{"t": "x"}, {"t": "?"}, {"t": "?"}]),
            Fate::Converted,
        ),
        (
            json!({"t": text}),
            json!({"t": text, "u": filled}),
            json!(["u"]),
            json!([{"t": "x"}]),
            json!([{"t": "x", "u": "?"}]),
            Fate::Converted,
        ),
        (
            json!({"t": text}),
            json!({"t": text, "u": text}),
            nothing.clone(),
            json!([{"t": "x"}]),
            json!([{"t": "x"}]),
            Fate::Kept,
        ),
    ];
    for (old, new, required, before, after, fate) in rows {
        let context = format!("{old} to {new}");
        let (old, new) = (list(&old, &nothing), list(&new, &required));
        assert_eq!(converts(&old, &new), fate != Fate::Kept, "{context}");
        let converted = convert(Some(&old), &new, Some(&before));
        assert_eq!(converted, Converted { value: Some(after), fate: Some(fate) }, "{context}");
        assert_eq!(convert(Some(&old), &new, None), Converted { value: None, fate: None });
    }
}

/// Values of each kind that its own type takes.
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
    /// A type without limits of its own takes whatever comes out, but for fractions as integers.
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
        let Converted { value, fate } = convert(Some(&old), &new[0], before.as_ref());
        prop_assert_eq!(fate.is_none(), before.is_none() && value.is_none());
        prop_assert_eq!(fate == Some(Fate::Kept), before.is_some() && before == value);
        let is_fraction = value.as_ref().and_then(Value::as_f64).is_some_and(|n| n.fract() != 0.0);
        let object = value.map(|value| ("f".to_owned(), value)).into_iter().collect();
        let faults = validate(&new, &schema::compile(&new, &definition), &object, None);
        let is_refused = to == "integer/number" && is_fraction;
        prop_assert_eq!(!faults.is_empty(), is_refused, "{:?}", faults);
    }
}
