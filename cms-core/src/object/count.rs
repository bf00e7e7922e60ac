//! Remembered counts of filtered lists.
//!
//! Counting what a filter matches costs more than showing a page of it. A count stays true until
//! an object of the type changes, and `ctd_state.changes`, read in the same snapshot as the page,
//! tells exactly that. So this is no cache that can be stale, only one that can miss.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Counts that are kept; past that all are forgotten, which is simple and rare.
const CAPACITY: usize = 4096;
/// Longest filter that is worth remembering, in bytes.
const KEY_BYTES: usize = 4096;

/// Counts by type and by what was asked for.
#[derive(Default)]
pub(crate) struct Counts(Mutex<ByType>);

type ByType = HashMap<i64, HashMap<String, Remembered>>;

struct Remembered {
    changes: i64,
    count: u64,
}

impl Counts {
    /// Returns the count that was remembered at the same number of changes.
    pub(crate) fn get(&self, ctd: i64, asked: &str, changes: i64) -> Option<u64> {
        let counts = self.lock();
        let known = counts.get(&ctd)?.get(asked)?;
        (known.changes == changes).then_some(known.count)
    }

    pub(crate) fn remember(&self, ctd: i64, asked: String, changes: i64, count: u64) {
        if asked.len() > KEY_BYTES {
            return;
        }
        let mut counts = self.lock();
        if counts.values().map(HashMap::len).sum::<usize>() >= CAPACITY {
            counts.clear();
        }
        counts.entry(ctd).or_default().insert(asked, Remembered { changes, count });
    }

    fn lock(&self) -> MutexGuard<'_, ByType> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
