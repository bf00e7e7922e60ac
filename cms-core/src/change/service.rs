//! Reads the change feed.

use cms_model::{
    auth::scope::Access,
    context::Caller,
    dates,
    error::{Error, Result},
    limits, message,
    object::view::Audience,
    wire::change::{Change, Changes as Page, ChangesRequest, Position},
};
use cms_store::{Event, FeedEntry, Place, Reader};

use crate::cms::Cms;

/// Journal rows per read.
const BATCH_ROWS: usize = 500;

/// The change feed.
pub struct Changes<'a> {
    pub(crate) cms: &'a Cms,
}

impl Cms {
    /// The kind of the change.
    pub fn changes(&self) -> Changes<'_> {
        Changes { cms: self }
    }
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
            let (mut next, mut data) = (find(reader, since, head)?, Vec::new());
            let (mut scanned, audience) = (0, Audience::of_caller(caller));
            let is_full = |data: &Vec<Change>, scanned| {
                data.len() >= request.limit as usize || scanned >= limits::MAX_CHANGES_SCANNED
            };
            while next.seq < head.seq && !is_full(&data, scanned) {
                for entry in reader.feed_entries_after(next.seq, BATCH_ROWS)? {
                    next = position(entry.place);
                    scanned += 1;
                    let name = entry.content_type.as_deref().ok_or_else(forgotten)?;
                    let is_wanted = request
                        .content_types
                        .as_ref()
                        .is_none_or(|wanted| wanted.iter().any(|wanted| wanted == name));
                    if is_wanted && entry.audience >= audience && may_read(caller, &entry, name) {
                        data.extend(to_change(entry));
                    }
                    if is_full(&data, scanned) {
                        break;
                    }
                }
            }
            Ok(Page { data, next, more: next.seq < head.seq })
        })
    }
}

/// Finds a position in the journal.
fn find(reader: &Reader<'_>, since: Position, head: Place) -> Result<Position> {
    if let Some(entry) = reader.journal_entry(since.seq)? {
        let found = position(entry.place);
        let is_same = since.nonce.is_none_or(|nonce| found.nonce == Some(nonce));
        return if is_same { Ok(found) } else { Err(forgotten()) };
    }
    // The row itself may be removed, if the next one exists.
    let start = reader.journal_start()?.unwrap_or(head.seq + 1);
    let is_known = since.seq <= head.seq && since.seq + 1 >= start;
    if is_known { Ok(since) } else { Err(forgotten()) }
}

fn forgotten() -> Error {
    Error::Gone(message::CHANGES_EXPIRED.to_owned())
}

fn position(place: Place) -> Position {
    Position::new(place.seq, place.nonce)
}

/// Whether the key may read a change: of an object with the right to read its type, of a type if it
/// is visible.
fn may_read(caller: &Caller, entry: &FeedEntry, content_type: &str) -> bool {
    match &entry.object {
        Some(_) => caller.may(Access::READ, content_type),
        None => caller.sees_type(content_type),
    }
}

/// Converts a row to a change; none for internal rows.
fn to_change(entry: FeedEntry) -> Option<Change> {
    let action = match entry.event {
        Event::ObjectCreated | Event::ObjectRestored => "create",
        Event::ObjectUpdated => "update",
        Event::ObjectDeleted => "delete",
        Event::ObjectPublished => "publish",
        Event::ObjectUnpublished => "unpublish",
        Event::ObjectArchived => "archive",
        Event::ObjectScheduled | Event::ObjectUnscheduled => "schedule",
        Event::ObjectMoved => "transition",
        Event::TypeCreated => "type.create",
        Event::TypeUpdated => "type.update",
        Event::TypeDeleted => "type.delete",
        Event::TypePurged => "type.purge",
        Event::TrashRemoved | Event::IndexWanted => return None,
    };
    let (id, version) = entry.object.map(|object| (object.id, object.version)).unzip();
    Some(Change {
        seq: entry.place.seq,
        at: dates::definition_date(entry.at),
        action,
        content_type: entry.content_type?,
        id,
        version,
        position: position(entry.place),
    })
}
