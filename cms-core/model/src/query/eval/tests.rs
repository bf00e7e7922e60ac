//! The rules of docs/reference/filters.md#comparison, row by row.

use serde_json::{Value, json};

use super::ConditionMatcher;
use crate::{
    content_type::model::{InputType, Property, SchemaType},
    query::{filter, path::PathRoot},
};

fn properties() -> Vec<Property> {
    let property = |name: &str, input_type| Property::plain(name, SchemaType::String, input_type);
    let mut list = property("list", InputType::Object);
    list.nested = vec![property("day", InputType::DateTime)];
    vec![
        property("f", InputType::Text),
        property("g", InputType::Text),
        property("day", InputType::DateTime),
        list,
    ]
}

/// Evaluates a condition on the object `data`.
fn holds(data: &Value, path: &str, operator: &str, filter: &Value, filter2: &Value) -> bool {
    let filters = json!({path: {"type": operator, "filter": filter, "filter2": filter2}});
    let conditions = filter::parse(&filters.to_string(), &properties()).unwrap();
    let root = match &conditions[0].path.root {
        PathRoot::Any { .. } => Some(data),
        PathRoot::Property(name) => data.get(name),
        PathRoot::Internal(_) => Some(&data["internal"]),
        PathRoot::Id | PathRoot::Unknown | PathRoot::Incoming => None,
    };
    ConditionMatcher::new(&conditions[0]).matches(root)
}

fn check(table: &[(Value, &str, &str, Value, bool)]) {
    for (data, path, operator, filter, expected) in table {
        let actual = holds(data, path, operator, filter, &Value::from(0));
        assert_eq!(actual, *expected, "{data} {path} {operator} {filter}");
    }
}

#[test]
fn equality_compares_across_types() {
    let f = |value: Value| json!({"f": value});
    check(&[
        (f(json!("a")), "f", "equals", json!("a"), true),
        (f(json!("a")), "f", "equals", json!("A"), false),
        (f(json!("a")), "f", "equals", json!(["b", "a"]), true),
        (f(json!("a")), "f", "equals", json!([]), false),
        (f(json!("a")), "f", "notEqual", json!("b"), true),
        (f(json!("a")), "f", "notEqual", json!(["b", "a"]), false),
        (f(json!("a")), "f", "notEqual", json!([]), true),
        (f(json!(5)), "f", "equals", json!("5"), true),
        (f(json!(5)), "f", "equals", json!(5.0), true),
        (f(json!(5)), "f", "equals", json!("5.00"), true),
        (f(json!("05")), "f", "equals", json!(5), true),
        (f(json!("5.0")), "f", "equals", json!("5"), false),
        (f(json!(5)), "f", "equals", json!("five"), false),
        (f(json!(9_007_199_254_740_993_i64)), "f", "equals", json!("9007199254740992"), false),
        (f(json!(true)), "f", "equals", json!(true), true),
        (f(json!(true)), "f", "equals", json!("true"), true),
        (f(json!(true)), "f", "equals", json!("1"), true),
        (f(json!(true)), "f", "equals", json!("0"), false),
        (f(json!(true)), "f", "equals", json!(1), false),
        (f(json!(false)), "f", "equals", json!(["0"]), true),
        (f(json!("true")), "f", "equals", json!(true), true),
        (f(json!("0")), "f", "equals", json!(false), true),
        (f(json!("inf")), "f", "equals", json!("inf"), true),
        (f(json!({"a": 1})), "f", "equals", json!("{\"a\":1}"), false),
    ]);
}

#[test]
fn empty_values_meet_only_negations_and_the_operator_empty() {
    let none = [json!({}), json!({"f": null}), json!({"f": ""}), json!({"f": []})];
    for data in none {
        for operator in filter::Operator::ALL {
            let name = operator.as_str();
            let expected = ["notEqual", "notContains", "empty"].contains(&name);
            for filter in [json!(""), json!("a"), json!(0)] {
                assert_eq!(holds(&data, "f", name, &filter, &filter), expected, "{data} {name}");
            }
        }
    }
    check(&[
        (json!({"f": 0}), "f", "empty", json!(1), false),
        (json!({"f": false}), "f", "notEmpty", json!(1), true),
        (json!({"f": {}}), "f", "empty", json!(1), false),
        (json!({"f": [""]}), "f", "empty", json!(1), false),
    ]);
}

#[test]
fn text_operators_ignore_case() {
    let f = |value: Value| json!({"f": value});
    let link = json!([{"type": "internal", "dataUrl": "/api/v1/content/_media/x"}]);
    check(&[
        (f(json!("Hello World")), "f", "contains", json!("O w"), true),
        (f(json!("Hello World")), "f", "contains", json!(""), true),
        (f(json!("Hello World")), "f", "contains", json!(["x", "WORLD"]), true),
        (f(json!("Hello World")), "f", "notContains", json!(["x", "WORLD"]), false),
        (f(json!("Hello World")), "f", "notContains", json!("x"), true),
        (f(json!("Hello World")), "f", "startsWith", json!("hELLO"), true),
        (f(json!("Hello World")), "f", "startsWith", json!("World"), false),
        (f(json!("Hello World")), "f", "endsWith", json!("WORLD"), true),
        (f(json!("Hello World")), "f", "endsWith", json!("Hello"), false),
        (f(json!("ÄÖÜ")), "f", "startsWith", json!("äö"), true),
        (f(json!("ΟΔΟΣΑ")), "f", "startsWith", json!("οδοσ"), true),
        (f(json!(1234)), "f", "contains", json!(23), true),
        (f(json!(true)), "f", "contains", json!("RU"), true),
        (f(json!({"lat": 1.5})), "f", "contains", json!("\"lat\":1.5"), true),
        (f(link.clone()), "f", "contains", json!("_media"), true),
        (f(link), "f", "notContains", json!("_media"), false),
        (f(json!(["a", "b"])), "f", "startsWith", json!("b"), true),
        (f(json!(["a", "b"])), "f", "contains", json!("\""), false),
        (f(json!("100%")), "f", "contains", json!("%"), true),
        (f(json!("100%")), "f", "contains", json!("_"), false),
    ]);
}

#[test]
fn conditions_hold_for_any_of_several_values() {
    let data = json!({
        "f": ["a", "b", 3],
        "g": [{"n": 1}, {"n": ""}, {"other": 2}, 7],
        "list": [{"sub": [{"n": "x"}, {"n": "y"}]}, {"sub": []}, {"tags": ["s", "t"]}],
    });
    let row = |path, operator, filter, expected| (data.clone(), path, operator, filter, expected);
    check(&[
        row("f", "equals", json!("b"), true),
        row("f", "notEqual", json!("b"), false),
        row("f", "notEqual", json!("c"), true),
        row("f", "greaterThan", json!(2), true),
        row("f", "overlaps", json!(["x", "3"]), true),
        row("f", "overlaps", json!("a"), true),
        row("f", "overlaps", json!(["A"]), false),
        row("f", "overlaps", json!([]), false),
        row("f", "includes", json!("a"), true),
        row("f", "includes", json!(["a", "b"]), true),
        row("f", "includes", json!(["a", "c"]), false),
        row("f[1]", "equals", json!("b"), true),
        row("f[9]", "empty", json!(0), true),
        row("f[1]", "includes", json!("b"), false),
        row("g[*].n", "equals", json!(1), true),
        row("g[*].n", "notEqual", json!(1), false),
        row("g[1].n", "empty", json!(0), true),
        row("g[*].n", "empty", json!(0), false),
        row("g[*].other", "notEmpty", json!(0), true),
        row("g.n", "notEmpty", json!(0), false),
        row("list[*].sub[*].n", "includes", json!(["x", "y"]), true),
        row("list[*].sub[*].n", "equals", json!("y"), true),
        row("list[*].tags", "overlaps", json!(["t"]), true),
        row("list[*].tags", "equals", json!("t"), true),
        row("list[0].sub[1].n", "equals", json!("y"), true),
        row("$.list[0].sub[1].n", "equals", json!("y"), true),
        row("*", "contains", json!("X"), true),
        row("*", "contains", json!("nowhere"), false),
        row("*", "notContains", json!("x"), false),
        row("*", "notContains", json!("nowhere"), true),
        row("*", "equals", json!("a"), true),
        row("*", "empty", json!(0), false),
        row("*", "notEmpty", json!(0), true),
        row("nothing", "empty", json!(0), true),
        row("nothing", "notEqual", json!("a"), true),
    ]);
}

#[test]
fn ordered_comparison_uses_numbers_then_dates_then_text() {
    let f = |value: Value| json!({"f": value, "day": value, "list": [{"day": value}]});
    check(&[
        (f(json!(10)), "f", "greaterThan", json!(9), true),
        (f(json!("10")), "f", "greaterThan", json!("9"), true),
        (f(json!("10")), "f", "greaterThan", json!("9a"), false),
        (f(json!("b")), "f", "greaterThan", json!("B"), true),
        (f(json!("b")), "f", "lessThan", json!("b"), false),
        (f(json!("b")), "f", "lessThanOrEqual", json!("b"), true),
        (f(json!("b")), "f", "greaterThanOrEqual", json!("b"), true),
        (f(json!("\u{ffff}")), "f", "lessThan", json!("\u{10000}"), true),
        (f(json!("2020-01-22")), "f", "lessThan", json!("2020-01-22T00:00"), true),
        (f(json!("2020-01-22")), "day", "lessThan", json!("2020-01-22T00:00"), false),
        (f(json!("2020-01-22")), "day", "lessThanOrEqual", json!("2020-01-22T00:00"), true),
        (f(json!("2020-01-22T01:00+02:00")), "day", "lessThan", json!("2020-01-22"), true),
        (f(json!("2020-01-22")), "list[*].day", "greaterThan", json!("@1579651199"), true),
        (f(json!("2020-01-22")), "day", "greaterThan", json!("\"2020-01-21 23:59:59\""), true),
        (f(json!("soon")), "day", "greaterThan", json!("2020-01-22"), true),
    ]);
    let date = json!({"internal": "2020-01-22T14:34:36+00:00"});
    for path in ["internal.updatedAt", "internal.created_at", "$.internal.publishedAt"] {
        let is = |operator, filter: &str| holds(&date, path, operator, &json!(filter), &json!(0));
        assert!(is("greaterThan", "2020-01-22 14:34:35"), "{path}");
        assert!(!is("greaterThan", "2020-01-22 14:34:36"), "{path}");
        assert!(is("lessThan", "2020-01-22T14:34:36.5Z"), "{path}");
        assert!(is("lessThanOrEqual", "2020-01-22T15:34:36 01:00"), "{path}");
    }
}

#[test]
fn ranges_include_their_ends() {
    let data = json!({"f": 5, "g": "5x", "list": [{"n": 1}, {"n": 9}]});
    let is = |path, lower: Value, upper: Value| holds(&data, path, "inRange", &lower, &upper);
    assert!(is("f", json!(5), json!(6)));
    assert!(is("f", json!("4"), json!("5")));
    assert!(!is("f", json!(6), json!(4)));
    assert!(is("g", json!("5"), json!("6")));
    // A single value must be in the range.
    assert!(!is("list[*].n", json!(2), json!(8)));
    assert!(is("list[*].n", json!(2), json!(9)));
}

#[test]
fn links_are_compared_by_target() {
    let link =
        |address: &str| json!({"f": [{"type": "internal", "dataUrl": address}], "g": address});
    let stored = "/api/v1/content/_media/My%20Id";
    let table = [
        ("f", "/api/v1/content/_media/My%20Id", true),
        ("f", "/api/v1/content/_media/my id", true),
        ("f[*].dataUrl", "/api/v1/content/_media/MY ID", true),
        ("f[*].dataUrl", "/api/v1/content/_MEDIA/my id", false),
        ("f[*].dataUrl", "/api/v1/content/_media/my", false),
        ("g", "/api/v1/content/_media/My%20Id", true),
        ("g", "/api/v1/content/_media/my id", false),
    ];
    for (path, filter, expected) in table {
        for operator in ["equals", "includes", "overlaps"] {
            let is_array = path != "g";
            let actual = holds(&link(stored), path, operator, &json!(filter), &json!(0));
            assert_eq!(actual, expected && (is_array || operator == "equals"), "{path} {filter}");
        }
    }
}
