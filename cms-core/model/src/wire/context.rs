//! The answer of `GET /api/auth-context` (contract 1.13).

use serde::{Deserialize, Serialize};

use super::key::{KeyKind, Rule};

/// Which server, which space, which key.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthContext {
    pub organization: Named,
    pub space: Named,
    pub user: User,
    pub api_key: ApiKey,
}

/// An id with a name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Named {
    pub id: String,
    pub name: String,
}

/// The key in the place where clients expect a person.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct User {
    pub id: String,
    pub username: String,
    pub roles: Vec<String>,
}

/// The key itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ApiKey {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: KeyKind,
    pub rules: Vec<Rule>,
}
