//! Presence: the objects that editors have open, see docs/reference/presence.md

use serde::Serialize;
use serde_json::{Map, Value};

use super::author::Author;
use crate::{
    error::{FieldErrors, Result},
    limits, message,
    read::{refuse_others, required},
};

/// The pattern of tab names in messages.
const TAB_PATTERN: &str = "^[A-Za-z0-9_-]{1,64}$";
const MAX_TAB_BYTES: usize = 64;

const NAMES: [&str; 4] = ["tab", "contentType", "id", "property"];

/// An object that a tab has open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresenceRequest {
    /// Chosen by the client.
    pub tab: String,
    pub content_type: String,
    pub id: String,
    /// The property that is edited.
    pub property: Option<String>,
}

impl PresenceRequest {
    /// Parses and validates a payload.
    pub fn from_payload(payload: &Map<String, Value>) -> Result<Self> {
        let mut errors = FieldErrors::default();
        let [tab, content_type, id] =
            ["tab", "contentType", "id"].map(|name| required(payload, name, "", &mut errors));
        if tab.is_some_and(|tab| !is_tab(tab)) {
            errors.add("tab", message::no_match(TAB_PATTERN));
        }
        let is_given = payload.get("property").is_some_and(|property| !property.is_null());
        let property: Option<&str> =
            if is_given { required(payload, "property", "", &mut errors) } else { None };
        if property.is_some_and(|path| path.chars().count() > limits::MAX_NAME_CHARS) {
            errors.add("property", message::too_long(limits::MAX_NAME_CHARS));
        }
        refuse_others(payload, &NAMES, "", &mut errors);
        errors.into_result()?;
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        Ok(Self {
            tab: text(tab),
            content_type: text(content_type),
            id: text(id),
            property: property.map(str::to_owned),
        })
    }
}

fn is_tab(tab: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=MAX_TAB_BYTES).contains(&tab.len()) && tab.bytes().all(is_plain)
}

/// An object that somebody has open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Presence {
    pub tab: String,
    pub content_type: String,
    pub id: String,
    pub property: Option<String>,
    pub by: Author,
    /// Time of the last request of the tab.
    pub at: String,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::error::Error;

    #[test]
    fn presence_errors_are_collected() {
        let pattern = "Does not match the regex pattern ^[A-Za-z0-9_-]{1,64}$";
        let required = |name: &str| json!([format!("The property {name} is required")]);
        let valid = json!({ "tab": "a-_9", "contentType": "post", "id": "x", "property": null });
        for (payload, expected) in [
            (valid, Value::Null),
            (
                json!({}),
                json!({
                    "tab": required("tab"), "contentType": required("contentType"),
                    "id": required("id"),
                }),
            ),
            (
                json!({ "tab": "", "contentType": 1, "id": "x", "property": 2, "at": 3 }),
                json!({
                    "contentType": ["Integer value found, but a string is required"],
                    "tab": [pattern],
                    "property": ["Integer value found, but a string is required"],
                    "at": [message::undeclared("at")],
                }),
            ),
            (
                json!({
                    "tab": "x".repeat(65), "contentType": "post", "id": "x",
                    "property": "p".repeat(256),
                }),
                json!({ "tab": [pattern], "property": ["Must be at most 255 characters long"] }),
            ),
        ] {
            let found = match PresenceRequest::from_payload(payload.as_object().unwrap()) {
                Ok(_) => Value::Null,
                Err(Error::Invalid(errors)) => json!(errors),
                Err(other) => panic!("{other:?}"),
            };
            assert_eq!(found, expected, "{payload}");
        }
    }
}
