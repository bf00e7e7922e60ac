//! Journal → documents: the only code that writes objects of the store to the index.
//!
//! An [`IndexFollower`] reads the changed objects from the journal, and indexes their current state. So indexing
//! is idempotent. After a crash it continues at the position stored in the index.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use cms_model::{
    clock::Clock,
    content_type::catalog::{Catalog, CompiledType},
    error::Result,
    object::model::{Columns, Edition, Status, StoredObject},
    workflow::model::PUBLIC_STATE,
};
use cms_search::{Flags, Generation, GenerationWriter, IndexPosition};
use cms_store::{Event, JournalEntry, Reader, Store};

use crate::content_type::catalog_cache::CatalogCache;

/// Rows of the journal, or objects of a type, per step.
const STEP_ROWS: usize = 500;
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
    pub(super) fn is_in_history(self, position: &IndexPosition) -> Result<bool> {
        let entry = self.store.read_autocommit(|reader| reader.journal_entry(position.seq))?;
        Ok(entry.is_some_and(|entry| entry.position.nonce == position.nonce))
    }
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FollowerState {
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
        let writer = generation.write();
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
    pub(super) fn step(&mut self, source: ContentSource<'_>) -> Result<FollowerState> {
        let step = source.store.read(|reader| {
            let entries = reader.journal_after(self.position.seq, STEP_ROWS)?;
            let catalog = source.catalog.at(reader)?;
            let mut batch = Batch::new(reader, &catalog, source.clock.now().0 / 1000);
            if entries.is_empty() {
                self.reindex(&mut batch)
            } else {
                self.follow(&mut batch, &entries)
            }
        })?;
        if self.uncommitted.is_some_and(|bytes| bytes > UNCOMMITTED_BYTES) {
            self.commit()?;
        }
        Ok(step)
    }

    fn follow(&mut self, batch: &mut Batch<'_>, entries: &[JournalEntry]) -> Result<FollowerState> {
        let mut step = FollowerState::Advanced;
        let mut objects = BTreeSet::new();
        for entry in entries {
            match entry.event {
                Some(Event::TypeDeleted | Event::TypePurged) => self.writer.remove_type(entry.ctd),
                Some(Event::ReindexRequested) if entry.ctd == 0 => {
                    step = FollowerState::RebuildWanted;
                }
                Some(Event::TypeUpdated | Event::ReindexRequested) => {
                    self.position.reindex(entry.ctd, entry.position.seq);
                }
                Some(Event::TrashRemoved) => {}
                _ => objects.extend(entry.object),
            }
            (self.position.seq, self.position.nonce) = (entry.position.seq, entry.position.nonce);
        }
        // Live objects are added after all removals, so that objects created again are kept.
        self.index(batch, &Vec::from_iter(objects))?;
        Ok(step)
    }

    fn reindex(&mut self, batch: &mut Batch<'_>) -> Result<FollowerState> {
        let Some(reindex) = self.position.reindexes.first_mut() else {
            return Ok(FollowerState::Idle);
        };
        let rows = batch.reader.object_rows_after(reindex.ctd, reindex.after, STEP_ROWS)?;
        reindex.done += rows.len() as u64;
        reindex.after = rows.last().copied().unwrap_or(reindex.after);
        if rows.len() < STEP_ROWS {
            self.position.reindexes.remove(0);
        }
        let objects: Vec<i64> = rows.into_iter().map(|(_, pk)| pk).collect();
        self.index(batch, &objects)?;
        Ok(FollowerState::Advanced)
    }

    /// Replaces the documents of objects with their current state.
    fn index(&mut self, batch: &mut Batch<'_>, objects: &[i64]) -> Result<()> {
        for &pk in objects {
            self.writer.remove(pk);
        }
        let bytes = batch.add(&mut self.writer, objects)?;
        self.writer.flush()?;
        *self.uncommitted.get_or_insert(0) += bytes;
        Ok(())
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

/// Objects of one snapshot to be indexed.
struct Batch<'a> {
    reader: &'a Reader<'a>,
    types: HashMap<i64, &'a Arc<CompiledType>>,
    /// Milliseconds since the epoch.
    now: i64,
}

impl<'a> Batch<'a> {
    fn new(reader: &'a Reader<'a>, catalog: &'a Catalog, now: i64) -> Self {
        let searched = catalog.types().iter().filter(|known| known.is_searchable());
        let types = searched.map(|known| (known.pk, known)).collect();
        Self { reader, types, now }
    }

    /// Adds the documents of existing objects; returns the size of their texts.
    fn add(&self, writer: &mut GenerationWriter, objects: &[i64]) -> Result<usize> {
        let (mut bytes, mut modified) = (0, Vec::new());
        self.reader.object_rows(Edition::Current, objects, Columns::All, |ctd, stored| {
            let Some(content_type) = self.types.get(&ctd) else { return Ok(()) };
            let status = stored.internal.status;
            let published = !content_type.definition.draft_public || status == Status::Public;
            if content_type.definition.draft_public && status == Status::Modified {
                modified.push(stored.pk);
            }
            bytes += stored.data.len();
            self.add_one(writer, content_type, &stored, true, published)
        })?;
        self.reader.object_rows(Edition::Published, &modified, Columns::All, |ctd, stored| {
            let Some(content_type) = self.types.get(&ctd) else { return Ok(()) };
            bytes += stored.data.len();
            self.add_one(writer, content_type, &stored, false, true)
        })?;
        Ok(bytes)
    }

    fn add_one(
        &self,
        writer: &mut GenerationWriter,
        content_type: &CompiledType,
        stored: &StoredObject<'_>,
        current: bool,
        published: bool,
    ) -> Result<()> {
        let approved = stored.internal.workflow_state == PUBLIC_STATE;
        let flags = Flags { ctd: content_type.pk, current, published, approved };
        writer.add(content_type, stored, flags, self.now)
    }
}
