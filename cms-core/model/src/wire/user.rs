//! Users in the management endpoints, see docs/reference/users.md

use serde::{Deserialize, Serialize};

use super::{key::Rule, object::Direction, session::LinkKind};
use crate::paging::PageRequest;

crate::named_enum! {
    /// The role of a user, on the wire and in the database.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Role {
        Admin => "admin",
        Developer => "developer",
        Editor => "editor",
        Author => "author",
        Viewer => "viewer",
        /// The rights of the rules of the user.
        Custom => "custom",
    }
}

impl Role {
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

/// A user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the members of the API")]
pub struct User {
    pub id: String,
    pub email: String,
    pub name: String,
    pub role: Role,
    pub rules: Vec<Rule>,
    pub may_publish: bool,
    pub disabled: bool,
    pub has_password: bool,
    /// The user has signed in by OpenID Connect.
    pub open_id: bool,
    /// A link that was created for the user and is still valid.
    pub pending_link: Option<PendingLink>,
    pub created_at: String,
    pub last_seen_at: Option<String>,
}

/// A link without its code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingLink {
    pub kind: LinkKind,
    pub expires_at: String,
}

/// A new link, whose code is not shown again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Link {
    pub kind: LinkKind,
    pub url: String,
    pub code: String,
    pub expires_at: String,
}

/// A new user, with an invitation unless a password was set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedUser {
    #[serde(flatten)]
    pub user: User,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
}

/// The users to list, and their order.
#[derive(Clone, Debug, Default)]
pub struct UserListRequest {
    pub page: PageRequest,
    /// A part of the e-mail address or the name, in any letter case.
    pub q: Option<String>,
    /// The name of a role; unknown ones match nothing.
    pub role: Option<String>,
    pub disabled: Option<bool>,
    pub order_by: UserOrder,
    pub direction: Direction,
}

crate::named_enum! {
    /// `order_by` of a list of users.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum UserOrder {
        #[default]
        Name => "name",
        Email => "email",
        CreatedAt => "createdAt",
        LastSeenAt => "lastSeenAt",
        /// From the role with the most rights to `custom`, as `Role` declares them.
        Role => "role",
    }
}
