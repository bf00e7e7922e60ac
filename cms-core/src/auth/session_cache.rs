//! Caches the sessions that are in use, beside the keys of the same revision.
//!
//! A session is read when its cookie is first seen, so a sign-in does not have to invalidate the cache.
//! Everything that ends a session, or changes its user, increments `meta.auth_rev`.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use cms_model::{
    clock::Timestamp,
    context::{Actor, ActorKind},
    error::{Error, Result},
    user::session::Lifetime,
};
use cms_store::{Reader, UserRow};
use parking_lot::RwLock;

/// Maximum number of cached sessions; one more empties the cache.
const MAX_SESSIONS: usize = 50_000;

/// The sessions by the hash of their cookie.
#[derive(Default)]
pub(super) struct SessionCache(RwLock<Cached>);

#[derive(Default)]
struct Cached {
    sessions: HashMap<[u8; 32], Arc<SessionEntry>>,
    /// The users of the sessions, by primary key.
    users: HashMap<i64, Arc<Actor>>,
}

pub(super) struct SessionEntry {
    pub(super) pk: i64,
    pub(super) actor: Arc<Actor>,
    created_at: Timestamp,
    /// Time of the last request, in microseconds since the epoch.
    seen: AtomicI64,
    /// The value of `seen` at the last call of [`SessionCache::take_seen`].
    stored: AtomicI64,
}

impl SessionEntry {
    pub(super) fn record_use(&self, now: Timestamp) {
        self.seen.fetch_max(now.0, Ordering::Relaxed);
    }
}

impl SessionCache {
    /// Returns a session that is valid now.
    pub(super) fn find(&self, hash: &[u8; 32], now: Timestamp) -> Option<Arc<SessionEntry>> {
        let entry = self.0.read().sessions.get(hash).cloned()?;
        let seen = entry.seen.load(Ordering::Relaxed);
        let lifetime = Lifetime { created_at: entry.created_at, last_seen_at: Timestamp(seen) };
        lifetime.is_valid(now).then_some(entry)
    }

    /// Reads a session that is valid now.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] for an unknown or ended one.
    pub(super) fn load(
        &self,
        reader: &Reader<'_>,
        hash: [u8; 32],
        now: Timestamp,
    ) -> Result<Arc<SessionEntry>> {
        let row = reader.session_with_hash(hash)?.filter(|row| row.lifetime.is_valid(now));
        let row = row.ok_or(Error::Unauthenticated)?;
        let known = self.0.read().users.get(&row.user).cloned();
        let actor = if let Some(actor) = known {
            actor
        } else {
            let user = reader.user(row.user)?.filter(|user| !user.profile.disabled);
            Arc::new(actor(user.ok_or(Error::Unauthenticated)?))
        };
        let Lifetime { created_at, last_seen_at } = row.lifetime;
        let entry = Arc::new(SessionEntry {
            pk: row.pk,
            actor: Arc::clone(&actor),
            created_at,
            seen: AtomicI64::new(last_seen_at.0),
            stored: AtomicI64::new(last_seen_at.0),
        });
        let mut cached = self.0.write();
        if cached.sessions.len() >= MAX_SESSIONS {
            *cached = Cached::default();
        }
        cached.users.insert(row.user, actor);
        cached.sessions.insert(hash, Arc::clone(&entry));
        Ok(entry)
    }

    /// Takes the times of the last use that are not stored.
    pub(super) fn take_seen(&self) -> Vec<(i64, Timestamp)> {
        let cached = self.0.read();
        let seen = cached.sessions.values().filter_map(|entry| {
            let seen = entry.seen.load(Ordering::Relaxed);
            let stored = entry.stored.swap(seen, Ordering::Relaxed);
            (seen > stored).then_some((entry.pk, Timestamp(seen)))
        });
        seen.collect()
    }

    /// The last use of each cached session.
    pub(super) fn seen(&self) -> HashMap<i64, Timestamp> {
        let seen =
            |entry: &Arc<SessionEntry>| (entry.pk, Timestamp(entry.seen.load(Ordering::Relaxed)));
        self.0.read().sessions.values().map(seen).collect()
    }
}

pub(super) fn actor(user: UserRow) -> Actor {
    let may_publish = user.profile.publishes();
    Actor {
        pk: Some(user.pk),
        id: user.uid,
        name: user.profile.name,
        kind: ActorKind::User { role: user.profile.role, email: user.profile.email },
        rules: user.profile.rules,
        may_publish,
    }
}
