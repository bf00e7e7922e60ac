//! The change counters of the newest commit, which show whether cached data of this process is current.
//!
//! A commit of this process caches the counters. A statement reads them only if nothing is cached,
//! after a commit of another process, and on a node of a cluster after each commit. So a request
//! usually learns without a statement whether cached data is current. If a read transaction sees the commit whose
//! counters are cached, it reads no counters either.

use std::{path::Path, sync::Arc};

use cms_model::error::Result;
use parking_lot::RwLock;

use super::{
    ChangeCounters, CommitMark, Revisions, Store, WriteTransaction, commit_mark::WalIndex,
};

/// The change counters of a commit.
pub struct CommitState {
    /// None when it is not known which commit has these counters.
    commit: Option<CommitMark>,
    pub(crate) counters: ChangeCounters,
}

/// The content types whose objects a response was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypesRead {
    All,
    /// Primary keys, in any order, perhaps repeated.
    These(Vec<i64>),
}

/// The state on which a cached response depends, as it was when the response was created.
#[derive(Debug, PartialEq, Eq)]
pub struct Dependencies {
    /// Revisions of content types, keys and users.
    revisions: Revisions,
    changes: Changes,
}

#[derive(Debug, PartialEq, Eq)]
enum Changes {
    /// The sum of all counters. Within one revision of the content types it never decreases.
    OfAll(i64),
    /// The counters by primary key.
    OfTypes(Box<[(i64, i64)]>),
}

/// The state of the newest commit that this process has seen.
pub(crate) struct CommitStateCache {
    state: RwLock<Option<Arc<CommitState>>>,
    wal_index: WalIndex,
}

impl CommitState {
    pub fn revisions(&self) -> Revisions {
        self.counters.revisions
    }

    /// Returns the dependencies of a response that was made from these types in this state.
    pub fn dependencies(&self, types: TypesRead) -> Dependencies {
        let changes = match types {
            TypesRead::All => Changes::OfAll(self.counters.changes()),
            TypesRead::These(mut types) => {
                types.sort_unstable();
                types.dedup();
                Changes::OfTypes(types.into_iter().map(|ctd| (ctd, self.changes(ctd))).collect())
            }
        };
        Dependencies { revisions: self.counters.revisions, changes }
    }

    /// Returns whether nothing that a response depends on has changed since `dependencies` was taken.
    pub fn are_current(&self, dependencies: &Dependencies) -> bool {
        self.counters.revisions == dependencies.revisions
            && match &dependencies.changes {
                Changes::OfAll(sum) => self.counters.changes() == *sum,
                Changes::OfTypes(counters) => {
                    counters.iter().all(|(ctd, changes)| self.changes(*ctd) == *changes)
                }
            }
    }

    /// The counter of a type; -1 if it does not exist.
    pub fn changes(&self, ctd: i64) -> i64 {
        self.counters.types.get(&ctd).map_or(-1, |state| state.changes)
    }
}

impl Store {
    /// Returns the state of the newest commit.
    pub fn commit_state(&self) -> Result<Arc<CommitState>> {
        let newest = self.commit_state.wal_index.newest();
        let Some(commit) = newest else { return self.read_commit_state(None) };
        let cached = self.commit_state.cached();
        if let Some(known) = cached.filter(|state| state.commit == Some(commit)) {
            return Ok(known);
        }
        let state = self.read_commit_state(Some(commit))?;
        if state.commit.is_some() {
            self.commit_state.set(Arc::clone(&state));
        }
        Ok(state)
    }

    /// Returns whether the commit of the state is still the newest. If so, everything that was read
    /// since then belongs to this state.
    pub fn is_newest(&self, state: &CommitState) -> bool {
        state.commit.is_some() && self.commit_state.wal_index.newest() == state.commit
    }

    /// Reads the counters in a snapshot that is at least as new as `commit`.
    fn read_commit_state(&self, commit: Option<CommitMark>) -> Result<Arc<CommitState>> {
        self.read(|reader| {
            let counters = reader.change_counters()?;
            let newest = self.commit_state.wal_index.newest();
            let commit = commit.filter(|commit| newest == Some(*commit));
            Ok(Arc::new(CommitState { commit, counters }))
        })
    }
}

impl CommitStateCache {
    /// The cache of the database at `path`; see [`WalIndex::of`] for when to drop it.
    pub(crate) fn of(path: &Path) -> Self {
        Self { state: RwLock::default(), wal_index: WalIndex::of(path) }
    }

    /// Returns the cached state, which may be out of date.
    pub(crate) fn cached(&self) -> Option<Arc<CommitState>> {
        self.state.read().clone()
    }

    fn set(&self, state: Arc<CommitState>) {
        *self.state.write() = Some(state);
    }

    /// Commits a write transaction, and caches its state: the next request needs no snapshot for it.
    pub(crate) fn commit(&self, writer: &WriteTransaction<'_>) -> Result<()> {
        // While the transaction is open, no other connection commits.
        let known = match self.wal_index.newest() {
            Some(before) => writer.change_counters_if_any()?.map(|counters| (before, counters)),
            None => None,
        };
        writer.execute("COMMIT", [])?;
        // The next commit is this one, unless another process has committed since.
        if let Some((before, counters)) = known
            && let Some(commit) = self.wal_index.newest().filter(|now| now.is_next_after(&before))
        {
            self.set(Arc::new(CommitState { commit: Some(commit), counters }));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicBool, Ordering},
        thread,
    };

    use cms_model::settings::{Durability, NewDatabase};

    use super::*;
    use crate::{Reader, testing::database_with};

    const READERS: usize = 8;
    const READS: usize = 20_000;

    /// The counters of a snapshot as a statement reads them.
    fn by_statement(reader: &Reader<'_>) -> ChangeCounters {
        Reader::new(reader.connection).change_counters().unwrap()
    }

    #[test]
    fn snapshot_knows_its_own_counters_while_several_processes_write() {
        let rows = "INSERT INTO meta (id, organization, space, schema_rev, auth_rev)
                    VALUES (1, 'o', 's', 1, 1);
                    INSERT INTO ctd_state (ctd, live, changes) VALUES (1, 0, 0), (2, 0, 0);";
        let (folder, other) = database_with(rows);
        let store =
            Store::open(folder.path(), NewDatabase::InNewDirectory, Durability::Normal).unwrap();
        let is_over = AtomicBool::new(false);
        let refresh = || {
            while !is_over.load(Ordering::Relaxed) {
                store.commit_state().unwrap();
            }
        };
        let compare = |reader: &Reader<'_>| {
            assert_eq!(reader.change_counters()?, by_statement(reader));
            Ok(())
        };
        let read = || (0..READS).for_each(|_| store.read(compare).unwrap());
        thread::scope(|scope| {
            // More threads than processors, so that each can be interrupted at any line.
            scope.spawn(refresh);
            let readers: Vec<_> = (0..READERS).map(|_| scope.spawn(read)).collect();
            while readers.iter().any(|reader| !reader.is_finished()) {
                other
                    .execute_batch(
                        "BEGIN IMMEDIATE; UPDATE meta SET auth_rev = auth_rev + 1;
                         UPDATE ctd_state SET live = live + 1, changes = changes + 1; COMMIT",
                    )
                    .unwrap();
                store
                    .write(|writer| writer.execute("UPDATE meta SET auth_rev = auth_rev + 1", []))
                    .unwrap();
            }
            is_over.store(true, Ordering::Relaxed);
        });
        store.commit_state().unwrap();
        let known = store.read(|reader| Ok((reader.counters.cloned(), by_statement(reader))));
        let (known, read) = known.unwrap();
        assert_eq!(known, Some(read), "no statement was needed");
        store.write(|writer| writer.execute("UPDATE ctd_state SET changes = 7", [])).unwrap();
        let cached = store.commit_state.cached().unwrap();
        assert!(store.is_newest(&cached), "the commit cached its state");
        assert_eq!([1, 2, 3].map(|ctd| cached.changes(ctd)), [7, 7, -1]);
    }
}
