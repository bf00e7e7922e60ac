//! The journal: one row per change, written in the transaction of the change.

use cms_model::{
    clock::Timestamp,
    context::Stamp,
    error::Result,
    object::{title::listed_title, view::Audience},
};
use rusqlite::{Row, params};

use super::{Reader, WriteTransaction, actor::ActorRef, error::map, named};

cms_model::named_enum! {
    /// The kind of a change of content: change feed, webhooks, search index and the activity log
    /// read it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Event {
        ObjectCreated => "object.create",
        ObjectUpdated => "object.update",
        ObjectDeleted => "object.delete",
        /// An object returned from the trash.
        ObjectRestored => "object.restore",
        /// An object was removed from the trash.
        TrashRemoved => "trash.remove",
        ObjectPublished => "object.publish",
        ObjectUnpublished => "object.unpublish",
        ObjectArchived => "object.archive",
        /// A schedule was set or changed. Earlier versions of cms also wrote it when one was removed.
        ObjectScheduled => "object.schedule",
        ObjectUnscheduled => "object.unschedule",
        /// A workflow transition.
        ObjectTransitioned => "object.transition",
        TypeCreated => "type.create",
        TypeUpdated => "type.update",
        TypeDeleted => "type.delete",
        /// All objects of a type were deleted together.
        TypePurged => "type.purge",
        /// A reindex was requested, of one type or, with primary key 0, of all types.
        // The stored name, kept for old databases.
        ReindexRequested => "index.want",
    }
}

cms_model::named_enum! {
    /// A change of a key, user or workflow, or a sign-in, in the journal and in the API.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ManagementEvent {
        UserCreated => "user.create",
        UserUpdated => "user.update",
        UserDeleted => "user.delete",
        KeyCreated => "key.create",
        KeyUpdated => "key.update",
        KeyRotated => "key.rotate",
        KeyDeleted => "key.delete",
        WorkflowCreated => "workflow.create",
        WorkflowUpdated => "workflow.update",
        WorkflowDeleted => "workflow.delete",
        SessionCreated => "session.create",
    }
}

/// The kind of a row of the journal, as the activity log reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalEvent {
    Content(Event),
    /// Only the activity log shows it.
    Management(ManagementEvent),
}

/// A position in the journal. `nonce` is the random number of the row `seq`. It tells histories
/// apart: after a restore to an older state, the row with the same `seq` has another nonce.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JournalPosition {
    pub seq: i64,
    pub nonce: i64,
}

/// A change to be written to the journal.
#[derive(Clone, Copy, Debug)]
pub struct JournalChange<'a> {
    pub event: Event,
    pub stamp: Stamp,
    /// Primary key and name of the type; 0 and an empty name when the change concerns all types.
    pub content_type: (i64, &'a str),
    pub object: Option<ChangedObject<'a>>,
}

/// The object of a change.
#[derive(Clone, Copy, Debug)]
pub struct ChangedObject<'a> {
    pub pk: i64,
    pub id: &'a str,
    /// Its current version, or its last version when it is deleted.
    pub version: i64,
    pub title: &'a str,
    /// For a new version: the names of the changed properties as a JSON array.
    pub changed: Option<&'a str>,
    pub audience: Audience,
}

/// A row of the journal, with the fields that the change feed and webhooks read.
#[derive(Clone, Debug)]
pub struct DetailedEntry {
    pub position: JournalPosition,
    pub at: Timestamp,
    /// None for a change of a key, user or workflow, or a sign-in.
    pub event: Option<Event>,
    /// Primary key of the type.
    pub ctd: i64,
    /// Its name; none in rows written by earlier versions of cms.
    pub content_type: Option<String>,
    pub object: Option<EntryObject>,
    pub audience: Audience,
    pub actor: ActorRef,
}

/// The object of a row.
#[derive(Clone, Debug)]
pub struct EntryObject {
    pub pk: i64,
    pub id: String,
    pub version: i64,
}

/// A request to rebuild the search index, stored as consecutive rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReindexRequest {
    /// `seq` of the first and the last row.
    pub rows: (i64, i64),
    pub at: Timestamp,
    pub actor: ActorRef,
    /// Primary keys and names of the types; 0 stands for all types.
    pub content_types: Vec<(i64, String)>,
}

/// A row of the journal, with the fields that the search index reads.
#[derive(Clone, Copy, Debug)]
pub struct JournalEntry {
    pub position: JournalPosition,
    /// None for a change of a key, user or workflow, or a sign-in.
    pub event: Option<Event>,
    pub ctd: i64,
    pub object: Option<i64>,
}

impl JournalEvent {
    fn parse(kind: &str) -> Option<Self> {
        let management = || ManagementEvent::parse(kind).map(Self::Management);
        Event::parse(kind).map(Self::Content).or_else(management)
    }

    /// Reads the third column of a row, the kind.
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        named(row, 2, Self::parse)
    }

    fn of_content(self) -> Option<Event> {
        match self {
            Self::Content(event) => Some(event),
            Self::Management(_) => None,
        }
    }
}

/// Reads seq, nonce and kind.
fn position_and_event(row: &Row<'_>) -> rusqlite::Result<(JournalPosition, Option<Event>)> {
    let position = JournalPosition { seq: row.get(0)?, nonce: row.get(1)? };
    Ok((position, JournalEvent::read(row)?.of_content()))
}

/// Reads seq, nonce, kind, ctd and object.
fn entry(row: &Row<'_>) -> rusqlite::Result<JournalEntry> {
    let (position, event) = position_and_event(row)?;
    Ok(JournalEntry { position, event, ctd: row.get(3)?, object: row.get(4)? })
}

/// Reads seq, nonce, kind, at, and the fields of the change feed.
fn feed_entry(row: &Row<'_>) -> rusqlite::Result<DetailedEntry> {
    let (position, event) = position_and_event(row)?;
    let object = match (row.get(6)?, row.get(7)?, row.get(8)?) {
        (Some(pk), Some(id), Some(version)) => Some(EntryObject { pk, id, version }),
        _ => None,
    };
    Ok(DetailedEntry {
        position,
        event,
        at: Timestamp(row.get(3)?),
        ctd: row.get(4)?,
        content_type: row.get(5)?,
        object,
        audience: Audience::from_number(row.get(9)?),
        actor: ActorRef::from_column(row.get(10)?),
    })
}

const REINDEX_REQUESTS: &str = "
    SELECT seq, at, actor, ctd, type_name FROM journal WHERE kind = 'index.want' ORDER BY seq DESC";

/// Reads a row as a request of its own.
fn reindex_request(row: &Row<'_>) -> rusqlite::Result<ReindexRequest> {
    let (seq, name) = (row.get(0)?, row.get::<_, Option<String>>(4)?.unwrap_or_default());
    Ok(ReindexRequest {
        rows: (seq, seq),
        at: Timestamp(row.get(1)?),
        actor: ActorRef::from_column(row.get(2)?),
        content_types: vec![(row.get(3)?, name)],
    })
}

impl ReindexRequest {
    pub fn covers_all_types(&self) -> bool {
        self.content_types.iter().any(|(ctd, _)| *ctd == 0)
    }

    /// Whether this continues the request of an earlier row.
    fn continues(&self, earlier: &Self) -> bool {
        let is_of_types = !self.covers_all_types() && !earlier.covers_all_types();
        let is_consecutive = earlier.rows.1 + 1 == self.rows.0;
        is_of_types && is_consecutive && (earlier.at, &earlier.actor) == (self.at, &self.actor)
    }

    fn prepend(&mut self, earlier: Self) {
        self.rows.0 = earlier.rows.0;
        self.content_types.splice(0..0, earlier.content_types);
    }
}

impl Reader<'_> {
    /// Returns the position of the newest row.
    pub fn journal_head(&self) -> Result<JournalPosition> {
        let sql = "SELECT seq, nonce FROM journal ORDER BY seq DESC LIMIT 1";
        let head = self.query_optional(sql, [], |row| {
            Ok(JournalPosition { seq: row.get(0)?, nonce: row.get(1)? })
        })?;
        Ok(head.unwrap_or_default())
    }

    /// Returns the `seq` of the oldest remaining row.
    pub fn journal_start(&self) -> Result<Option<i64>> {
        self.query_value("SELECT min(seq) FROM journal", [])
    }

    /// Returns the rows after a position with all fields of the change feed, oldest first.
    pub fn detailed_entries_after(&self, seq: i64, limit: usize) -> Result<Vec<DetailedEntry>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.query_rows(
            "SELECT seq, nonce, kind, at, ctd, type_name, object, object_id, version, audience,
                    actor
             FROM journal WHERE seq > ?1 ORDER BY seq LIMIT ?2",
            [seq, limit],
            feed_entry,
        )
    }

    /// Returns the row with this `seq`; none if it was never written or was removed.
    pub fn journal_entry(&self, seq: i64) -> Result<Option<JournalEntry>> {
        self.query_optional(
            "SELECT seq, nonce, kind, ctd, object FROM journal WHERE seq = ?1",
            [seq],
            entry,
        )
    }

    /// Returns the newest requests to rebuild the search index, newest first, at most `limit` and
    /// none older than the newest request that covers all types.
    pub fn reindex_requests(&self, limit: usize) -> Result<Vec<ReindexRequest>> {
        let mut requests: Vec<ReindexRequest> = Vec::new();
        let mut statement = self.statement(REINDEX_REQUESTS)?;
        let mut rows = statement.query([]).map_err(map)?;
        while let Some(row) = rows.next().map_err(map)? {
            let row = reindex_request(row).map_err(map)?;
            let is_full = requests.len() == limit;
            match requests.last_mut() {
                Some(last) if last.continues(&row) => last.prepend(row),
                Some(last) if last.covers_all_types() => break,
                _ if is_full => break,
                _ => requests.push(row),
            }
        }
        Ok(requests)
    }

    /// Returns whether the oldest row is before a position and older than a time.
    pub fn has_journal_before(&self, before: i64, older_than: Timestamp) -> Result<bool> {
        self.query_value(
            "SELECT EXISTS (SELECT 1 FROM (SELECT seq, at FROM journal ORDER BY seq LIMIT 1)
                            WHERE seq < ?1 AND at < ?2)",
            [before, older_than.0],
        )
    }

    /// Returns the rows after a position, oldest first.
    pub fn journal_after(&self, seq: i64, limit: usize) -> Result<Vec<JournalEntry>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.query_rows(
            "SELECT seq, nonce, kind, ctd, object FROM journal WHERE seq > ?1
             ORDER BY seq LIMIT ?2",
            [seq, limit],
            entry,
        )
    }
}

impl WriteTransaction<'_> {
    /// Appends a row.
    pub fn append_to_journal(&self, change: &JournalChange<'_>) -> Result<()> {
        let ((ctd, name), object) = (change.content_type, change.object);
        let audience = object.map_or(Audience::Everyone, |object| object.audience);
        self.execute(
            "INSERT INTO journal (nonce, at, kind, ctd, object, type_name, object_id, version,
                 audience, actor, title, properties)
             VALUES (random(), ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                change.stamp.at.0,
                change.event.as_str(),
                ctd,
                object.map(|object| object.pk),
                name,
                object.map(|object| object.id),
                object.map(|object| object.version),
                audience.number(),
                change.stamp.actor,
                object.map(|object| listed_title(object.title)),
                object.and_then(|object| object.changed),
            ],
        )
    }

    /// Appends a row about a type.
    pub fn append_type_to_journal(
        &self,
        event: Event,
        stamp: Stamp,
        content_type: (i64, &str),
    ) -> Result<()> {
        self.append_to_journal(&JournalChange { event, stamp, content_type, object: None })
    }

    /// Appends a row about a key, user or workflow with this id and name.
    pub fn append_management_to_journal(
        &self,
        event: ManagementEvent,
        stamp: Stamp,
        id: &str,
        name: &str,
    ) -> Result<()> {
        let (audience, kind) = (Audience::Everyone.number(), event.as_str());
        self.execute(
            "INSERT INTO journal (nonce, at, kind, ctd, type_name, object_id, audience, actor,
                 title)
             VALUES (random(), ?1, ?2, 0, '', ?3, ?4, ?5, ?6)",
            params![stamp.at.0, kind, id, audience, stamp.actor, name],
        )
    }

    /// Removes rows before a position that are older than a time.
    pub fn delete_journal_before(&self, before: i64, older_than: Timestamp) -> Result<()> {
        self.execute("DELETE FROM journal WHERE seq < ?1 AND at < ?2", [before, older_than.0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::database_with;

    #[test]
    fn reindex_requests_are_found_by_their_index() {
        let (_folder, database) = database_with(
            "INSERT INTO journal (seq, nonce, at, kind, ctd, type_name, actor) VALUES
                 (1, 0, 1, 'index.want', 7, 'a', NULL),
                 (2, 0, 2, 'index.want', 0, '', NULL),
                 (3, 0, 3, 'index.want', 7, 'a', NULL),
                 (4, 0, 3, 'index.want', 8, 'b', NULL),
                 (5, 0, 3, 'object.create', 8, 'b', NULL),
                 (6, 0, 3, 'index.want', 8, 'b', NULL),
                 (7, 0, 4, 'index.want', 7, 'a', NULL)",
        );
        let rows = |limit| {
            let requests = Reader::new(&database).reindex_requests(limit).unwrap();
            requests.iter().map(|request| request.rows).collect::<Vec<_>>()
        };
        assert_eq!(rows(10), [(7, 7), (6, 6), (3, 4), (2, 2)]);
        assert_eq!(rows(2), [(7, 7), (6, 6)]);
        let plan = format!("EXPLAIN QUERY PLAN {REINDEX_REQUESTS}");
        let plan: String = database.query_row(&plan, [], |row| row.get("detail")).unwrap();
        assert!(plan.contains("journal_reindex"), "{plan}");
    }
}
