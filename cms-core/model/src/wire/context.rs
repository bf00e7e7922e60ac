//! The response of `GET /api/auth-context`, see docs/reference/http.md#current-caller

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    author::Author,
    key::{KeyKind, Rule},
    user::Role,
};

/// Organization and space, the caller with its rights, and what the server offers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthContext {
    pub organization: IdAndName,
    pub space: IdAndName,
    pub user: ContextUser,
    /// None for a session and a preview token.
    pub api_key: Option<ApiKey>,
    pub by: Author,
    pub rights: ContextRights,
    pub limits: ContextLimits,
    pub features: Features,
    /// Version of cms.
    pub version: String,
}

/// An id with a name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IdAndName {
    pub id: String,
    pub name: String,
}

/// The user; a key is shown as a user, because clients expect one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ContextUser {
    pub id: String,
    pub username: String,
    pub roles: Vec<String>,
    /// Only for a user; so is `role`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
}

/// The key with its rules.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ApiKey {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: KeyKind,
    pub rules: Vec<Rule>,
}

/// What the caller may do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextRights {
    pub admin: bool,
    pub change_types: bool,
    /// The publishing right, and update on at least one type.
    pub publish: bool,
    /// Types on which the caller has a right: letters of `crud` by name.
    pub content_types: BTreeMap<String, String>,
}

/// The limits that a client has to know before it sends a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextLimits {
    pub page_size: u32,
    pub batch: usize,
    pub batch_publish: usize,
    pub object_bytes: usize,
    /// None on a data directory, which has no request bodies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_bytes: Option<usize>,
    pub file_bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upload_bytes: Option<u64>,
    pub media_types: Vec<String>,
    pub search_results: u64,
    pub trash_days: i64,
}

/// The features that are switched on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Features {
    /// A server delivers webhooks, a command on a data directory does not.
    pub webhooks: bool,
    pub open_id: bool,
    pub preview_origins: Vec<String>,
}
