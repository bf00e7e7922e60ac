//! Remembered counts of filtered lists.
//!
//! Counting what a filter matches costs more than showing a page of it. A count stays true until
//! an object of the type changes, and `ctd_state.changes`, read in the same snapshot as the page,
//! tells exactly that. So this is no cache that can be stale, only one that can miss.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::error::Result;

/// Counts that are kept; past that all are forgotten, which is simple and rare.
const CAPACITY: usize = 4096;
/// Longest filter that is worth remembering, in bytes.
const KEY_BYTES: usize = 4096;

/// Counts by type and by what was asked for.
#[derive(Default)]
pub(crate) struct Counts(Mutex<HashMap<(i64, String), Remembered>>);

struct Remembered {
    changes: i64,
    count: u64,
}

impl Counts {
    /// Returns the count that was remembered at the same number of changes, or counts now.
    pub(crate) fn get(
        &self,
        ctd: i64,
        asked: String,
        changes: i64,
        count: impl FnOnce() -> Result<u64>,
    ) -> Result<u64> {
        if asked.len() > KEY_BYTES {
            return count();
        }
        let key = (ctd, asked);
        if let Some(known) = self.lock().get(&key).filter(|known| known.changes == changes) {
            return Ok(known.count);
        }
        let count = count()?;
        let mut counts = self.lock();
        if counts.len() >= CAPACITY {
            counts.clear();
        }
        counts.insert(key, Remembered { changes, count });
        Ok(count)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(i64, String), Remembered>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
