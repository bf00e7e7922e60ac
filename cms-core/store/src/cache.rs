//! Caches values computed for lists, by type.
//!
//! An entry is valid until an object of the type or the type itself changes. `ctd_state.changes`,
//! read in the same snapshot as the list, counts these changes. So an entry is never stale.

use std::{collections::HashMap, hash::Hash};

use parking_lot::Mutex;

/// Maximum number of entries. A full cache is cleared, which is simple and rare.
const MAX_ENTRIES: usize = 2048;

/// Values by type and key, each for one state of the type.
pub(crate) struct Cache<K, V>(Mutex<Entries<K, V>>);

struct Entries<K, V> {
    count: usize,
    by_type: HashMap<i64, HashMap<K, Entry<V>>>,
}

struct Entry<V> {
    changes: i64,
    value: V,
}

impl<K: Hash + Eq, V: Clone> Cache<K, V> {
    /// Returns the value that was stored at the same change counter.
    pub(crate) fn get(&self, ctd: i64, key: &K, changes: i64) -> Option<V> {
        let entries = self.0.lock();
        let known = entries.by_type.get(&ctd)?.get(key)?;
        (known.changes == changes).then(|| known.value.clone())
    }

    pub(crate) fn set(&self, ctd: i64, key: K, changes: i64, value: V) {
        let mut entries = self.0.lock();
        if entries.count >= MAX_ENTRIES {
            *entries = Entries::default();
        }
        let of_type = entries.by_type.entry(ctd).or_default();
        let is_new = of_type.insert(key, Entry { changes, value }).is_none();
        entries.count += usize::from(is_new);
    }
}

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K, V> Default for Entries<K, V> {
    fn default() -> Self {
        Self { count: 0, by_type: HashMap::new() }
    }
}
