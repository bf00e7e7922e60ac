//! Rebuilds the index, for operators (see docs/reference/search.md#the-search-index).
//!
//! A request is stored as rows of the journal, so the process that writes the index reads it in
//! order, whenever that process starts. A job is identified by the position of these rows; its
//! progress follows from the position of the index.

use std::collections::HashSet;

use cms_model::{
    content_type::catalog::Catalog,
    context::Caller,
    dates,
    error::{Error, FieldErrors, Result},
    limits, message, read,
    wire::{
        list::List,
        search::{ListedReindexJob, ReindexCreated, ReindexJob, ReindexState},
    },
};
use cms_search::TypeReindex;
use cms_store::{Event, Reader, ReindexRequest};
use serde_json::{Map, Value};

use super::{indexer::Stage, service::Searching};

const KIND: &str = "reindex";
const CONTENT_TYPES: &str = "contentTypes";

impl Searching<'_> {
    /// Requests a new index of the types in the payload, or of all.
    ///
    /// # Errors
    /// [`Error::Forbidden`] for a caller that is not an admin, [`Error::Invalid`] for types that do
    /// not exist.
    pub fn reindex(&self, caller: &Caller, payload: &Map<String, Value>) -> Result<ReindexCreated> {
        caller.require_admin()?;
        let names = read_names(payload)?;
        let stamp = caller.stamp(self.cms.now());
        self.cms.write_with_catalog(move |writer, catalog| {
            // Cached responses to searches may contain the errors of the old index.
            writer.increment_all_change_counters()?;
            let first = writer.journal_head()?.seq + 1;
            let Some(names) = names else {
                writer.append_type_to_journal(Event::ReindexRequested, stamp, (0, ""))?;
                return Ok(ReindexCreated { id: job_id((first, first), true) });
            };
            let (mut errors, mut seen) = (FieldErrors::default(), HashSet::new());
            for (index, name) in names.iter().enumerate() {
                if !seen.insert(name) {
                    continue;
                }
                if let Some(known) = catalog.find(name) {
                    writer.append_type_to_journal(
                        Event::ReindexRequested,
                        stamp,
                        (known.pk, known.name()),
                    )?;
                } else {
                    let path = format!("{CONTENT_TYPES}[{index}]");
                    errors.add(path, message::NOT_IN_DATABASE);
                }
            }
            errors.into_result()?;
            let last = writer.journal_head()?.seq;
            Ok(ReindexCreated { id: job_id((first, last), false) })
        })
    }

    /// Lists the jobs, newest first: of each type the newest one, so a job is left out when later
    /// ones rebuild all its types.
    pub fn jobs(&self, caller: &Caller) -> Result<List<ListedReindexJob>> {
        caller.require_admin()?;
        let (requests, authors) = self.cms.read_with_catalog(|reader, catalog| {
            let mut requests = reader.reindex_requests(limits::MAX_LISTED_REINDEX_JOBS)?;
            let mut listed = HashSet::new();
            requests.retain_mut(|request| {
                request.content_types.retain(|(ctd, _)| *ctd == 0 || exists(catalog, *ctd));
                // `any` would stop at the first new type, and the others would not be marked as listed.
                request.content_types.iter().filter(|(ctd, _)| listed.insert(*ctd)).count() > 0
            });
            let authors = reader.authors(requests.iter().map(|request| request.actor))?;
            Ok((requests, authors))
        })?;
        let to_listed = |request: ReindexRequest| {
            let is_all = request.covers_all_types();
            let names = request.content_types.into_iter().map(|(_, name)| name);
            Ok(ListedReindexJob {
                job: self.job(caller, &job_id(request.rows, is_all))?,
                content_types: (!is_all).then(|| names.collect()),
                by: authors.author_of(request.actor).shown_to(caller, ""),
                created_at: dates::microsecond_date(request.at),
            })
        };
        let jobs: Result<_> = requests.into_iter().map(to_listed).collect();
        Ok(List::single_page(jobs?))
    }

    /// Returns the progress of a job.
    pub fn job(&self, caller: &Caller, id: &str) -> Result<ReindexJob> {
        caller.require_admin()?;
        let unknown = || Error::not_found("job", id);
        let (first, last) = id.split_once('-').unwrap_or((id, id));
        let (Ok(first), Ok(last)) = (first.parse::<i64>(), last.parse::<i64>()) else {
            return Err(unknown());
        };
        let (wanted, total) = self.cms.read_with_catalog(|reader, catalog| {
            let Some(ctds) = wanted(reader, first, last)? else { return Err(unknown()) };
            let total = objects(reader, catalog, &ctds)?;
            Ok((ctds, total))
        })?;
        let (stage, error) = self.cms.index.stage(self.source(), last, &wanted)?;
        let (state, done) = match stage {
            Stage::Waiting => (ReindexState::Waiting, 0),
            Stage::Running(pending) => {
                let remaining = self
                    .cms
                    .read_with_catalog(|reader, catalog| remaining(reader, catalog, &pending))?;
                (ReindexState::Running, total.saturating_sub(remaining))
            }
            Stage::Done => (ReindexState::Done, total),
        };
        Ok(ReindexJob { id: id.to_owned(), kind: KIND.to_owned(), state, done, total, error })
    }
}

/// The id of the job of these journal rows.
fn job_id((first, last): (i64, i64), covers_all_types: bool) -> String {
    if covers_all_types { first.to_string() } else { format!("{first}-{last}") }
}

/// Parses the names in a payload; none means all types.
fn read_names(payload: &Map<String, Value>) -> Result<Option<Vec<String>>> {
    let mut errors = FieldErrors::default();
    let names = read::strings(payload, CONTENT_TYPES, "", &mut errors);
    let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    let names = payload.contains_key(CONTENT_TYPES).then_some(names);
    if errors.is_empty() && names.as_ref().is_some_and(Vec::is_empty) {
        errors.add(CONTENT_TYPES, message::too_few(1));
    }
    errors.into_result()?;
    Ok(names)
}

/// The types that a range of journal rows requests to reindex; none for other rows.
fn wanted(reader: &Reader<'_>, first: i64, last: i64) -> Result<Option<Vec<i64>>> {
    let mut ctds = Vec::new();
    for seq in first..=last {
        match reader.journal_entry(seq)? {
            Some(entry) if entry.event == Some(Event::ReindexRequested) => ctds.push(entry.ctd),
            _ => return Ok(None),
        }
    }
    Ok((!ctds.is_empty()).then_some(ctds))
}

/// Returns whether a type still exists.
fn exists(catalog: &Catalog, ctd: i64) -> bool {
    catalog.find_by_pk(ctd).is_some()
}

/// The number of objects of types; type 0 stands for all.
fn objects(reader: &Reader<'_>, catalog: &Catalog, ctds: &[i64]) -> Result<u64> {
    let count = |&ctd: &i64| match ctd {
        0 => reader.live_objects(),
        _ if exists(catalog, ctd) => Ok(reader.type_state(ctd)?.live),
        _ => Ok(0),
    };
    ctds.iter().map(count).sum()
}

/// The number of objects still to be indexed.
fn remaining(reader: &Reader<'_>, catalog: &Catalog, pending: &[TypeReindex]) -> Result<u64> {
    let pending = pending.iter().filter(|reindex| exists(catalog, reindex.ctd));
    let counts = pending
        .map(|reindex| Ok(reader.type_state(reindex.ctd)?.live.saturating_sub(reindex.done)));
    counts.sum()
}
