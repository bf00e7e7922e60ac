//! Compares the index with the database: its objects and their editions.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use cms_model::{
    error::Result, object::model::Status, wire::search::ReindexState, workflow::model::PUBLIC_STATE,
};
use cms_search::Flags;
use cms_store::Event;

use super::service::Searching;
use crate::check::{EnsureRunning, is_stopped};

/// Maximum wait of a comparison for a complete index.
const MAX_WAIT: Duration = Duration::from_mins(2);
/// Maximum time between two calls of `ensure_running`.
const WAIT_INTERVAL: Duration = Duration::from_millis(500);

impl Searching<'_> {
    /// Returns the differences between index and database once the index is up to date; empty when
    /// there are none. Changes made meanwhile are ignored.
    pub(crate) fn differences(&self, ensure_running: &EnsureRunning) -> Result<Vec<String>> {
        let store = &self.cms.store;
        let head = store.read_autocommit(|reader| Ok(reader.journal_head()?.seq))?;
        let begun = Instant::now();
        let current = loop {
            ensure_running()?;
            let wait_begun = Instant::now();
            match self.cms.index.wait_for_position(self.source(), head, WAIT_INTERVAL) {
                // A result before the timeout is final: the index is up to date, or cannot be updated.
                Ok(_) if wait_begun.elapsed() >= WAIT_INTERVAL && begun.elapsed() < MAX_WAIT => {}
                Ok(current) => break current,
                Err(error) => return Ok(vec![format!("the index cannot be read: {error}")]),
            }
        };
        if !current.position.covers(head) {
            return Ok(vec!["the index is not up to date yet".to_owned()]);
        }
        let mut indexed = current.generation.flags_by_object()?;
        store.read_without_timeout(is_stopped(ensure_running), |reader| {
            let catalog = self.cms.catalog.at(reader)?;
            let (mut objects, mut types) = (Vec::new(), Vec::new());
            for entry in reader.journal_after(current.position.seq, usize::MAX)? {
                match entry.event {
                    Some(Event::TypeUpdated | Event::TypeDeleted | Event::TypePurged) => {
                        types.push(entry.ctd);
                    }
                    _ => objects.extend(entry.object),
                }
            }
            let (mut missing, mut other) = (0_u64, 0_u64);
            let by_pk: HashMap<i64, bool> = catalog
                .types()
                .iter()
                .filter(|content_type| content_type.is_searchable())
                .map(|content_type| (content_type.pk, content_type.definition.draft_public))
                .collect();
            reader.for_each_state(|pk, ctd, status, state| {
                let mut found = indexed.remove(&pk).unwrap_or_default();
                found.sort_unstable();
                let Some(draft_public) = by_pk.get(&ctd) else { return };
                let wanted = expected_flags(ctd, *draft_public, status, state == PUBLIC_STATE);
                if found != wanted && !objects.contains(&pk) && !types.contains(&ctd) {
                    *(if found.is_empty() { &mut missing } else { &mut other }) += 1;
                }
            })?;
            indexed.retain(|pk, flags| {
                let ctd = flags.first().map_or(0, |flags| Flags::ctd(*flags));
                !objects.contains(pk) && !types.contains(&ctd)
            });
            let counts = [
                ("objects missing in the index", missing),
                ("objects with another status in the index", other),
                ("objects only in the index", indexed.len() as u64),
            ];
            let findings = counts.into_iter().filter(|(_, count)| *count > 0);
            Ok(findings.map(|(subject, count)| format!("{subject}: {count}")).collect())
        })
    }

    /// Rebuilds the index, and waits until searches use it, up to a limit. Indexing continues after
    /// a check that stops.
    pub(crate) fn rebuild(&self, ensure_running: &EnsureRunning) -> Result<()> {
        ensure_running()?;
        let caller = cms_model::context::Caller::local();
        let job = self.reindex(&caller, &serde_json::Map::new())?;
        let begun = Instant::now();
        while self.job(&caller, &job.id)?.state != ReindexState::Done && begun.elapsed() < MAX_WAIT
        {
            ensure_running()?;
            if !self.index_batch()? {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        Ok(())
    }
}

/// The expected flags of the documents of an object, in order.
fn expected_flags(ctd: i64, draft_public: bool, status: &str, approved: bool) -> Vec<u64> {
    let status = Status::parse(status);
    let published = !draft_public || status == Some(Status::Public);
    let mut wanted = vec![Flags { ctd, current: true, published, approved }.pack()];
    if draft_public && status == Some(Status::Modified) {
        wanted.push(Flags { ctd, current: false, published: true, approved }.pack());
    }
    wanted.sort_unstable();
    wanted
}
