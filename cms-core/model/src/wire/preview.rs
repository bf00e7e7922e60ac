//! Preview tokens, see docs/reference/preview.md

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    error::{FieldErrors, Result},
    message,
    read::required,
};

/// The object to preview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PreviewRequest {
    pub content_type: String,
    pub id: String,
}

impl PreviewRequest {
    /// Parses and validates a payload.
    pub fn from_payload(payload: &Map<String, Value>) -> Result<Self> {
        let mut errors = FieldErrors::default();
        let content_type: Option<&str> = required(payload, "contentType", "", &mut errors);
        let id: Option<&str> = required(payload, "id", "", &mut errors);
        for key in payload.keys().filter(|key| !["contentType", "id"].contains(&key.as_str())) {
            errors.add(key, message::undeclared(key));
        }
        errors.into_result()?;
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        Ok(Self { content_type: text(content_type), id: text(id) })
    }
}

/// A new preview token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// Only this response has it.
    pub token: String,
    /// Where the object is shown; none for types without a preview URL.
    pub url: Option<String>,
    /// The admin page may show the URL in a frame.
    pub embeddable: bool,
    pub expires_at: String,
}
