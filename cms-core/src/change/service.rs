//! Reading changes.

use cms_model::{
    auth::scope::Access,
    context::Caller,
    dates,
    error::{Error, Result},
    limits, message,
    object::view::Audience,
    wire::change::{Change, Changes as Page, ChangesRequest, Position},
};

use crate::{
    cms::Cms,
    store::{Event, Place, Reader, ToldEntry},
};

/// Rows that are read at a time.
const STEP: usize = 500;

/// What changed.
pub struct Changes<'a> {
    pub(crate) cms: &'a Cms,
}

impl Changes<'_> {
    /// Returns changes that the caller may learn of, oldest first.
    ///
    /// Who goes on where a page ends, be it at once or after a restart, gets every change once.
    ///
    /// # Errors
    /// [`Error::Gone`] when changes after that place are forgotten, or the place is none of this
    /// journal: then all content must be read anew.
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
                for entry in reader.journal_told_after(next.seq, STEP)? {
                    next = position(entry.place);
                    scanned += 1;
                    let name = entry.content_type.as_deref().ok_or_else(forgotten)?;
                    let is_wanted = request
                        .content_types
                        .as_ref()
                        .is_none_or(|wanted| wanted.iter().any(|wanted| wanted == name));
                    if is_wanted && entry.audience >= audience && may_learn(caller, &entry, name) {
                        data.extend(told(entry));
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

/// Finds a place in the journal.
fn find(reader: &Reader<'_>, since: Position, head: Place) -> Result<Position> {
    if let Some(entry) = reader.journal_entry(since.seq)? {
        let found = position(entry.place);
        let is_same = since.nonce.is_none_or(|nonce| found.nonce == Some(nonce));
        return if is_same { Ok(found) } else { Err(forgotten()) };
    }
    // Its own row may be forgotten, if the next one is not.
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

/// Tells whether the key allows to know of a change: of an object by who reads its type, of a type
/// by who sees it.
fn may_learn(caller: &Caller, entry: &ToldEntry, content_type: &str) -> bool {
    match &entry.object {
        Some(_) => caller.may(Access::READ, content_type),
        None => caller.sees_type(content_type),
    }
}

/// A row as it is told; none for those that are nobody's business.
fn told(entry: ToldEntry) -> Option<Change> {
    let action = match entry.event {
        Event::ObjectCreated => "create",
        Event::ObjectUpdated => "update",
        Event::ObjectDeleted => "delete",
        Event::ObjectPublished => "publish",
        Event::ObjectUnpublished => "unpublish",
        Event::ObjectArchived => "archive",
        Event::ObjectScheduled => "schedule",
        Event::ObjectMoved => "transition",
        Event::TypeCreated => "type.create",
        Event::TypeUpdated => "type.update",
        Event::TypeDeleted => "type.delete",
        Event::TypePurged => "type.purge",
        Event::IndexWanted => return None,
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
