//! The journal: one row per change, in the transaction that makes it.

use rusqlite::params;

use super::{Writer, error::map};
use crate::{clock::Timestamp, error::Result};

/// What happened, as the journal spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    ObjectCreated,
    ObjectUpdated,
    ObjectDeleted,
    ObjectPublished,
    ObjectUnpublished,
    ObjectArchived,
    /// A schedule was set, changed or removed.
    ObjectScheduled,
    /// A transition of a workflow.
    ObjectMoved,
    TypeCreated,
    TypeUpdated,
    TypeDeleted,
    /// All objects of a type went at once.
    TypePurged,
}

impl Event {
    fn as_str(self) -> &'static str {
        match self {
            Self::ObjectCreated => "object.create",
            Self::ObjectUpdated => "object.update",
            Self::ObjectDeleted => "object.delete",
            Self::ObjectPublished => "object.publish",
            Self::ObjectUnpublished => "object.unpublish",
            Self::ObjectArchived => "object.archive",
            Self::ObjectScheduled => "object.schedule",
            Self::ObjectMoved => "object.transition",
            Self::TypeCreated => "type.create",
            Self::TypeUpdated => "type.update",
            Self::TypeDeleted => "type.delete",
            Self::TypePurged => "type.purge",
        }
    }
}

impl Writer<'_> {
    /// Appends an event about a type, or about one object of it.
    pub(crate) fn log(
        &self,
        event: Event,
        at: Timestamp,
        ctd: i64,
        object: Option<i64>,
    ) -> Result<()> {
        self.statement(
            "INSERT INTO journal (nonce, at, kind, ctd, object) VALUES (random(), ?1, ?2, ?3, ?4)",
        )?
        .execute(params![at.0, event.as_str(), ctd, object])
        .map_err(map)?;
        Ok(())
    }
}
