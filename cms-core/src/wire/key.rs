//! API keys as the management endpoints show them (contract 10, 10.1).

use serde::{Deserialize, Serialize};

/// What a key may do at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyKind {
    /// Every read, nothing else.
    ReadOnly,
    /// Content and content types.
    ReadWrite,
    /// What its rules give, never content types.
    Scoped,
    /// Everything, keys included.
    Admin,
}

impl KeyKind {
    pub const ALL: [Self; 4] = [Self::ReadOnly, Self::ReadWrite, Self::Scoped, Self::Admin];

    /// The name on the wire and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::ReadWrite => "read_write",
            Self::Scoped => "scoped",
            Self::Admin => "admin",
        }
    }

    /// Reads [`Self::as_str`] back.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// One rule of a scoped key; several rules add up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "the four rights of the contract")]
pub struct Rule {
    /// Name of a content type, or `*` for all.
    pub ctd: String,
    #[serde(default)]
    pub create: bool,
    #[serde(default)]
    pub read: bool,
    #[serde(default)]
    pub update: bool,
    #[serde(default)]
    pub delete: bool,
}

impl Rule {
    /// Tells whether the rule speaks of this type.
    pub fn covers(&self, content_type: &str) -> bool {
        self.ctd == "*" || self.ctd == content_type
    }
}

/// A key as lists show it: never the token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Key {
    pub id: String,
    pub name: String,
    pub kind: KeyKind,
    pub rules: Vec<Rule>,
    pub created_at: String,
    pub last_used_at: Option<String>,
}

/// A key that is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewKey {
    pub name: String,
    pub kind: KeyKind,
    #[serde(default)]
    pub rules: Vec<Rule>,
}

/// A key at the only moment at which its token is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedKey {
    #[serde(flatten)]
    pub item: Key,
    /// The token to send as `X-AUTH-TOKEN`.
    pub key: String,
}
