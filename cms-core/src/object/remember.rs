//! Caches of lists: how many objects a filter matches, and how a list is read.
//!
//! An entry is valid until an object of the type or the type itself changes, and `ctd_state.changes`, read
//! in the snapshot of the list, shows exactly that. So an entry is never stale; it can only be missing.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::view::View;
use crate::{paging::Slice, wire::object::ListRequest};

/// Most entries; a full cache is emptied, which is simple and rare.
const CAPACITY: usize = 2048;
/// Longest text of a key, in bytes.
const MAX_KEY_BYTES: usize = 4096;

/// Which objects a list has.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct CountKey {
    filters: Option<String>,
    ids: Option<Vec<String>>,
    view: View,
}

/// Which objects a list has, and how it is ordered and cut.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct ListKey {
    objects: CountKey,
    order_by: Option<String>,
    descending: bool,
    empty_first: bool,
    slice: Slice,
}

impl CountKey {
    /// None when the key is too long to be cached.
    pub(crate) fn new(request: &ListRequest, view: View) -> Option<Self> {
        let ids = request.ids.iter().flatten().map(String::len).sum::<usize>();
        let bytes = ids + request.filters.as_ref().map_or(0, String::len);
        let (filters, ids) = (request.filters.clone(), request.ids.clone());
        (bytes <= MAX_KEY_BYTES).then_some(Self { filters, ids, view })
    }
}

impl ListKey {
    /// None when the key is too long to be cached. The page of the request is not part of it.
    pub(crate) fn new(request: &ListRequest, slice: Slice, view: View) -> Option<Self> {
        let order_by = request.order_by.clone().filter(|order| order.len() <= MAX_KEY_BYTES);
        if order_by.is_none() && request.order_by.is_some() {
            return None;
        }
        let (descending, empty_first) = (request.descending, request.empty_first);
        let objects = CountKey::new(request, view)?;
        Some(Self { objects, order_by, descending, empty_first, slice })
    }
}

/// Cached values by type and key, each of one state of the type.
pub(crate) struct Remembered<K, T>(Mutex<Entries<K, T>>);

struct Entries<K, T> {
    count: usize,
    by_type: HashMap<i64, HashMap<K, Entry<T>>>,
}

struct Entry<T> {
    changes: i64,
    value: T,
}

impl<K: Eq + Hash, T: Clone> Remembered<K, T> {
    /// Returns the value that was cached at the same number of changes.
    pub(crate) fn get(&self, ctd: i64, key: &K, changes: i64) -> Option<T> {
        let entries = self.lock();
        let entry = entries.by_type.get(&ctd)?.get(key)?;
        (entry.changes == changes).then(|| entry.value.clone())
    }

    pub(crate) fn set(&self, ctd: i64, key: K, changes: i64, value: T) {
        let mut entries = self.lock();
        if entries.count >= CAPACITY {
            *entries = Entries::default();
        }
        let of_type = entries.by_type.entry(ctd).or_default();
        let is_new = of_type.insert(key, Entry { changes, value }).is_none();
        entries.count += usize::from(is_new);
    }

    fn lock(&self) -> MutexGuard<'_, Entries<K, T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K, T> Default for Remembered<K, T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K, T> Default for Entries<K, T> {
    fn default() -> Self {
        Self { count: 0, by_type: HashMap::new() }
    }
}
