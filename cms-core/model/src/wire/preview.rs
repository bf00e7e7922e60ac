//! Preview tokens, see docs/reference/preview.md

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    error::{FieldErrors, Result},
    read::{refuse_others, required_text},
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
        let content_type = required_text(payload, "contentType", &mut errors);
        let id = required_text(payload, "id", &mut errors);
        refuse_others(payload, &["contentType", "id"], "", &mut errors);
        errors.into_result()?;
        Ok(Self { content_type, id })
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
