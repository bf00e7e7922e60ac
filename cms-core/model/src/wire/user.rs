//! Users in the management endpoints, see docs/reference/users.md

use serde::{Deserialize, Serialize};

/// The role of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Admin,
    Developer,
    Editor,
    Author,
    Viewer,
    /// The rights of the rules of the user.
    Custom,
}

impl Role {
    pub const ALL: [Self; 6] =
        [Self::Admin, Self::Developer, Self::Editor, Self::Author, Self::Viewer, Self::Custom];

    /// The name on the wire and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Developer => "developer",
            Self::Editor => "editor",
            Self::Author => "author",
            Self::Viewer => "viewer",
            Self::Custom => "custom",
        }
    }

    /// Reads [`Self::as_str`] back.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == text)
    }

    /// The publishing right of the role; none when each user has a setting of their own.
    pub fn publishes(self) -> Option<bool> {
        match self {
            Self::Admin | Self::Developer | Self::Editor => Some(true),
            Self::Author | Self::Viewer => Some(false),
            Self::Custom => None,
        }
    }

    /// The role in responses that have a list of roles.
    pub fn api_name(self) -> String {
        format!("ROLE_HEADLESS_{}", self.as_str().to_uppercase())
    }
}
