//! The state that all requests share. It knows no routes.

use std::{
    hash::{BuildHasher, RandomState},
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use cms_core::{Caller, Cms, Error, MemoryBudget, Result};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time::Instant,
};

use crate::{
    config::{ReloadableSettings, ServerConfig},
    consistency::ReplicaSync,
    forward::Forwarding,
    net::{
        connection_limits::ConnectionLimits,
        permits::Permits,
        rate_limit::{RateLimiter, client_network},
        sign_in_limits::SignInLimits,
        transfer_rate::MinTransferRate,
    },
    openid::OpenId,
    response::cache::ResponseCache,
    telemetry::metrics::Metrics,
};

/// Header that connects a response with a line of the log.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longest request id that is accepted from a client, in bytes.
const MAX_REQUEST_ID_BYTES: usize = 64;

pub(crate) struct App {
    pub(crate) cms: Arc<Cms>,
    /// The settings at the start of the server; [`Self::apply_reloadable`] changes copies of some.
    pub(crate) config: ServerConfig,
    pub(crate) permits: Permits,
    /// Memory of all responses, from rendering until they are sent.
    pub(crate) response_memory: Arc<MemoryBudget>,
    pub(crate) response_cache: ResponseCache,
    pub(crate) request_ids: RequestIds,
    /// Notifies streams of changes and the webhook dispatcher of each commit.
    pub(crate) commits: watch::Sender<()>,
    _on_commit: Arc<dyn Fn() + Send + Sync>,
    pub(crate) min_transfer_rate: MinTransferRate,
    pub(crate) metrics: Metrics,
    pub(crate) connection_limits: Arc<ConnectionLimits>,
    /// Permits for streams of changes.
    free_subscribers: Arc<Semaphore>,
    /// In microseconds; the maximum means never.
    slow_query: AtomicU64,
    key_rate: RateLimiter<String>,
    address_rate: RateLimiter<IpAddr>,
    pub(crate) sign_in_limits: SignInLimits,
    /// For a node of a cluster.
    pub(crate) replica_sync: Arc<ReplicaSync>,
    pub(crate) forwarding: Forwarding,
    /// None when sign-in by OpenID Connect is not configured.
    pub(crate) openid: Option<Arc<OpenId>>,
    started: Instant,
    /// The server is shutting down: it finishes running requests and is not ready for more.
    pub(crate) draining: AtomicBool,
}

impl App {
    pub(crate) fn new(config: &ServerConfig, cms: Arc<Cms>) -> Self {
        let commits = watch::Sender::new(());
        let notified = commits.clone();
        let on_commit: Arc<dyn Fn() + Send + Sync> = Arc::new(move || {
            notified.send_replace(());
        });
        cms.on_commit(&on_commit);
        let replica_sync = ReplicaSync::start(&cms);
        let response_memory = Arc::new(MemoryBudget::new(config.response_memory));
        Self {
            cms,
            permits: Permits::new(config),
            connection_limits: Arc::new(ConnectionLimits::new(config, &response_memory)),
            response_memory,
            response_cache: ResponseCache::new(config.response_cache),
            request_ids: RequestIds::new(),
            commits,
            _on_commit: on_commit,
            min_transfer_rate: MinTransferRate(config.min_transfer_rate),
            metrics: Metrics::new(),
            free_subscribers: Arc::new(Semaphore::new(config.subscribers.max(1))),
            slow_query: AtomicU64::new(micros(config.reloadable.slow_query)),
            key_rate: RateLimiter::new(config.reloadable.key_rate),
            address_rate: RateLimiter::new(config.reloadable.address_rate),
            sign_in_limits: SignInLimits::default(),
            replica_sync,
            forwarding: Forwarding::default(),
            openid: config.openid.as_ref().map(|config| Arc::new(OpenId::new(config))),
            config: config.clone(),
            started: Instant::now(),
            draining: AtomicBool::new(false),
        }
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Applies settings that change while the server runs.
    pub(crate) fn apply_reloadable(&self, reloadable: ReloadableSettings) {
        self.slow_query.store(micros(reloadable.slow_query), Ordering::Relaxed);
        self.key_rate.set(reloadable.key_rate);
        self.address_rate.set(reloadable.address_rate);
    }

    /// Returns whether a read of this duration is logged as a slow query.
    pub(crate) fn is_slow(&self, time: Duration) -> bool {
        micros(Some(time)) >= self.slow_query.load(Ordering::Relaxed)
    }

    /// Returns whether the rate limit of an address admits a request now.
    pub(crate) fn admits_address(&self, address: IpAddr) -> bool {
        self.address_rate.admits(&client_network(address), || self.started.elapsed())
    }

    /// Returns whether the rate limit of a key admits a request now.
    pub(crate) fn admits_key(&self, caller: &Caller) -> bool {
        self.key_rate.admits(&caller.actor().id, || self.started.elapsed())
    }

    /// The time for [`Self::sign_in_limits`].
    pub(crate) fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// Returns the number of open streams of changes.
    pub(crate) fn subscribers(&self) -> usize {
        self.config.subscribers.max(1).saturating_sub(self.free_subscribers.available_permits())
    }

    /// Acquires a permit for a stream of changes, or fails when all are in use. A stream may last
    /// for days, so requests do not wait for one.
    pub(crate) fn subscribe(&self) -> Result<OwnedSemaphorePermit> {
        let permit = Arc::clone(&self.free_subscribers).try_acquire_owned();
        permit.map_err(|_| Error::Busy("too many streams of changes".to_owned()))
    }
}

impl Drop for App {
    /// Ends the thread that checks the head, which keeps the data directory open.
    fn drop(&mut self) {
        self.replica_sync.stop();
    }
}

fn micros(time: Option<Duration>) -> u64 {
    time.and_then(|time| u64::try_from(time.as_micros()).ok()).unwrap_or(u64::MAX)
}

/// Generates request ids: a random number of the process, then a counter.
pub(crate) struct RequestIds {
    process: u64,
    next: AtomicU64,
}

impl RequestIds {
    pub(crate) fn new() -> Self {
        Self { process: RandomState::new().hash_one(0) & 0xffff_ffff, next: AtomicU64::new(1) }
    }

    /// Returns the id of the request when it is harmless in a header and a log, else a new one.
    pub(crate) fn of(&self, headers: &HeaderMap) -> HeaderValue {
        match headers.get(REQUEST_ID) {
            Some(id) if is_plain(id.as_bytes()) => id.clone(),
            _ => {
                let number = self.next.fetch_add(1, Ordering::Relaxed);
                HeaderValue::try_from(format!("{:08x}-{number:x}", self.process))
                    .expect("hexadecimal digits make a header value")
            }
        }
    }
}

fn is_plain(id: &[u8]) -> bool {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"-_.".contains(b);
    !id.is_empty() && id.len() <= MAX_REQUEST_ID_BYTES && id.iter().all(plain)
}
