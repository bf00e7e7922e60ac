//! Journal → documents: the only code that writes objects of the store to the index.
//!
//! An [`IndexFollower`] reads the changed objects from the journal, and indexes their current state. So indexing
//! is idempotent. After a crash it continues at the position stored in the index.

use std::{collections::HashSet, sync::Arc};

use cms_model::{
    clock::Clock,
    content_type::catalog::CompiledType,
    error::Result,
    object::model::{Columns, Edition, Status, StoredObject},
    workflow::model::PUBLIC_STATE,
};
use cms_search::{Flags, Generation, GenerationWriter, IndexPosition, TypeReindex};
use cms_store::{Event, JournalEntry, Store};

use crate::content_type::catalog_cache::CatalogCache;

/// Rows of the journal, or objects of a type, per step.
const STEP_ROWS: usize = 500;
/// Bytes of objects after which a step ends: the caller checks its deadline between steps.
const STEP_BYTES: usize = 4 * 1024 * 1024;
/// Objects per read, which are in memory together.
const READ_OBJECTS: usize = 16;
/// Bytes of objects before a commit: they are in memory until then.
const UNCOMMITTED_BYTES: usize = 64 * 1024 * 1024;

/// The source of content.
#[derive(Clone, Copy)]
pub(super) struct ContentSource<'a> {
    pub(super) store: &'a Store,
    pub(super) catalog: &'a CatalogCache,
    pub(super) clock: &'a dyn Clock,
}

impl ContentSource<'_> {
    /// Returns whether an index was built from this database, in this or an earlier state.
    pub(super) fn history_contains(self, position: &IndexPosition) -> Result<bool> {
        let entry = self.store.read_autocommit(|reader| reader.journal_entry(position.seq))?;
        Ok(entry.is_some_and(|entry| entry.position.nonce == position.nonce))
    }
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepResult {
    /// Nothing to do.
    Idle,
    Advanced,
    /// A new index of all types is requested.
    RebuildWanted,
}

/// A generation that follows the journal.
pub(super) struct IndexFollower {
    pub(super) generation: Arc<Generation>,
    writer: GenerationWriter,
    /// Its position, committed or not.
    pub(super) position: IndexPosition,
    /// Bytes since the last commit; none when nothing changed.
    uncommitted: Option<usize>,
    /// The position of the last commit.
    committed: IndexPosition,
}

impl IndexFollower {
    /// Continues at the position of the last commit.
    pub(super) fn new(generation: Arc<Generation>, position: IndexPosition) -> Self {
        let writer = generation.writer();
        let committed = position.clone();
        Self { generation, writer, position, uncommitted: None, committed }
    }

    /// Begins an empty generation: all objects of all types are to be indexed.
    pub(super) fn begin(generation: Arc<Generation>, source: ContentSource<'_>) -> Result<Self> {
        let position = source.store.read(|reader| {
            let head = reader.journal_head()?;
            let mut position = IndexPosition::new(head.seq, head.nonce);
            for content_type in source.catalog.at(reader)?.types() {
                position.reindex(content_type.pk, head.seq);
            }
            Ok(position)
        })?;
        let mut follower = Self::new(generation, position);
        follower.commit_position()?;
        Ok(follower)
    }

    /// Indexes some rows of the journal or, at its end, some objects of types to reindex.
    pub(super) fn step(&mut self, source: ContentSource<'_>) -> Result<StepResult> {
        let after = self.position.seq;
        let entries =
            source.store.read_autocommit(|reader| reader.journal_after(after, STEP_ROWS))?;
        let step =
            if entries.is_empty() { self.reindex(source)? } else { self.follow(source, &entries)? };
        if step == StepResult::Idle {
            return Ok(step);
        }
        self.writer.flush()?;
        if self.uncommitted.is_some_and(|bytes| bytes > UNCOMMITTED_BYTES) {
            self.commit()?;
        }
        Ok(step)
    }

    fn follow(
        &mut self,
        source: ContentSource<'_>,
        entries: &[JournalEntry],
    ) -> Result<StepResult> {
        // Live objects are added after all removals, so that objects created again are kept.
        for entry in entries {
            if let Some(Event::TypeDeleted | Event::TypePurged) = entry.event {
                self.writer.remove_type(entry.ctd);
            }
        }
        let mut step = StepResult::Advanced;
        // An object is indexed as it is now, so once for all of these rows.
        let mut indexed = HashSet::new();
        let mut bytes = 0;
        for part in entries.chunks(READ_OBJECTS) {
            let mut objects = Vec::new();
            for entry in part {
                match entry.event {
                    Some(Event::TypeDeleted | Event::TypePurged | Event::TrashRemoved) => {}
                    Some(Event::ReindexRequested) if entry.ctd == 0 => {
                        step = StepResult::RebuildWanted;
                    }
                    Some(Event::TypeUpdated | Event::ReindexRequested) => {
                        self.position.reindex(entry.ctd, entry.position.seq);
                    }
                    _ => objects.extend(entry.object.filter(|pk| indexed.insert(*pk))),
                }
            }
            bytes += self.index(source, &objects)?;
            let last = part.last().expect("chunks are not empty").position;
            (self.position.seq, self.position.nonce) = (last.seq, last.nonce);
            if bytes >= STEP_BYTES {
                break;
            }
        }
        Ok(step)
    }

    fn reindex(&mut self, source: ContentSource<'_>) -> Result<StepResult> {
        let Some(&TypeReindex { ctd, after, .. }) = self.position.reindexes.first() else {
            return Ok(StepResult::Idle);
        };
        let rows = source
            .store
            .read_autocommit(|reader| reader.object_rows_after(ctd, after, STEP_ROWS))?;
        let (mut bytes, mut done) = (0, 0);
        for part in rows.chunks(READ_OBJECTS) {
            let objects: Vec<i64> = part.iter().map(|(_, pk)| *pk).collect();
            bytes += self.index(source, &objects)?;
            done += part.len();
            if bytes >= STEP_BYTES {
                break;
            }
        }
        let reindex = &mut self.position.reindexes[0];
        reindex.done += done as u64;
        reindex.after = rows[..done].last().copied().unwrap_or(after);
        if done == rows.len() && rows.len() < STEP_ROWS {
            self.position.reindexes.remove(0);
        }
        // Also a type without objects changes the position.
        self.uncommitted.get_or_insert(0);
        Ok(StepResult::Advanced)
    }

    /// Replaces the documents of objects with their current state; returns the size of their texts.
    fn index(&mut self, source: ContentSource<'_>, objects: &[i64]) -> Result<usize> {
        for &pk in objects {
            self.writer.remove(pk);
        }
        // Documents are made after the read, which has a time limit.
        let versions = if objects.is_empty() { Vec::new() } else { read(source, objects)? };
        let now = source.clock.now().0 / 1000;
        let mut bytes = 0;
        for Version { content_type, stored, flags } in versions {
            bytes += stored.data.len();
            self.writer.add(&content_type, &stored, flags, now)?;
        }
        *self.uncommitted.get_or_insert(0) += bytes;
        Ok(bytes)
    }

    /// Returns whether changes are uncommitted.
    pub(super) fn is_dirty(&self) -> bool {
        self.uncommitted.is_some()
    }

    /// Row of the journal up to which it is committed.
    pub(super) fn committed(&self) -> i64 {
        self.committed.seq
    }

    /// Commits all changes since the last commit, if any, which makes them visible.
    pub(super) fn commit(&mut self) -> Result<()> {
        if self.uncommitted.is_none() && self.committed == self.position {
            return Ok(());
        }
        self.commit_position()
    }

    /// As [`Self::commit`], also without changes.
    fn commit_position(&mut self) -> Result<()> {
        self.writer.commit(&self.position)?;
        self.uncommitted = None;
        self.committed = self.position.clone();
        self.generation.reload()
    }
}

/// A version of an object to be indexed.
struct Version {
    content_type: Arc<CompiledType>,
    stored: StoredObject<'static>,
    flags: Flags,
}

/// Reads the versions of existing objects: the current one, and the published one where it differs.
fn read(source: ContentSource<'_>, objects: &[i64]) -> Result<Vec<Version>> {
    source.store.read(|reader| {
        let catalog = source.catalog.at(reader)?;
        let find =
            |ctd| catalog.find_by_pk(ctd).filter(|content_type| content_type.is_searchable());
        let version = |content_type: &Arc<CompiledType>, stored: StoredObject<'_>, of| {
            let approved = stored.internal.workflow_state == PUBLIC_STATE;
            let (current, published) = of;
            let flags = Flags { ctd: content_type.pk, current, published, approved };
            Version { content_type: Arc::clone(content_type), stored: stored.into_owned(), flags }
        };
        let (mut versions, mut modified) = (Vec::new(), Vec::new());
        reader.object_rows(Edition::Current, objects, Columns::All, |ctd, stored| {
            let Some(content_type) = find(ctd) else { return Ok(()) };
            let (status, draft_public) =
                (stored.internal.status, content_type.definition.draft_public);
            if draft_public && status == Status::Modified {
                modified.push(stored.pk);
            }
            let is_published = !draft_public || status == Status::Public;
            versions.push(version(content_type, stored, (true, is_published)));
            Ok(())
        })?;
        reader.object_rows(Edition::Published, &modified, Columns::All, |ctd, stored| {
            let Some(content_type) = find(ctd) else { return Ok(()) };
            versions.push(version(content_type, stored, (false, true)));
            Ok(())
        })?;
        Ok(versions)
    })
}
