//! What all requests share.

use std::{
    hash::{BuildHasher, RandomState},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use cms_core::{BackupPlan, Cms};
use tokio::sync::{Semaphore, watch};

use crate::{blocking::Permits, config::ServerConfig, path::Table, router::ROUTES, site::Site};

/// Header that ties an answer to a line of the log.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longest request id that is taken over from a request.
const REQUEST_ID_LENGTH: usize = 64;

pub(crate) struct App {
    pub(crate) cms: Arc<Cms>,
    pub(crate) table: Table,
    pub(crate) permits: Permits,
    pub(crate) request_ids: RequestIds,
    pub(crate) site: Site,
    pub(crate) body_limit: usize,
    pub(crate) upload_limit: u64,
    /// How many more may follow changes.
    pub(crate) subscribers: Arc<Semaphore>,
    /// Wakes them after each commit.
    pub(crate) commits: watch::Sender<()>,
    _on_commit: Arc<dyn Fn() + Send + Sync>,
    pub(crate) backups: Option<BackupPlan>,
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
        Self {
            cms,
            table: Table::new(ROUTES),
            permits: Permits::new(config),
            request_ids: RequestIds::new(),
            site: Site::new(config),
            body_limit: config.body_limit,
            upload_limit: config.upload_limit,
            subscribers: Arc::new(Semaphore::new(config.subscribers)),
            commits,
            _on_commit: on_commit,
            backups: config.backups.clone(),
            draining: AtomicBool::new(false),
        }
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }
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
