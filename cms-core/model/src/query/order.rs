//! The sort key of a value, see docs/reference/filters.md#order
//!
//! Numbers come first, then booleans, then text, case-insensitive by code point. Empty values have
//! no key; they come last, or first with `empty_first`, in both directions. Objects with equal keys are
//! sorted by creation, always ascending.

use serde_json::Value;

use super::{
    path::{PathRoot, PropertyPath},
    value::{self, Number, fold},
};

/// A sort key; the order of the variants is the order of the types.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SortKey {
    Number(Number),
    Boolean(bool),
    /// In lower case.
    Text(String),
}

impl SortKey {
    /// Returns the key of a value; none for empty values.
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            _ if value::is_empty(value) => None,
            Value::Number(number) => Number::of_json(number).map(Self::Number),
            Value::Bool(boolean) => Some(Self::Boolean(*boolean)),
            other => Some(Self::Text(fold(&canonical_text(other)))),
        }
    }

    /// Returns the key of the first non-empty value at a path, given the value at its root.
    pub fn at(path: &PropertyPath, root: Option<&Value>) -> Option<Self> {
        if matches!(path.root, PathRoot::Any { .. }) {
            return None;
        }
        path.resolve(root).into_iter().find_map(Self::of)
    }
}

/// The exact text of a value, if it differs from the lower-case text in its key.
pub fn original_text(value: &Value) -> Option<String> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
        other => Some(canonical_text(other)).filter(|text| fold(text) != *text),
    }
}

/// The text of a string, or the [`value::canonical`] JSON of a list or object.
fn canonical_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => value::canonical(other).to_string(),
    }
}
