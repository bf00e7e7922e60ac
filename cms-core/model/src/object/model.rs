//! A stored content object.
//!
//! [`StoredObject`] borrows from a database row where it can, so that an object that only passes through
//! is not copied. It knows no content type; rules are in [`super::validate`].

use std::borrow::Cow;

/// An object in one of its versions.
#[derive(Clone, Debug)]
pub struct StoredObject<'a> {
    /// Row of the object: its place in the creation sequence.
    pub pk: i64,
    pub id: Cow<'a, str>,
    pub internal: Internal<'a>,
    /// The properties as compact JSON, without `id` and `internal`.
    pub data: Cow<'a, str>,
}

/// What the server knows about an object (contract 3.1). Times are seconds since the epoch.
#[derive(Clone, Debug)]
pub struct Internal<'a> {
    pub created_at: i64,
    pub updated_at: i64,
    /// None while the object lives.
    pub deleted_at: Option<i64>,
    pub version: i64,
    /// When this version was made.
    pub version_at: i64,
    pub status: Status,
    pub public_version: Option<i64>,
    pub published_at: Option<i64>,
    pub workflow_state: Cow<'a, str>,
    pub workflow_public_version: Option<i64>,
    pub workflow_published_at: Option<i64>,
    /// Key that created the object.
    pub owner: Option<i64>,
    /// Key that made this version.
    pub editor: Option<i64>,
    pub title: Cow<'a, str>,
    pub schedule: Option<Schedule<'a>>,
}

/// When the current version is to be published (contract 13.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule<'a> {
    pub at: i64,
    /// IANA name of the place whose local time was meant.
    pub zone: Cow<'a, str>,
}

/// Which version of the objects of a type is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Edition {
    /// The newest version of every object.
    #[default]
    Current,
    /// The published version of the objects that have one: the public view of Draft & Public.
    Published,
}

impl StoredObject<'_> {
    pub fn into_owned(self) -> StoredObject<'static> {
        let internal = Internal {
            workflow_state: Cow::Owned(self.internal.workflow_state.into_owned()),
            title: Cow::Owned(self.internal.title.into_owned()),
            schedule: self.internal.schedule.map(Schedule::into_owned),
            ..self.internal
        };
        StoredObject {
            pk: self.pk,
            id: Cow::Owned(self.id.into_owned()),
            internal,
            data: Cow::Owned(self.data.into_owned()),
        }
    }
}

impl Schedule<'_> {
    fn into_owned(self) -> Schedule<'static> {
        Schedule { at: self.at, zone: Cow::Owned(self.zone.into_owned()) }
    }
}

/// Draft & Public status. Types without Draft & Public only know `Public`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Draft,
    Public,
    Modified,
    Archived,
}

impl Status {
    pub const ALL: [Self; 4] = [Self::Draft, Self::Public, Self::Modified, Self::Archived];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Public => "public",
            Self::Modified => "modified",
            Self::Archived => "archived",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }

    /// The status of a new object.
    pub fn initial(draft_public: bool) -> Self {
        if draft_public { Self::Draft } else { Self::Public }
    }

    /// Tells whether readers of a type with Draft & Public see the object in some version.
    pub fn is_published(self) -> bool {
        matches!(self, Self::Public | Self::Modified)
    }

    /// The status after an edit (contract 4.2).
    #[must_use]
    pub fn edited(self, draft_public: bool) -> Self {
        if draft_public && self == Self::Public { Self::Modified } else { self }
    }
}
