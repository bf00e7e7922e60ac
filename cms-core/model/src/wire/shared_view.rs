//! Shared views of a content type, see docs/reference/views.md

use serde::Serialize;
use serde_json::{Map, Value, value::RawValue};

use super::author::Author;
use crate::{
    error::{FieldErrors, Result},
    limits, message,
    read::{optional, refuse_others},
};

/// The name and definition of a view to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSharedView {
    pub name: String,
    /// A JSON object.
    pub definition: String,
}

impl NewSharedView {
    /// Parses and validates a payload.
    pub fn from_payload(payload: &Map<String, Value>) -> Result<Self> {
        let mut errors = FieldErrors::default();
        for name in ["name", "definition"] {
            if !payload.contains_key(name) {
                errors.add(name, message::required(name));
            }
        }
        let change = SharedViewChange::read(payload, &mut errors);
        errors.into_result()?;
        Ok(Self {
            name: change.name.unwrap_or_default(),
            definition: change.definition.unwrap_or_default(),
        })
    }
}

/// A change of a view; a part that is none stays unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedViewChange {
    pub name: Option<String>,
    pub definition: Option<String>,
}

impl SharedViewChange {
    /// Parses and validates a payload.
    pub fn from_payload(payload: &Map<String, Value>) -> Result<Self> {
        let mut errors = FieldErrors::default();
        let change = Self::read(payload, &mut errors);
        errors.into_result()?;
        Ok(change)
    }

    fn read(payload: &Map<String, Value>, errors: &mut FieldErrors) -> Self {
        let name: Option<&str> = optional(payload, "name", "", errors);
        if name.is_some_and(|name| name.trim().is_empty()) {
            errors.add("name", message::too_short(1));
        }
        if name.is_some_and(|name| name.chars().count() > limits::MAX_NAME_CHARS) {
            errors.add("name", message::too_long(limits::MAX_NAME_CHARS));
        }
        let definition: Option<&Map<String, Value>> = optional(payload, "definition", "", errors);
        let definition =
            definition.map(|map| serde_json::to_string(map).expect("a map has string keys"));
        let limit = limits::MAX_SHARED_VIEW_BYTES;
        if definition.as_ref().is_some_and(|text| text.len() > limit) {
            errors.add("definition", message::too_long(limit));
        }
        refuse_others(payload, &["name", "definition"], "", errors);
        Self { name: name.map(str::to_owned), definition }
    }
}

/// A view in responses.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SharedView {
    pub id: String,
    pub name: String,
    pub definition: Box<RawValue>,
    /// The creator.
    pub by: Author,
    pub created_at: String,
    pub updated_at: String,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::error::Error;

    #[test]
    fn view_errors_are_collected() {
        let long = "x".repeat(8192);
        let cases = [
            (json!({ "name": "All", "definition": {} }), None),
            (
                json!({}),
                Some(json!({
                    "name": ["The property name is required"],
                    "definition": ["The property definition is required"],
                })),
            ),
            (
                json!({ "name": " ", "definition": { "a": long }, "id": "x" }),
                Some(json!({
                    "name": ["Must be at least 1 characters long"],
                    "definition": ["Must be at most 8192 characters long"],
                    "id": ["The property id is not defined and the definition does not allow additional properties"],
                })),
            ),
            (
                json!({ "name": "x".repeat(256), "definition": null }),
                Some(json!({
                    "name": ["Must be at most 255 characters long"],
                    "definition": ["NULL value found, but an object is required"],
                })),
            ),
        ];
        for (payload, expected) in cases {
            let found = match NewSharedView::from_payload(payload.as_object().unwrap()) {
                Ok(_) => None,
                Err(Error::Invalid(errors)) => Some(json!(errors)),
                Err(other) => panic!("{other:?}"),
            };
            assert_eq!(found, expected, "{payload}");
        }
    }
}
