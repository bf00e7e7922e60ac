//! What cached data of this process is checked against: the change counters of the newest commit.
//!
//! They are read again only after a commit, so a request usually learns without a statement that
//! what it has cached is current, whichever process wrote last.

use std::sync::{Arc, PoisonError, RwLock};

use cms_model::error::Result;
use cms_store::{ChangeCounters, CommitMark, Revisions};

use crate::cms::Cms;

/// The change counters of a commit.
pub struct CommitState {
    /// None when it is not known which commit has these counters.
    commit: Option<CommitMark>,
    counters: ChangeCounters,
}

/// The content types whose objects a response was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypesRead {
    All,
    /// Primary keys, in any order, perhaps repeated.
    These(Vec<i64>),
}

/// What a cached response depends on, as it was when the response was made.
#[derive(Debug, PartialEq, Eq)]
pub struct Dependencies {
    /// Of content types, keys and users.
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
#[derive(Default)]
pub(crate) struct CommitStateCache(RwLock<Option<Arc<CommitState>>>);

impl CommitState {
    pub(crate) fn revisions(&self) -> Revisions {
        self.counters.revisions
    }

    /// Returns what a response depends on that was made from these types in this state.
    pub fn dependencies(&self, types: TypesRead) -> Dependencies {
        let changes = match types {
            TypesRead::All => Changes::OfAll(self.counters.changes.values().sum()),
            TypesRead::These(mut types) => {
                types.sort_unstable();
                types.dedup();
                Changes::OfTypes(types.into_iter().map(|ctd| (ctd, self.changes(ctd))).collect())
            }
        };
        Dependencies { revisions: self.counters.revisions, changes }
    }

    /// Returns whether nothing that a response depends on has changed.
    pub fn still_has(&self, dependencies: &Dependencies) -> bool {
        self.counters.revisions == dependencies.revisions
            && match &dependencies.changes {
                Changes::OfAll(sum) => self.counters.changes.values().sum::<i64>() == *sum,
                Changes::OfTypes(counters) => {
                    counters.iter().all(|(ctd, changes)| self.changes(*ctd) == *changes)
                }
            }
    }

    /// The counter of a type; types that do not exist have none.
    fn changes(&self, ctd: i64) -> i64 {
        self.counters.changes.get(&ctd).copied().unwrap_or(-1)
    }
}

impl Cms {
    /// Returns the state of the newest commit.
    pub fn commit_state(&self) -> Result<Arc<CommitState>> {
        let Some(commit) = self.store.newest_commit() else { return self.read_commit_state(None) };
        if let Some(known) = self.commit_state.of(commit) {
            return Ok(known);
        }
        let state = self.read_commit_state(Some(commit))?;
        if state.commit.is_some() {
            self.commit_state.set(&state);
        }
        Ok(state)
    }

    /// Returns whether there was no commit since: what was read in between belongs to this state.
    pub fn is_newest(&self, state: &CommitState) -> bool {
        state.commit.is_some() && self.store.newest_commit() == state.commit
    }

    /// Reads the counters in a snapshot that is at least as new as `commit`.
    fn read_commit_state(&self, commit: Option<CommitMark>) -> Result<Arc<CommitState>> {
        self.store.read(|reader| {
            let counters = reader.change_counters()?;
            let commit = commit.filter(|commit| self.store.newest_commit() == Some(*commit));
            Ok(Arc::new(CommitState { commit, counters }))
        })
    }
}

impl CommitStateCache {
    fn of(&self, commit: CommitMark) -> Option<Arc<CommitState>> {
        let cached = self.0.read().unwrap_or_else(PoisonError::into_inner);
        cached.as_ref().filter(|state| state.commit == Some(commit)).map(Arc::clone)
    }

    fn set(&self, state: &Arc<CommitState>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(state));
    }
}
