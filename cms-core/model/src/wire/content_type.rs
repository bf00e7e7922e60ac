//! Content type definitions as the API shows them (contract 2.1, 2.2).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::object::Direction;
use crate::{
    error::{Error, Result},
    message,
    paging::Page,
};

/// A content type definition, complete, in the contract's key order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContentType {
    /// UUID, made by the server.
    pub id: String,
    pub name: String,
    pub label: String,
    pub workflow_id: String,
    pub draft_public: bool,
    pub internal: bool,
    /// As sent, with `required` and `additionalProperties` filled in.
    pub schema_definition: Value,
    /// As sent.
    pub meta_definition: Value,
    pub slugs: Vec<Slug>,
    /// Links to `_media` objects.
    pub featured_image: Vec<Value>,
    /// Always null: deleted types are gone.
    pub deleted_at: Option<String>,
    pub created_at: String,
    /// Null until the first update.
    pub updated_at: Option<String>,
}

/// Keys of a content type that a write takes into account.
pub const WRITABLE_KEYS: [&str; 9] = [
    "name",
    "label",
    "workflowId",
    "draftPublic",
    "internal",
    "schemaDefinition",
    "metaDefinition",
    "slugs",
    "featuredImage",
];

/// Keys that clients send back because they read them (contract 1.11).
const IGNORED_KEYS: [&str; 4] = ["id", "createdAt", "updatedAt", "deletedAt"];

/// Returns the payload keys that a write ignores and should tell about, in request order.
pub fn unsupported_keys(payload: &Map<String, Value>) -> Vec<&str> {
    payload
        .keys()
        .map(String::as_str)
        .filter(|key| !WRITABLE_KEYS.contains(key) && !IGNORED_KEYS.contains(key))
        .collect()
}

/// Reads the payload of a purge: whether the type goes too (contract 2.7).
///
/// # Errors
/// [`crate::error::Error::Invalid`] when `deleteSchema` is no boolean.
pub fn deletes_schema(payload: &Map<String, Value>) -> Result<bool> {
    match payload.get("deleteSchema") {
        None => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(other) => Err(Error::invalid("deleteSchema", message::wrong_type(other, "boolean"))),
    }
}

/// One slug rule (contract 13.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slug {
    pub source: String,
    pub target: String,
    pub active: bool,
}

/// `GET /api/v1/internal/contenttype` (contract 2.2).
#[derive(Clone, Debug, Default)]
pub struct TypeListRequest {
    pub page: Page,
    pub order_by: TypeOrder,
    pub direction: Direction,
    /// Part of the name, any case.
    pub name: Option<String>,
    /// Part of the label, any case.
    pub label: Option<String>,
    /// Exact names, any case.
    pub names: Option<Vec<String>>,
    /// Only system types, or only the others.
    pub internal: Option<bool>,
}

/// What a list of types is ordered by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TypeOrder {
    #[default]
    Name,
    Id,
    Label,
    CreatedAt,
    UpdatedAt,
}

impl TypeOrder {
    /// Reads `order_by`; unknown names fall back to the default.
    pub fn parse(text: Option<&str>) -> Self {
        match text {
            Some("id") => Self::Id,
            Some("label") => Self::Label,
            Some("createdAt") => Self::CreatedAt,
            Some("updatedAt") => Self::UpdatedAt,
            _ => Self::Name,
        }
    }
}
