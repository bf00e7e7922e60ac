//! Rebuilds the index, for operators (see docs/reference/search.md#the-search-index).
//!
//! A request is stored as rows of the journal, so the process that writes the index reads it in
//! order, whenever that process starts. A job is identified by the position of these rows; its
//! progress follows from the position of the index.

use cms_model::{
    context::Caller,
    error::{Error, FieldErrors, Result},
    message, read,
    wire::search::{ReindexCreated, ReindexJob, ReindexState},
};
use cms_search::TypeReindex;
use cms_store::{Event, Reader};
use serde_json::{Map, Value};

use super::{indexer::Stage, service::Searching};

const KIND: &str = "reindex";
const CONTENT_TYPES: &str = "contentTypes";

impl Searching<'_> {
    /// Requests a new index of the types in the payload, or of all.
    ///
    /// # Errors
    /// [`Error::Forbidden`] without an admin key, [`Error::Invalid`] for types that do not exist.
    pub fn reindex(&self, caller: &Caller, payload: &Map<String, Value>) -> Result<ReindexCreated> {
        caller.require_admin()?;
        let names = read_names(payload)?;
        let stamp = caller.stamp(self.cms.config.clock.now());
        self.cms.write_with_catalog(move |writer, catalog| {
            let first = writer.journal_head()?.seq + 1;
            let Some(names) = names else {
                writer.log_type(Event::ReindexRequested, stamp, (0, ""))?;
                return Ok(ReindexCreated { id: first.to_string() });
            };
            let mut errors = FieldErrors::default();
            for (index, name) in names.iter().enumerate() {
                if let Some(known) = catalog.find(name) {
                    writer.log_type(Event::ReindexRequested, stamp, (known.pk, known.name()))?;
                } else {
                    let path = format!("{CONTENT_TYPES}[{index}]");
                    errors.add(path, message::NOT_IN_DATABASE);
                }
            }
            errors.into_result()?;
            let last = writer.journal_head()?.seq;
            Ok(ReindexCreated { id: format!("{first}-{last}") })
        })
    }

    /// Returns the progress of a job.
    pub fn job(&self, caller: &Caller, id: &str) -> Result<ReindexJob> {
        caller.require_admin()?;
        let unknown = || Error::NotFound { what: "job", name: id.to_owned() };
        let (first, last) = id.split_once('-').unwrap_or((id, id));
        let (Ok(first), Ok(last)) = (first.parse::<i64>(), last.parse::<i64>()) else {
            return Err(unknown());
        };
        let (wanted, total) = self.cms.store.read(|reader| {
            let Some(ctds) = wanted(reader, first, last)? else { return Err(unknown()) };
            let total = objects(reader, &ctds)?;
            Ok((ctds, total))
        })?;
        let (stage, error) = self.cms.index.stage(last, &wanted)?;
        let (state, done) = match stage {
            Stage::Waiting => (ReindexState::Waiting, 0),
            Stage::Running(pending) => {
                let left = self.cms.store.read(|reader| left(reader, &pending))?;
                (ReindexState::Running, total.saturating_sub(left))
            }
            Stage::Done => (ReindexState::Done, total),
        };
        Ok(ReindexJob { id: id.to_owned(), kind: KIND.to_owned(), state, done, total, error })
    }
}

/// Parses the names in a payload; none means all types.
fn read_names(payload: &Map<String, Value>) -> Result<Option<Vec<String>>> {
    let mut errors = FieldErrors::default();
    let names = read::strings(payload, CONTENT_TYPES, "", &mut errors);
    let names = names.into_iter().map(str::to_owned).collect();
    errors.into_result()?;
    Ok(payload.contains_key(CONTENT_TYPES).then_some(names))
}

/// The types that a range of journal rows requests to reindex; none for other rows.
fn wanted(reader: &Reader<'_>, first: i64, last: i64) -> Result<Option<Vec<i64>>> {
    let mut ctds = Vec::new();
    for seq in first..=last {
        match reader.journal_entry(seq)? {
            Some(entry) if entry.event == Event::ReindexRequested => ctds.push(entry.ctd),
            _ => return Ok(None),
        }
    }
    Ok((!ctds.is_empty()).then_some(ctds))
}

/// The number of objects of types; type 0 stands for all.
fn objects(reader: &Reader<'_>, ctds: &[i64]) -> Result<u64> {
    let mut total = 0;
    for &ctd in ctds {
        total += if ctd == 0 { reader.live_objects()? } else { reader.type_state(ctd)?.live };
    }
    Ok(total)
}

/// The number of objects still to be indexed.
fn left(reader: &Reader<'_>, pending: &[TypeReindex]) -> Result<u64> {
    let mut left = 0;
    for reindex in pending {
        left += reader.type_state(reindex.ctd)?.live.saturating_sub(reindex.done);
    }
    Ok(left)
}
