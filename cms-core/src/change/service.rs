//! Reads the change feed.

use cms_model::{
    auth::scope::Access,
    context::Caller,
    dates,
    error::{Error, Result},
    limits, message,
    wire::{
        change::{Change, Changes as Page, ChangesRequest, Position},
        list::is_named,
    },
};
use cms_store::{Authors, DetailedEntry, Event, JournalPosition, Reader};

use crate::cms::service;

/// Journal rows per read.
const BATCH_ROWS: usize = 500;

service! {
    /// The change feed.
    Changes, changes
}

impl Changes<'_> {
    /// Returns the changes that the caller may read, oldest first.
    ///
    /// A client that continues at the end of a page gets every change once, also after a restart.
    ///
    /// # Errors
    /// [`Error::Gone`] when changes after the position are removed, or the position is not of this
    /// journal: then the client has to read all content again.
    pub fn after(&self, caller: &Caller, request: &ChangesRequest) -> Result<Page> {
        self.cms.store.read(|reader| {
            let head = reader.journal_head()?;
            let Some(since) = request.since else {
                return Ok(Page { data: Vec::new(), next: position(head), more: false });
            };
            let (mut next, mut found) = (find(reader, since, head)?, Vec::new());
            let mut scanned = 0;
            let is_full = |found: &Vec<DetailedEntry>, scanned| {
                found.len() >= request.limit as usize || scanned >= limits::MAX_CHANGES_SCANNED
            };
            while next.seq < head.seq && !is_full(&found, scanned) {
                for entry in reader.detailed_entries_after(next.seq, BATCH_ROWS)? {
                    next = position(entry.position);
                    scanned += 1;
                    // Rows of older versions lack the name of the type: they count as removed.
                    let name = entry.content_type.as_deref().ok_or_else(expired)?;
                    if is_named(request.content_types.as_deref(), name)
                        && entry.event.and_then(action).is_some()
                        && entry.audience.includes(caller)
                        && may_read(caller, entry.object.is_some(), name)
                    {
                        found.push(entry);
                    }
                    if is_full(&found, scanned) {
                        break;
                    }
                }
            }
            let authors = reader.authors(found.iter().map(|entry| entry.actor))?;
            let data = found.into_iter().filter_map(|entry| to_change(caller, &authors, entry));
            let data = data.collect();
            Ok(Page { data, next, more: next.seq < head.seq })
        })
    }
}

/// Finds a position in the journal.
fn find(reader: &Reader<'_>, since: Position, head: JournalPosition) -> Result<Position> {
    if let Some(entry) = reader.journal_entry(since.seq)? {
        let found = position(entry.position);
        let is_same = since.nonce.is_none_or(|nonce| found.nonce == Some(nonce));
        return if is_same { Ok(found) } else { Err(expired()) };
    }
    // A position remains valid after its row was removed, as long as the next row exists. Without the
    // row, its nonce cannot be checked.
    let start = reader.journal_start()?.unwrap_or(head.seq + 1);
    let is_known = since.seq <= head.seq && since.seq + 1 >= start;
    if is_known { Ok(since) } else { Err(expired()) }
}

fn expired() -> Error {
    Error::Gone(message::CHANGES_EXPIRED.to_owned())
}

fn position(position: JournalPosition) -> Position {
    Position::new(position.seq, position.nonce)
}

/// Whether the caller may read a change. A change of an object needs the right to read its type; a change
/// of a type is read by all callers that see the type.
pub(crate) fn may_read(caller: &Caller, is_object_change: bool, content_type: &str) -> bool {
    if is_object_change {
        caller.may(Access::READ, content_type)
    } else {
        caller.sees_type(content_type)
    }
}

/// Converts a row to a change; none for rows that the feed does not show.
fn to_change(caller: &Caller, authors: &Authors, entry: DetailedEntry) -> Option<Change> {
    let content_type = entry.content_type?;
    let by = authors.author_of(entry.actor).shown_to(caller, &content_type);
    let (id, version) = entry.object.map(|object| (object.id, object.version)).unzip();
    Some(Change {
        seq: entry.position.seq,
        at: dates::microsecond_date(entry.at),
        action: action(entry.event?)?,
        content_type,
        id,
        version,
        by,
        position: position(entry.position),
    })
}

/// The action of an event; none for events that the feed does not show.
pub(crate) fn action(event: Event) -> Option<&'static str> {
    Some(match event {
        Event::ObjectCreated | Event::ObjectRestored => "create",
        Event::ObjectUpdated => "update",
        Event::ObjectDeleted => "delete",
        Event::ObjectPublished => "publish",
        Event::ObjectUnpublished => "unpublish",
        Event::ObjectArchived => "archive",
        Event::ObjectScheduled | Event::ObjectUnscheduled => "schedule",
        Event::ObjectTransitioned => "transition",
        Event::TypeCreated => "type.create",
        Event::TypeUpdated => "type.update",
        Event::TypeDeleted => "type.delete",
        Event::TypePurged => "type.purge",
        Event::TrashRemoved | Event::ReindexRequested => return None,
    })
}
