//! Caches the valid keys of this process.

use std::{
    collections::HashMap,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicI64, Ordering},
    },
};

use cms_model::{
    clock::Timestamp,
    context::{Actor, ActorKind},
    error::Result,
};
use cms_store::{KeyRow, Reader, Revisions};

/// The cached keys, by digest.
#[derive(Default)]
pub(crate) struct KeyRing(RwLock<Arc<KeyTable>>);

#[derive(Default)]
pub(super) struct KeyTable {
    rev: i64,
    pub(super) by_digest: HashMap<[u8; 32], KeyEntry>,
}

pub(super) struct KeyEntry {
    pub(super) actor: Arc<Actor>,
    /// Microseconds since the epoch, or 0 when nothing is to be stored.
    pub(super) used: AtomicI64,
}

impl KeyRing {
    /// Returns the keys if they are current.
    pub(super) fn cached(&self, revisions: Revisions) -> Option<Arc<KeyTable>> {
        let cached = self.0.read().unwrap_or_else(PoisonError::into_inner);
        (cached.rev == revisions.auth).then(|| Arc::clone(&cached))
    }

    /// Reads the keys; keeps the recorded times of their last use.
    pub(super) fn load(&self, reader: &Reader<'_>) -> Result<Arc<KeyTable>> {
        let rev = reader.revisions()?.auth;
        let cached = Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner));
        let entries = reader.keys()?.into_iter().map(|row| {
            let used = cached.by_digest.get(&row.hash).map_or(0, KeyEntry::used);
            let hash = row.hash;
            (hash, KeyEntry { actor: Arc::new(actor(row)), used: AtomicI64::new(used) })
        });
        let table = Arc::new(KeyTable { rev, by_digest: entries.collect() });
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&table);
        Ok(table)
    }

    /// Takes the times of last use recorded since the previous call.
    pub(crate) fn take_used(&self) -> Vec<(i64, Timestamp)> {
        let cached = Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner));
        let used = cached.by_digest.values().filter_map(|entry| {
            let at = entry.used.swap(0, Ordering::Relaxed);
            entry.actor.pk.filter(|_| at != 0).map(|pk| (pk, Timestamp(at)))
        });
        used.collect()
    }
}

impl KeyEntry {
    fn used(&self) -> i64 {
        self.used.load(Ordering::Relaxed)
    }
}

fn actor(row: KeyRow) -> Actor {
    Actor {
        pk: Some(row.pk),
        id: row.uid,
        name: row.name,
        kind: ActorKind::Key(row.kind),
        rules: row.rules,
        may_publish: true,
    }
}
