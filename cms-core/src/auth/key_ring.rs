//! The valid keys and the sessions that this process has cached.

use std::{
    collections::HashMap,
    mem,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use cms_model::{
    clock::Timestamp,
    context::{Actor, ActorKind},
    error::Result,
};
use cms_store::{KeyRow, Reader, Revisions};
use parking_lot::{Mutex, RwLock};

use super::session_cache::{self, SessionCache};

/// The cached keys, by the hash of their token, and the cached sessions.
#[derive(Default)]
pub(crate) struct KeyRing {
    table: RwLock<Arc<KeyTable>>,
    /// Times of last use of sessions that are not stored in the database yet, by primary key of the session: taken over
    /// from each `KeyTable` when it was replaced.
    unsaved: Mutex<HashMap<i64, Timestamp>>,
}

#[derive(Default)]
pub(super) struct KeyTable {
    rev: i64,
    pub(super) by_hash: HashMap<[u8; 32], KeyEntry>,
    pub(super) sessions: SessionCache,
}

pub(super) struct KeyEntry {
    pub(super) actor: Arc<Actor>,
    /// The time until which a replaced token is accepted; none for a current token.
    pub(super) valid_until: Option<Timestamp>,
    /// Time of a last use that is not stored yet, in microseconds since the epoch; 0 if there is none.
    pub(super) used: AtomicI64,
}

impl KeyRing {
    /// Returns the keys if they are current.
    pub(super) fn cached(&self, revisions: Revisions) -> Option<Arc<KeyTable>> {
        let cached = self.table();
        (cached.rev == revisions.auth).then_some(cached)
    }

    /// Reads the keys; keeps the recorded times of their last use.
    pub(super) fn load(&self, reader: &Reader<'_>) -> Result<Arc<KeyTable>> {
        let rev = reader.revisions()?.auth;
        let cached = self.table();
        let mut by_hash = HashMap::new();
        for row in reader.keys()? {
            let current = (row.hash, None);
            let previous = row.previous.map(|(hash, until)| (hash, Some(until)));
            let actor = Arc::new(actor(row));
            for (hash, valid_until) in previous.into_iter().chain([current]) {
                let used = cached.by_hash.get(&hash).map_or(0, KeyEntry::used);
                let actor = Arc::clone(&actor);
                let entry = KeyEntry { actor, valid_until, used: AtomicI64::new(used) };
                by_hash.insert(hash, entry);
            }
        }
        let table = Arc::new(KeyTable { rev, by_hash, sessions: SessionCache::default() });
        self.unsaved.lock().extend(cached.sessions.take_seen());
        *self.table.write() = Arc::clone(&table);
        Ok(table)
    }

    /// Takes the times of last use recorded since the previous call.
    pub(crate) fn take_used_keys(&self) -> Vec<(i64, Timestamp)> {
        let cached = self.table();
        let used = cached.by_hash.values().filter_map(|entry| {
            let at = entry.used.swap(0, Ordering::Relaxed);
            entry.actor.pk.filter(|_| at != 0).map(|pk| (pk, Timestamp(at)))
        });
        used.collect()
    }

    /// Takes the times of last use of sessions recorded since the previous call.
    pub(crate) fn take_seen_sessions(&self) -> Vec<(i64, Timestamp)> {
        let mut seen = mem::take(&mut *self.unsaved.lock());
        seen.extend(self.table().sessions.take_seen());
        seen.into_iter().collect()
    }

    /// The last uses of sessions that may not be stored yet, by primary key.
    pub(crate) fn seen(&self) -> HashMap<i64, Timestamp> {
        let mut seen = self.unsaved.lock().clone();
        for (session, at) in self.table().sessions.seen() {
            let latest = seen.entry(session).or_insert(at);
            *latest = at.max(*latest);
        }
        seen
    }

    fn table(&self) -> Arc<KeyTable> {
        Arc::clone(&self.table.read())
    }
}

impl KeyEntry {
    pub(super) fn is_valid_at(&self, now: Timestamp) -> bool {
        self.valid_until.is_none_or(|until| now < until)
    }

    fn used(&self) -> i64 {
        self.used.load(Ordering::Relaxed)
    }
}

/// Returns an actor with its current rights; none if it was removed or disabled.
pub(crate) fn actor_of(reader: &Reader<'_>, pk: i64) -> Result<Option<Actor>> {
    if let Some(user) = reader.user(pk)? {
        return Ok((!user.profile.disabled).then(|| session_cache::actor(user)));
    }
    Ok(reader.keys()?.into_iter().find(|row| row.pk == pk).map(actor))
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
