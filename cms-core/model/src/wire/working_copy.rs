//! Working copies, see docs/reference/working-copies.md

use serde::Serialize;
use serde_json::{Map, Value, value::RawValue};

use crate::{
    auth::scope::Access,
    error::{Error, FieldErrors, Result},
    limits, message,
    read::{refuse_others, required},
    wire::object,
};

/// First character of the ids of working copies without an object; no object id contains it.
pub const NEW_PREFIX: char = '~';

/// Returns whether an id in the path means an object that does not exist yet.
pub fn is_new(id: &str) -> bool {
    id.starts_with(NEW_PREFIX)
}

/// The right that working copies need, by the id in the path.
pub fn required_access(id: &str) -> Access {
    if is_new(id) { Access::CREATE } else { Access::UPDATE }
}

/// Parses the body of `PUT …/{id}/working-copy`.
///
/// # Errors
/// [`Error::ObjectTooLarge`] when the text is too large to be parsed, [`Error::BadRequest`] when it
/// is no JSON object.
pub fn read(text: &[u8], id: &str) -> Result<Map<String, Value>> {
    if object::is_too_large(text) {
        return Err(Error::ObjectTooLarge { id: id.to_owned(), bytes: text.len() });
    }
    serde_json::from_slice(text).map_err(|_| Error::malformed_json())
}

/// A working copy to store.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewWorkingCopy {
    /// The `ETag` of the object state that the work started from.
    pub base: Option<String>,
    /// Without `internal`.
    pub data: Map<String, Value>,
}

impl NewWorkingCopy {
    /// Parses a payload, with its validation errors; `is_new`: the object does not exist yet.
    pub fn from_payload(mut payload: Map<String, Value>, is_new: bool) -> (Self, FieldErrors) {
        let mut errors = FieldErrors::default();
        let base = match payload.get("base") {
            Some(Value::Null) => {
                if !is_new {
                    errors.add("base", message::NOT_VALID);
                }
                None
            }
            _ => required::<&str>(&payload, "base", "", &mut errors).map(str::to_owned),
        };
        if base.as_ref().is_some_and(|base| base.chars().count() > limits::MAX_ENTITY_TAG_CHARS) {
            errors.add("base", message::too_long(limits::MAX_ENTITY_TAG_CHARS));
        }
        required::<&Map<String, Value>>(&payload, "data", "", &mut errors);
        refuse_others(&payload, &["base", "data"], "", &mut errors);
        let mut data = match payload.get_mut("data").map(Value::take) {
            Some(Value::Object(data)) => data,
            _ => Map::new(),
        };
        data.shift_remove("internal");
        (Self { base, data }, errors)
    }
}

/// A working copy.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkingCopy<'a> {
    pub content_type: &'a str,
    pub id: &'a str,
    pub base: Option<&'a str>,
    /// `base` names the current state of the object.
    pub current: bool,
    pub saved_at: String,
    pub data: &'a RawValue,
}

/// A working copy in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkingCopySummary {
    pub content_type: String,
    pub id: String,
    pub object_title: String,
    pub base: Option<String>,
    pub current: bool,
    pub saved_at: String,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn payload_errors_are_collected() {
        let cases = [
            (json!({ "base": null, "data": {} }), true, json!({})),
            (json!({ "base": "\"0123\"", "data": {} }), true, json!({})),
            (json!({ "base": "", "data": { "internal": 1 } }), false, json!({})),
            (
                json!({ "base": null, "data": {} }),
                false,
                json!({ "base": ["This value is not valid."] }),
            ),
            (
                json!({ "base": "x".repeat(129), "data": {} }),
                false,
                json!({ "base": ["Must be at most 128 characters long"] }),
            ),
            (
                json!({ "data": [], "title": "A" }),
                true,
                json!({
                    "base": ["The property base is required"],
                    "data": ["Array value found, but an object is required"],
                    "title": ["The property title is not defined and the definition does not allow additional properties"],
                }),
            ),
            (
                json!({ "base": 1 }),
                true,
                json!({
                    "base": ["Integer value found, but a string is required"],
                    "data": ["The property data is required"],
                }),
            ),
        ];
        for (payload, is_new, expected) in cases {
            let (_, errors) =
                NewWorkingCopy::from_payload(payload.as_object().unwrap().clone(), is_new);
            assert_eq!(json!(errors), expected, "{payload}");
        }
    }

    #[test]
    fn payload_keeps_all_members_except_internal() {
        let payload = json!({ "base": null, "data": { "id": "a", "internal": {}, "x": [null] } });
        let (copy, errors) =
            NewWorkingCopy::from_payload(payload.as_object().unwrap().clone(), true);
        assert!(errors.is_empty());
        assert_eq!(Value::from(copy.data), json!({ "id": "a", "x": [null] }));
    }
}
