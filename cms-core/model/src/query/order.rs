//! The key that a value sorts by (contract 3.2).
//!
//! Numbers by value, then booleans, then text case-insensitively by code point. A value without a
//! key is empty and stands first or last, whatever the direction. Objects with equal keys follow
//! in the order of their creation: by date, then by sequence, ascending also when the order is not.

use serde_json::Value;

use super::{
    path::{PathRoot, PropertyPath},
    value::{self, Number, fold},
};

/// Sorts values of all kinds; the order of the variants is the order of the kinds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SortKey {
    Number(Number),
    Boolean(bool),
    /// In lower case.
    Text(String),
}

impl SortKey {
    /// Returns the key of a value, none when it is empty.
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            _ if value::is_empty(value) => None,
            Value::Number(number) => Number::of_json(number).map(Self::Number),
            Value::Bool(boolean) => Some(Self::Boolean(*boolean)),
            other => Some(Self::Text(fold(&whole_text(other)))),
        }
    }

    /// Returns the key of the first value found at a path, seen from its root.
    pub fn at(path: &PropertyPath, root: Option<&Value>) -> Option<Self> {
        if path.root == PathRoot::Any {
            return None;
        }
        path.resolve(root).into_iter().find_map(Self::of)
    }
}

/// What the key of a text does not say: its spelling, when that is not the key's.
///
/// Key and spelling together are the exact value.
pub fn spelling(value: &Value) -> Option<String> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
        other => Some(whole_text(other)).filter(|text| fold(text) != *text),
    }
}

/// Text of a string, or the JSON of a list or object, where the order of keys means nothing.
fn whole_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => {
            let mut sorted = other.clone();
            sorted.sort_all_objects();
            sorted.to_string()
        }
    }
}
