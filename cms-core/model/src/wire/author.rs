//! Who made a change, see docs/reference/activity.md#authors

use serde::{Deserialize, Serialize};

use crate::{auth::scope::Access, context::Caller};

/// The author of a change. A removed key or user has the name that it had at its removal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    pub kind: AuthorKind,
    /// None for `local` and `system`, and for a user who is hidden from the caller (see
    /// [`Self::shown_to`]).
    pub id: Option<String>,
    pub name: String,
}

/// The kind of an author.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthorKind {
    User,
    Key,
    /// A command on the data directory.
    Local,
    /// A task of the server.
    System,
}

impl Author {
    /// A command on the data directory.
    pub fn local() -> Self {
        Self { kind: AuthorKind::Local, id: None, name: "local".to_owned() }
    }

    /// The author of a change that was made before authors were recorded.
    pub fn unknown() -> Self {
        Self { kind: AuthorKind::System, id: None, name: String::new() }
    }

    /// The author as a caller sees it in connection with a type. Without a session and without
    /// update right, names of people are hidden: a key of a public front end must not disclose
    /// them.
    #[must_use]
    pub fn shown_to(self, caller: &Caller, content_type: &str) -> Self {
        let sees_people = caller.has_session() || caller.may(Access::UPDATE, content_type);
        if self.kind != AuthorKind::User || sees_people {
            return self;
        }
        Self { kind: AuthorKind::User, id: None, name: String::new() }
    }
}
