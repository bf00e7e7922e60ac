//! The response of `GET /api/auth-context`, see docs/reference/http.md#check-a-key

use serde::{Deserialize, Serialize};

use super::{
    key::{KeyKind, Rule},
    user::Role,
};

/// Organization, space and key of the caller.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthContext {
    pub organization: Named,
    pub space: Named,
    pub user: User,
    /// None for a session and a preview token.
    pub api_key: Option<ApiKey>,
}

/// An id with a name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Named {
    pub id: String,
    pub name: String,
}

/// The user, or the key as the user that clients expect.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct User {
    pub id: String,
    pub username: String,
    pub roles: Vec<String>,
    /// Of a user.
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
