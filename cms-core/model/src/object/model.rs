//! A stored content object.
//!
//! [`StoredObject`] borrows from a database row where possible, to avoid copies. It knows no
//! content type; validation is in [`super::validate`].

use std::borrow::Cow;

/// One version of an object.
#[derive(Clone, Debug)]
pub struct StoredObject<'a> {
    /// Primary key of the object; ascending in the order of creation.
    pub pk: i64,
    pub id: Cow<'a, str>,
    pub internal: Internal<'a>,
    /// The properties as compact JSON, without `id` and `internal`.
    pub data: Cow<'a, str>,
}

/// The metadata in `internal`, see docs/reference/objects.md#object-format. Times are seconds since
/// the epoch.
#[derive(Clone, Debug)]
pub struct Internal<'a> {
    pub created_at: i64,
    pub updated_at: i64,
    /// None for objects that are not deleted.
    pub deleted_at: Option<i64>,
    pub version: i64,
    /// Time of this version.
    pub version_at: i64,
    pub status: Status,
    pub public_version: Option<i64>,
    pub published_at: Option<i64>,
    pub workflow_state: Cow<'a, str>,
    pub workflow_public_version: Option<i64>,
    pub workflow_published_at: Option<i64>,
    /// Primary key of the actor (key or user) that created the object.
    pub owner: Option<i64>,
    /// Primary key of the actor that created this version.
    pub editor: Option<i64>,
    pub title: Cow<'a, str>,
    pub schedule: Option<Schedule<'a>>,
}

/// Scheduled publication of the current version, see
/// docs/reference/publishing.md#scheduled-publication
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule<'a> {
    pub at: i64,
    /// IANA name of the time zone in the request.
    pub zone: Cow<'a, str>,
}

/// The version of objects that a read returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Edition {
    /// The newest version of every object.
    #[default]
    Current,
    /// The published version of the objects that have one: the public view of Draft & Public.
    Published,
}

impl Edition {
    pub const ALL: [Self; 2] = [Self::Current, Self::Published];
}

/// The columns that a read fetches of each object. SQLite stores the properties of a large object in
/// overflow pages. To avoid reading these, a second copy of the indexed properties is stored beside the
/// other columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Columns {
    #[default]
    All,
    /// Everything except the properties, which are then `{}`.
    WithoutProperties,
    /// Only the indexed properties, by slot: `IndexedProperties::object` makes an object of them.
    IndexedProperties,
}

/// Returns the size of an object as JSON, from the size of its properties: the complete object also has the member
/// `"id":"…",`.
pub fn object_bytes(id: &str, data: usize) -> usize {
    data + id.len() + 8
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

crate::named_enum! {
    /// Draft & Public status. Objects of types without Draft & Public are always `Public`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Status {
        Draft => "draft",
        Public => "public",
        Modified => "modified",
        Archived => "archived",
    }
}

impl Status {
    /// The status of a new object.
    pub fn initial(draft_public: bool) -> Self {
        if draft_public { Self::Draft } else { Self::Public }
    }

    /// Returns whether the object has a published version.
    pub fn is_published(self) -> bool {
        matches!(self, Self::Public | Self::Modified)
    }

    /// The status after an edit, see docs/reference/publishing.md#statuses
    #[must_use]
    pub fn edited(self, draft_public: bool) -> Self {
        if draft_public && self == Self::Public { Self::Modified } else { self }
    }
}
