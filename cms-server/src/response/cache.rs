//! Caches the responses to reads of content. A cached response is used until any process
//! changes the content that it was made from (docs/decisions/0017-response-cache.md).
//!
//! The key has everything that determines such a response besides the content: the caller, the view
//! that its headers select, path and query. Conditions and content codings are negotiated later,
//! for cached responses too.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use axum::{
    body::Bytes,
    http::{HeaderName, HeaderValue, request::Parts},
};
use cms_core::{
    Caller, Cms, CommitState, Credential, Dependencies, TypesRead, Visibility,
    wire::condition::EntityTag,
};
use quick_cache::{Equivalent, Weighter, sync::Cache};

use super::compression::{Coding, PerCoding};
use crate::extract::query::query_string;

/// Larger responses are not cached: each would displace many of typical size.
const MAX_BODY_BYTES: usize = 256 * 1024;
/// Memory of an entry besides its texts.
const ENTRY_BYTES: u64 = 512;
/// Typical memory of an entry, from which the number of entries is estimated.
const TYPICAL_BYTES: usize = 16 * 1024;

/// The cached responses of this process.
pub(crate) struct ResponseCache {
    /// None when the cache is disabled.
    entries: Option<Cache<Arc<Key>, Arc<CachedResponse>, Weight>>,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// A complete response with status 200.
#[derive(Clone)]
pub(crate) struct CachedResponse {
    key: Arc<Key>,
    dependencies: Arc<Dependencies>,
    pub(super) body: Bytes,
    pub(super) tag: Option<EntityTag>,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    /// The body in each content coding, once a client has accepted it.
    compressed: PerCoding<Option<Bytes>>,
}

/// A response that may be cached once it exists: its key, and the state of the content before it was
/// created.
pub(crate) struct PendingEntry {
    key: Arc<Key>,
    state: Arc<CommitState>,
}

/// The result of looking a request up in the cache.
pub(crate) enum Lookup {
    /// The cached response.
    Hit(Arc<CachedResponse>),
    /// Completed by [`ResponseCache::insert`]; none if the response must not be cached.
    Miss(Option<PendingEntry>),
}

#[derive(PartialEq, Eq, Hash)]
struct Key {
    /// Primary key.
    actor: i64,
    visibility: Visibility,
    path: Box<str>,
    query: Box<str>,
}

/// A borrowed key for lookups. Its hash equals that of [`Key`].
#[derive(Hash)]
struct KeyRef<'a> {
    actor: i64,
    visibility: Visibility,
    path: &'a str,
    query: &'a str,
}

impl<'a> KeyRef<'a> {
    /// The key of a request; none for callers whose responses are not cached.
    fn of(caller: &Caller, parts: &'a Parts) -> Option<Self> {
        let actor = caller.actor().pk.filter(|_| caller.credential != Credential::PreviewToken)?;
        let (path, query) = (parts.uri.path(), query_string(parts));
        Some(Self { actor, visibility: caller.visibility, path, query })
    }

    fn to_key(&self) -> Key {
        let Self { actor, visibility, path, query } = *self;
        Key { actor, visibility, path: path.into(), query: query.into() }
    }
}

impl Equivalent<Arc<Key>> for KeyRef<'_> {
    fn equivalent(&self, key: &Arc<Key>) -> bool {
        self.actor == key.actor
            && self.visibility == key.visibility
            && self.path == &*key.path
            && self.query == &*key.query
    }
}

/// Weighs entries in bytes.
#[derive(Clone)]
struct Weight;

impl Weighter<Arc<Key>, Arc<CachedResponse>> for Weight {
    fn weight(&self, key: &Arc<Key>, cached: &Arc<CachedResponse>) -> u64 {
        let compressed: usize = cached.compressed.iter().flatten().map(Bytes::len).sum();
        let texts = cached.body.len() + compressed + key.path.len() + key.query.len();
        ENTRY_BYTES + texts as u64
    }
}

impl ResponseCache {
    /// Creates a cache of a maximum size in bytes; 0 disables it.
    pub(crate) fn new(max_bytes: usize) -> Self {
        let entries = || Cache::with_weighter(max_bytes / TYPICAL_BYTES, max_bytes as u64, Weight);
        Self {
            entries: (max_bytes > 0).then(entries),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    /// Looks up the response to a request of an authenticated caller. `state` belongs to the
    /// newest commit, and was read after the request began.
    pub(crate) fn find(&self, state: Arc<CommitState>, caller: &Caller, parts: &Parts) -> Lookup {
        let Some((entries, key)) = self.entries.as_ref().zip(KeyRef::of(caller, parts)) else {
            return Lookup::Miss(None);
        };
        let cached = entries.get(&key).filter(|cached| state.are_current(&cached.dependencies));
        let counter = if cached.is_some() { &self.hits } else { &self.misses };
        counter.fetch_add(1, Ordering::Relaxed);
        match cached {
            Some(cached) => Lookup::Hit(cached),
            None => Lookup::Miss(Some(PendingEntry { key: Arc::new(key.to_key()), state })),
        }
    }

    /// Caches a response that was made from these types, unless there was a commit meanwhile: then
    /// it is not known to which state it belongs.
    pub(super) fn insert(
        &self,
        cms: &Cms,
        PendingEntry { key, state }: &PendingEntry,
        types: TypesRead,
        (body, tag, headers): (&Bytes, Option<EntityTag>, &[(HeaderName, HeaderValue)]),
    ) -> Option<Arc<CachedResponse>> {
        let entries = self.entries.as_ref().filter(|_| body.len() <= MAX_BODY_BYTES)?;
        let cached = cms.is_newest(state).then(|| {
            Arc::new(CachedResponse {
                key: Arc::clone(key),
                dependencies: Arc::new(state.dependencies(types)),
                body: body.clone(),
                tag,
                headers: headers.to_vec(),
                compressed: PerCoding::default(),
            })
        })?;
        entries.insert(Arc::clone(key), Arc::clone(&cached));
        Some(cached)
    }

    /// Returns the body of a cached response in a content coding, and keeps it with the response.
    pub(super) fn compressed(&self, cached: &CachedResponse, coding: Coding) -> Bytes {
        if let Some(compressed) = &cached.compressed[coding as usize] {
            return compressed.clone();
        }
        let compressed = Bytes::from(coding.compress(&cached.body));
        let mut larger = cached.clone();
        larger.compressed[coding as usize] = Some(compressed.clone());
        // Replaced, because an entry is weighed when it is stored. A response that was evicted
        // meanwhile stays evicted.
        if let Some(entries) = &self.entries {
            entries.replace(Arc::clone(&cached.key), Arc::new(larger), false).ok();
        }
        compressed
    }

    /// Number of requests with a cached response, and of requests without one.
    pub(crate) fn counts(&self) -> [u64; 2] {
        [&self.hits, &self.misses].map(|counter| counter.load(Ordering::Relaxed))
    }

    /// Memory of the entries in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.entries.as_ref().map_or(0, Cache::weight)
    }
}
