//! Permits: how much work of each kind runs at the same time.
//!
//! Work waits for a permit for a limited time, then the request fails with [`Error::Busy`]. Slow
//! work gets at most a share of the permits of its kind, so fast work does not wait behind slow
//! work, unless there is only one permit.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use cms_core::{Error, Result, TRACE_TARGET};
use tokio::{
    runtime::Handle,
    sync::{AcquireError, OwnedSemaphorePermit, Semaphore},
    time,
};
use tracing::{Instrument, info_span};

use crate::config::ServerConfig;

/// How long a request waits for a permit.
const WAIT_TIMEOUT: Duration = Duration::from_secs(10);
/// The same for an image: a page requests all of its images concurrently, and each is rendered once.
const IMAGE_WAIT_TIMEOUT: Duration = Duration::from_secs(30);
/// The same for an upload, before or after it is received, and for a large JSON body.
const UPLOAD_WAIT_TIMEOUT: Duration = Duration::from_mins(1);
/// Permits that a large JSON body takes: the body is in memory, together with the text that will be
/// stored, while an upload is written to disk.
const LARGE_BODY_PERMITS: u32 = 2;

/// The kinds of work on threads that may block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// A list, a hydration, a GraphQL query.
    Read,
    /// A full-text search, which may wait until the index has the last writes: a slow read.
    Search,
    /// Waits for a commit.
    Write,
    /// Renders an image: computation and memory.
    Image,
    /// Renders an image, which takes seconds.
    SlowImage,
    /// Decodes and stores a received file.
    Upload,
    /// Reads a chunk of a stored file, or creates a backup: waits for a disk or a network. Also health checks and metrics.
    File,
    /// Hashes passwords: tens of milliseconds of a core, and 19 MiB each.
    Password,
}

impl Work {
    /// The name of the span of such work.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Search => "search",
            Self::Write => "write",
            Self::Image | Self::SlowImage => "render",
            Self::Upload => "upload",
            Self::File => "file",
            Self::Password => "password",
        }
    }
}

/// The pools of permits.
pub(crate) struct Permits {
    read: PermitPool,
    write: PermitPool,
    image: PermitPool,
    file: PermitPool,
    password: PermitPool,
    /// Uploads and large JSON bodies that are received.
    body: PermitPool,
}

/// The permits that one or several kinds of work share.
struct PermitPool {
    name: &'static str,
    total: usize,
    permits: Arc<Semaphore>,
    /// Limits slow work, which takes one of these first.
    slow: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// Permits that are in use until this is dropped.
pub(crate) struct Permit {
    _permits: OwnedSemaphorePermit,
    _slow: Option<OwnedSemaphorePermit>,
}

/// The numbers of a pool: its permits, the permits in use, and the requests that wait for a permit.
pub(crate) struct PermitState {
    pub(crate) pool: &'static str,
    pub(crate) total: usize,
    pub(crate) used: usize,
    pub(crate) waiting: usize,
}

impl Permits {
    pub(crate) fn new(config: &ServerConfig) -> Self {
        let pool = |name, total: usize, slow: usize| {
            let (total, slow) = (total.max(1), Arc::new(Semaphore::new(slow.max(1))));
            let permits = Arc::new(Semaphore::new(total));
            PermitPool { name, total, permits, slow, waiting: AtomicUsize::new(0) }
        };
        Self {
            read: pool("read", config.reads, config.reads * 2 / 3),
            write: pool("write", config.writes, 0),
            image: pool("image", config.images, config.images / 2),
            file: pool("file", config.files, 0),
            password: pool("password", config.passwords, 0),
            body: pool("body", config.bodies, 0),
        }
    }

    fn pool(&self, work: Work) -> &PermitPool {
        match work {
            Work::Read | Work::Search => &self.read,
            Work::Write => &self.write,
            Work::Image | Work::SlowImage | Work::Upload => &self.image,
            Work::File => &self.file,
            Work::Password => &self.password,
        }
    }

    /// Waits for a permit for a piece of work.
    pub(crate) async fn acquire(&self, work: Work) -> Result<Permit> {
        let is_slow = matches!(work, Work::Search | Work::SlowImage | Work::Upload);
        let timeout = match work {
            Work::Upload => UPLOAD_WAIT_TIMEOUT,
            Work::Image | Work::SlowImage => IMAGE_WAIT_TIMEOUT,
            _ => WAIT_TIMEOUT,
        };
        self.pool(work).acquire(1, is_slow, timeout).await
    }

    /// Waits for a permit to receive a file.
    pub(crate) async fn acquire_to_receive_upload(&self) -> Result<Permit> {
        self.body.acquire(1, false, UPLOAD_WAIT_TIMEOUT).await
    }

    /// Waits for a permit to receive a large JSON body.
    pub(crate) async fn acquire_large_body(&self) -> Result<Permit> {
        let permits = LARGE_BODY_PERMITS.min(u32::try_from(self.body.total).unwrap_or(u32::MAX));
        self.body.acquire(permits, false, UPLOAD_WAIT_TIMEOUT).await
    }

    pub(crate) fn write_permits(&self) -> WritePermits {
        WritePermits(Arc::clone(&self.write.permits))
    }

    pub(crate) fn states(&self) -> [PermitState; 6] {
        let Self { read, write, image, file, password, body } = self;
        [read, write, image, file, password, body].map(PermitPool::state)
    }
}

impl PermitPool {
    async fn acquire(&self, count: u32, is_slow: bool, timeout: Duration) -> Result<Permit> {
        if let Some(permit) = self.try_acquire(count, is_slow) {
            return Ok(permit);
        }
        let _waiting = Waiting::new(&self.waiting);
        let acquired = async {
            let slow =
                if is_slow { Some(Arc::clone(&self.slow).acquire_owned().await?) } else { None };
            let permits = Arc::clone(&self.permits).acquire_many_owned(count).await?;
            Ok::<_, AcquireError>(Permit { _permits: permits, _slow: slow })
        };
        let span = info_span!(target: TRACE_TARGET, "wait");
        let acquired = time::timeout(timeout, acquired).instrument(span).await;
        let timed_out =
            |_| Error::Busy(format!("too many requests wait for a {} permit", self.name));
        Ok(acquired.map_err(timed_out)?.expect("the semaphores are never closed"))
    }

    fn try_acquire(&self, count: u32, is_slow: bool) -> Option<Permit> {
        let slow =
            if is_slow { Some(Arc::clone(&self.slow).try_acquire_owned().ok()?) } else { None };
        let permits = Arc::clone(&self.permits).try_acquire_many_owned(count).ok()?;
        Some(Permit { _permits: permits, _slow: slow })
    }

    fn state(&self) -> PermitState {
        let used = self.total.saturating_sub(self.permits.available_permits());
        let waiting = self.waiting.load(Ordering::Relaxed);
        PermitState { pool: self.name, total: self.total, used, waiting }
    }
}

/// Counts one waiting request until it is dropped, even when the client disconnects meanwhile.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The permits of [`Work::Write`], for a write that holds one and has to wait for a synchronous
/// webhook.
pub(crate) struct WritePermits(Arc<Semaphore>);

impl WritePermits {
    /// Releases the permit of the caller while a future runs, and acquires one again.
    pub(crate) fn release_while<T>(&self, runtime: &Handle, future: impl Future<Output = T>) -> T {
        self.0.add_permits(1);
        // Drop acquires the permit again, so also after a panic: unwinding releases the permit of the
        // caller.
        let _reacquire = ReacquireOnDrop { permits: &self.0, runtime };
        runtime.block_on(future)
    }
}

/// Acquires a permit again.
struct ReacquireOnDrop<'a> {
    permits: &'a Semaphore,
    runtime: &'a Handle,
}

impl Drop for ReacquireOnDrop<'_> {
    fn drop(&mut self) {
        let acquired = self.runtime.block_on(self.permits.acquire());
        acquired.expect("the semaphores are never closed").forget();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permits() -> Permits {
        let config = ServerConfig { reads: 3, images: 2, bodies: 3, ..ServerConfig::default() };
        Permits::new(&config)
    }

    #[tokio::test(start_paused = true)]
    async fn permit_wait_times_out() {
        let permits = permits();
        let held = [permits.acquire(Work::Image).await, permits.acquire(Work::Image).await];
        let refused = permits.acquire(Work::Image).await;
        assert!(matches!(refused, Err(Error::Busy(_))));
        assert_eq!(permits.image.state().waiting, 0);
        drop(held);
        assert!(permits.acquire(Work::Image).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn image_waits_longer_than_a_read() {
        let permits = permits();
        let held = permits.acquire(Work::SlowImage).await.unwrap();
        let release = async {
            time::sleep(WAIT_TIMEOUT * 2).await;
            drop(held);
        };
        let (acquired, ()) = tokio::join!(permits.acquire(Work::SlowImage), release);
        assert!(acquired.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn slow_work_leaves_permits_to_fast_work() {
        let permits = permits();
        let _first = permits.acquire(Work::Search).await.unwrap();
        let _second = permits.acquire(Work::Search).await.unwrap();
        assert!(permits.acquire(Work::Search).await.is_err());
        assert!(permits.acquire(Work::Read).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn large_bodies_take_more_permits_than_uploads() {
        let permits = permits();
        let _large = permits.acquire_large_body().await.unwrap();
        assert!(permits.acquire_large_body().await.is_err());
        let _upload = permits.acquire_to_receive_upload().await.unwrap();
        assert!(permits.acquire_to_receive_upload().await.is_err());
        assert_eq!(permits.body.state().used, 3);
    }
}
