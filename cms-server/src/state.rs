//! What all requests share.

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
use cms_core::{BackupPlan, Caller, Cms, MemoryBudget};
use tokio::{sync::watch, time::Instant};

use crate::{
    blocking::Permits,
    config::{MetricsAccess, ServerConfig, Tunables},
    net::connection_limits::Admission,
    net::rate_limit::{self, Limiter},
    net::transfer_rate::Pace,
    public_url::Site,
    routing::path::Table,
    routing::table::ROUTES,
    telemetry::log_writer::LogWriter,
    telemetry::metrics::Metrics,
};

/// Header that ties an answer to a line of the log.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longest request id that is taken over from a request.
const REQUEST_ID_LENGTH: usize = 64;

pub(crate) struct App {
    pub(crate) cms: Arc<Cms>,
    pub(crate) table: Table,
    pub(crate) permits: Permits,
    /// For responses, made or unsent.
    pub(crate) memory: Arc<MemoryBudget>,
    pub(crate) request_ids: RequestIds,
    pub(crate) site: Site,
    pub(crate) body_limit: usize,
    pub(crate) upload_limit: u64,
    /// Wakes who follows changes after each commit.
    pub(crate) commits: watch::Sender<()>,
    _on_commit: Arc<dyn Fn() + Send + Sync>,
    pub(crate) backups: Option<BackupPlan>,
    pub(crate) pace: Pace,
    pub(crate) request_timeout: Duration,
    pub(crate) metrics: Metrics,
    pub(crate) metrics_for: MetricsAccess,
    pub(crate) admission: Arc<Admission>,
    pub(crate) log: Option<LogWriter>,
    /// In microseconds; the largest number for never.
    slow_query: AtomicU64,
    key_rate: Limiter<String>,
    address_rate: Limiter<IpAddr>,
    started: Instant,
    /// The server is about to stop: it finishes what runs and is not ready for more.
    pub(crate) draining: AtomicBool,
}

impl App {
    pub(crate) fn new(config: &ServerConfig, cms: Arc<Cms>) -> Self {
        let commits = watch::Sender::new(());
        let told = commits.clone();
        let on_commit: Arc<dyn Fn() + Send + Sync> = Arc::new(move || {
            told.send_replace(());
        });
        cms.on_commit(&on_commit);
        let memory = Arc::new(MemoryBudget::new(config.response_memory));
        Self {
            cms,
            table: Table::new(ROUTES),
            permits: Permits::new(config),
            admission: Arc::new(Admission::new(config, &memory)),
            memory,
            request_ids: RequestIds::new(),
            site: Site::new(config),
            body_limit: config.body_limit,
            upload_limit: config.upload_limit,
            commits,
            _on_commit: on_commit,
            backups: config.backups.clone(),
            pace: Pace { least_rate: config.least_rate },
            request_timeout: config.request_timeout,
            metrics: Metrics::new(),
            metrics_for: config.metrics,
            log: config.log.clone(),
            slow_query: AtomicU64::new(micros(config.tunables.slow_query)),
            key_rate: Limiter::new(config.tunables.key_rate),
            address_rate: Limiter::new(config.tunables.address_rate),
            started: Instant::now(),
            draining: AtomicBool::new(false),
        }
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Sets what may change while the server runs.
    pub(crate) fn tune(&self, tunables: Tunables) {
        self.slow_query.store(micros(tunables.slow_query), Ordering::Relaxed);
        self.key_rate.set(tunables.key_rate);
        self.address_rate.set(tunables.address_rate);
    }

    /// Tells whether a read that took so long is worth a line in the log.
    pub(crate) fn is_slow(&self, time: Duration) -> bool {
        micros(Some(time)) >= self.slow_query.load(Ordering::Relaxed)
    }

    /// Tells whether an address may ask now.
    pub(crate) fn admits_address(&self, address: IpAddr) -> bool {
        self.address_rate.admits(&rate_limit::network(address), || self.started.elapsed())
    }

    /// Tells whether a key may ask now.
    pub(crate) fn admits_key(&self, caller: &Caller) -> bool {
        self.key_rate.admits(&caller.actor().id, || self.started.elapsed())
    }
}

fn micros(time: Option<Duration>) -> u64 {
    time.and_then(|time| u64::try_from(time.as_micros()).ok()).unwrap_or(u64::MAX)
}

/// Names requests: a number that differs from start to start, then a counter.
pub(crate) struct RequestIds {
    start: u64,
    next: AtomicU64,
}

impl RequestIds {
    fn new() -> Self {
        Self { start: RandomState::new().hash_one(0) & 0xffff_ffff, next: AtomicU64::new(1) }
    }

    /// Returns the id that the request came with when it can be trusted to be harmless in a
    /// header and a log, else a new one.
    pub(crate) fn of(&self, headers: &HeaderMap) -> HeaderValue {
        match headers.get(REQUEST_ID) {
            Some(id) if is_plain(id.as_bytes()) => id.clone(),
            _ => {
                let number = self.next.fetch_add(1, Ordering::Relaxed);
                HeaderValue::try_from(format!("{:08x}-{number:x}", self.start))
                    .expect("hexadecimal digits make a header value")
            }
        }
    }
}

fn is_plain(id: &[u8]) -> bool {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"-_.".contains(b);
    !id.is_empty() && id.len() <= REQUEST_ID_LENGTH && id.iter().all(plain)
}
