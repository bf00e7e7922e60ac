//! Parses the conditions in the `filters` parameter, see docs/reference/filters.md#filter-types
//!
//! [`super::eval`] evaluates them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{linked::LinkScope, path::PropertyPath};
use crate::{content_type::model::Property, error::FieldErrors, limits, message};

const PARAMETER: &str = "filters";

/// One condition: compares the values at a path with values of the request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    pub path: PropertyPath,
    pub operator: Operator,
    /// `filter`: strings, numbers and booleans.
    pub values: Vec<Value>,
    /// `filter2` of `inRange`.
    pub upper: Option<Value>,
    /// Compare dates as points in time.
    pub dates: bool,
}

crate::named_enum! {
    /// `type` of a condition.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Operator {
        Equals => "equals",
        NotEqual => "notEqual",
        Contains => "contains",
        NotContains => "notContains",
        StartsWith => "startsWith",
        EndsWith => "endsWith",
        LessThan => "lessThan",
        LessThanOrEqual => "lessThanOrEqual",
        GreaterThan => "greaterThan",
        GreaterThanOrEqual => "greaterThanOrEqual",
        InRange => "inRange",
        Empty => "empty",
        NotEmpty => "notEmpty",
        Overlaps => "overlaps",
        Includes => "includes",
    }
}

impl Operator {
    /// Parses a name, including its deprecated form.
    pub fn from_parameter(name: &str) -> Option<Self> {
        Self::parse(if name == "notEquals" { "notEqual" } else { name })
    }

    /// Returns whether the operator compares by order, which takes a single value.
    pub fn is_ordered(self) -> bool {
        matches!(
            self,
            Self::LessThan
                | Self::LessThanOrEqual
                | Self::GreaterThan
                | Self::GreaterThanOrEqual
                | Self::InRange
        )
    }

    /// Returns whether a GraphQL filter decodes a JSON list in the text of `filter`; in REST, more
    /// operators take lists.
    pub fn takes_list_in_graphql(self) -> bool {
        matches!(self, Self::Equals | Self::NotEqual | Self::Overlaps | Self::Includes)
    }

    /// The operator that this one negates.
    pub fn negates(self) -> Option<Self> {
        match self {
            Self::NotEqual => Some(Self::Equals),
            Self::NotContains => Some(Self::Contains),
            _ => None,
        }
    }
}

/// The allowed values of `type` of a condition.
pub fn filter_types() -> [&'static str; Operator::ALL.len()] {
    Operator::ALL.map(Operator::as_str)
}

/// Parses the parameter; blank text and `{}` are no conditions.
pub fn parse(text: &str, properties: &[Property]) -> Result<Vec<Condition>, FieldErrors> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let Ok(filters) = serde_json::from_str::<Map<String, Value>>(text) else {
        return Err(error("Malformed filters json - Syntax error".to_owned()));
    };
    if filters.len() > limits::MAX_FILTER_CONDITIONS {
        return Err(error(format!(
            "Too many conditions, limit: {}",
            limits::MAX_FILTER_CONDITIONS
        )));
    }
    let mut conditions = Vec::with_capacity(filters.len());
    let mut errors = FieldErrors::default();
    for (path, filter) in filters {
        match parse_condition(&path, filter, properties) {
            Ok(condition) => conditions.push(condition),
            Err(message) => errors.add(PARAMETER, message),
        }
    }
    if errors.is_empty() { Ok(conditions) } else { Err(errors) }
}

/// Returns the paths in the parameter that the type does not declare, in their order.
pub fn unknown_paths(text: &str, properties: &[Property], scope: LinkScope<'_>) -> Vec<String> {
    let filters: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
    let is_declared =
        |text: &str| scope.declares(&PropertyPath::parse(text, properties), text, properties);
    filters.into_iter().map(|(path, _)| path).filter(|path| !is_declared(path)).collect()
}

pub(super) fn error(message: String) -> FieldErrors {
    FieldErrors::one(PARAMETER, message)
}

fn parse_condition(
    text: &str,
    mut filter: Value,
    properties: &[Property],
) -> Result<Condition, String> {
    let name = filter["type"].as_str().ok_or_else(|| message::missing_filter_type(text))?;
    let operator =
        Operator::from_parameter(name).ok_or_else(|| message::unknown_filter_type(name, text))?;

    let values = match (operator, filter["filter"].take()) {
        (Operator::Empty | Operator::NotEmpty, _) => Vec::new(),
        (_, Value::Array(values)) if !operator.is_ordered() => values,
        (_, value) => vec![value],
    };
    if values.len() > limits::MAX_FILTER_VALUES {
        return Err(format!("Too many values for {text}, limit: {}", limits::MAX_FILTER_VALUES));
    }
    let upper = (operator == Operator::InRange).then(|| filter["filter2"].take());
    if !values.iter().chain(&upper).all(is_comparable) {
        return Err(format!("Missing filter value for {text}"));
    }
    let path = PropertyPath::parse(text, properties);
    let dates = operator.is_ordered() && path.is_date(properties);
    Ok(Condition { path, operator, values, upper, dates })
}

fn is_comparable(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn messages(text: &str) -> Vec<String> {
        let errors = parse(text, &[]).expect_err(text);
        assert_eq!(errors.iter().count(), 1, "{text}");
        errors.at("filters").to_vec()
    }

    #[test]
    fn filters_may_be_empty() {
        for text in ["", "  ", "{}", " { } "] {
            assert_eq!(parse(text, &[]), Ok(Vec::new()), "{text:?}");
        }
    }

    #[test]
    fn invalid_filters_have_messages() {
        const MALFORMED: &str = "Malformed filters json - Syntax error";
        let table = [
            ("x", MALFORMED),
            ("{", MALFORMED),
            ("[]", MALFORMED),
            ("null", MALFORMED),
            ("\"title\"", MALFORMED),
            ("{} {}", MALFORMED),
            (r#"{"title":"a"}"#, "Missing filter type for title"),
            (r#"{"title":["type"]}"#, "Missing filter type for title"),
            (r#"{"title":null}"#, "Missing filter type for title"),
            (r#"{"title":{}}"#, "Missing filter type for title"),
            (r#"{"a[*].b":{"type":5,"filter":1}}"#, "Missing filter type for a[*].b"),
            (r#"{"$.t":{"type":"like","filter":1}}"#, "Unknown filter type like for $.t"),
            (r#"{"t":{"type":"Equals","filter":1}}"#, "Unknown filter type Equals for t"),
            (r#"{"t":{"type":"","filter":1}}"#, "Unknown filter type  for t"),
            (r#"{"t":{"type":"equals"}}"#, "Missing filter value for t"),
            (r#"{"t":{"type":"equals","filter":null}}"#, "Missing filter value for t"),
            (r#"{"t":{"type":"equals","filter":{}}}"#, "Missing filter value for t"),
            (r#"{"t":{"type":"equals","filter":[null]}}"#, "Missing filter value for t"),
            (r#"{"t":{"type":"includes","filter":[["a"]]}}"#, "Missing filter value for t"),
            (r#"{"t":{"type":"lessThan","filter":[1]}}"#, "Missing filter value for t"),
            (r#"{"t":{"type":"inRange","filter":1}}"#, "Missing filter value for t"),
            (r#"{"t":{"type":"inRange","filter2":1}}"#, "Missing filter value for t"),
            (r#"{"t":{"type":"inRange","filter":1,"filter2":[2]}}"#, "Missing filter value for t"),
        ];
        for (text, message) in table {
            assert_eq!(messages(text), [message], "{text}");
        }
        let several = r#"{"a":{},"b":{"type":"empty"},"c":{"type":"x"}}"#;
        assert_eq!(messages(several), ["Missing filter type for a", "Unknown filter type x for c"]);
        let deep = format!("{}1{}", r#"{"a":"#.repeat(200), "}".repeat(200));
        assert_eq!(messages(&deep), [MALFORMED]);
    }

    #[test]
    fn conditions_and_values_are_limited() {
        let conditions = |count: usize| {
            let conditions = (0..count).map(|n| (n.to_string(), json!({"type": "empty"})));
            Value::Object(conditions.collect()).to_string()
        };
        assert_eq!(parse(&conditions(100), &[]).map(|list| list.len()), Ok(100));
        assert_eq!(messages(&conditions(101)), ["Too many conditions, limit: 100"]);
        let values =
            |count: usize| json!({"t": {"type": "equals", "filter": vec![0; count]}}).to_string();
        assert_eq!(parse(&values(10_000), &[]).map(|list| list.len()), Ok(1));
        assert_eq!(messages(&values(10_001)), ["Too many values for t, limit: 10000"]);
    }

    #[test]
    fn conditions_of_every_type_are_parsed_and_serialized() {
        for operator in Operator::ALL {
            let text = json!({"t": {"type": operator.as_str(), "filter": "a", "filter2": 2}});
            let conditions = parse(&text.to_string(), &[]).unwrap();
            assert_eq!(conditions[0].operator, operator);
            let written = serde_json::to_string(&conditions[0]).unwrap();
            assert_eq!(serde_json::from_str::<Condition>(&written).unwrap(), conditions[0]);
        }
        let alias = parse(r#"{"t":{"type":"notEquals","filter":1}}"#, &[]).unwrap();
        assert_eq!(alias[0].operator, Operator::NotEqual);
    }

    proptest::proptest! {
        #[test]
        fn parser_never_panics(text in "\\PC*|[{}\\[\\]\":,a-z0-9]{0,40}") {
            drop(parse(&text, &[]));
        }
    }
}
