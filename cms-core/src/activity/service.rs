//! Reads the activity log.

use std::ops::Range;

use cms_model::{
    auth::scope::Access,
    clock::Timestamp,
    context::Caller,
    dates,
    error::{Error, Result},
    limits,
    wire::{
        activity::{Activity, ActivityPage, ActivityRequest},
        author::Author,
        list::is_named,
    },
};
use cms_store::{ActivityEntry, ActivityFilter, Authors, Event, JournalEvent, Reader};

use crate::{change::service::may_read, cms::service};

/// Journal rows per read, after the first.
const BATCH_ROWS: usize = 500;

/// Maximum time by which a row may be older than rows with a lower `seq`: a write reads the clock before it waits for
/// earlier writes.
const MAX_DISORDER_MICROS: i64 = 60_000_000;

service! {
    /// The activity log.
    ActivityLog, activity
}

impl ActivityLog<'_> {
    /// Returns the entries that the caller may read, newest first.
    ///
    /// A page scans a limited number of rows. So it may be short, or empty, although another page
    /// follows.
    pub fn list(&self, caller: &Caller, request: &ActivityRequest) -> Result<ActivityPage> {
        let times = request.times()?;
        self.cms.store.read(|reader| {
            let Some(filter) = filter(reader, request)? else {
                return Ok(ActivityPage { data: Vec::new(), next: None, more: false });
            };
            let part = part(reader, times.as_ref())?;
            let matcher = Matcher { caller, request, times };
            let mut before = request.before.unwrap_or(i64::MAX).min(part.end);
            let (mut data, mut scanned, mut more) = (Vec::new(), 0, true);
            // Usually the newest rows match.
            let mut rows = (request.limit as usize + 1).min(BATCH_ROWS);
            while more
                && data.len() < request.limit as usize
                && scanned < limits::MAX_CHANGES_SCANNED
            {
                let entries = reader.activity_in(filter, part.start..before, rows)?;
                more = entries.len() == rows;
                rows = BATCH_ROWS;
                scanned += entries.len();
                let authors = reader.authors(entries.iter().map(|entry| entry.actor))?;
                for entry in entries {
                    if data.len() == request.limit as usize {
                        more = true;
                        break;
                    }
                    before = entry.seq;
                    data.extend(matcher.to_activity(&authors, entry)?);
                }
            }
            Ok(ActivityPage { data, next: more.then(|| before.to_string()), more })
        })
    }
}

/// Chooses the rows to read; none when no row can match.
fn filter<'r>(
    reader: &Reader<'_>,
    request: &'r ActivityRequest,
) -> Result<Option<ActivityFilter<'r>>> {
    let actor = request.by.as_ref().map(|by| reader.actor_pk(by)).transpose()?;
    if actor == Some(None) {
        return Ok(None);
    }
    // If a request has both conditions, the id is used: an object has fewer changes than an actor
    // makes. The matcher checks `by`.
    Ok(Some(match (&request.id, actor.flatten()) {
        (Some(id), _) => ActivityFilter::Id(id),
        (None, Some(pk)) => ActivityFilter::Actor(pk),
        (None, None) => ActivityFilter::All,
    }))
}

/// The part of the journal that holds all rows of these times.
fn part(reader: &Reader<'_>, times: Option<&Range<Timestamp>>) -> Result<Range<i64>> {
    let Some(times) = times else { return Ok(i64::MIN..i64::MAX) };
    let position = |time: i64| reader.journal_position_at(Timestamp(time));
    let from = position(times.start.0.saturating_sub(MAX_DISORDER_MICROS))?;
    Ok(from..position(times.end.0.saturating_add(MAX_DISORDER_MICROS))?)
}

/// The conditions of a request.
struct Matcher<'a> {
    caller: &'a Caller,
    request: &'a ActivityRequest,
    times: Option<Range<Timestamp>>,
}

impl Matcher<'_> {
    /// Converts a row to an entry; none when the request does not match it, or the caller may not
    /// read it.
    fn to_activity(&self, authors: &Authors, entry: ActivityEntry) -> Result<Option<Activity>> {
        let Some(action) = action(entry.event) else { return Ok(None) };
        if self.times.as_ref().is_some_and(|times| !times.contains(&entry.at)) {
            return Ok(None);
        }
        let (name, by) = (entry.content_type.as_deref(), authors.author_of(entry.actor));
        let Some(by) = self.visible_author(&entry, by, name.unwrap_or_default()) else {
            return Ok(None);
        };
        let is_wanted = is_named(self.request.actions.as_deref(), action)
            && is_named(self.request.content_types.as_deref(), name.unwrap_or_default())
            && self.request.by.as_ref().is_none_or(|wanted| by.id.as_ref() == Some(wanted));
        if !is_wanted {
            return Ok(None);
        }
        let mut properties: Option<Vec<String>> = match (entry.event, &entry.properties) {
            (JournalEvent::Content(Event::ObjectCreated | Event::ObjectUpdated), Some(names)) => {
                Some(serde_json::from_str(names).map_err(Error::internal)?)
            }
            _ => None,
        };
        if let Some(names) = &mut properties {
            names.truncate(limits::MAX_ACTIVITY_PROPERTIES);
        }
        Ok(Some(Activity {
            seq: entry.seq,
            at: dates::microsecond_date(entry.at),
            action: action.to_owned(),
            content_type: entry.content_type.filter(|name| !name.is_empty()),
            id: entry.id,
            version: entry.version,
            object_title: entry.title,
            properties,
            by,
        }))
    }

    /// Returns the author as the caller sees it; none when the caller may not read the entry.
    fn visible_author(
        &self,
        entry: &ActivityEntry,
        by: Author,
        content_type: &str,
    ) -> Option<Author> {
        let JournalEvent::Content(event) = entry.event else {
            return self.caller.is_admin().then_some(by);
        };
        // The trash is visible to those who may delete.
        let sees_trash =
            self.caller.may(Access::READ_DELETED, content_type) && !self.caller.is_read_only();
        let may_read = !content_type.is_empty()
            && (event != Event::TrashRemoved || sees_trash)
            && entry.audience.includes(self.caller)
            && may_read(self.caller, entry.is_object_change, content_type);
        may_read.then(|| by.shown_to(self.caller, content_type))
    }
}

/// The action of an event; none for internal rows.
fn action(event: JournalEvent) -> Option<&'static str> {
    Some(match event {
        JournalEvent::Content(Event::ObjectUnscheduled) => "unschedule",
        JournalEvent::Content(Event::ObjectRestored) => "restore",
        JournalEvent::Content(Event::TrashRemoved) => "trash.remove",
        JournalEvent::Content(other) => return crate::change::service::action(other),
        JournalEvent::Management(event) => event.as_str(),
    })
}
