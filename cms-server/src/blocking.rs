//! The one place where a request crosses from the threads that drive connections to work that may
//! block: database, disk, long computation.
//!
//! How many cross at a time is limited by [`Permits`]; who waits too long is told to come back.
//! A panic in the work is an error of that request alone.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use cms_core::{Error, Result, TRACE_TARGET};
use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
    task, time,
};
use tracing::{Instrument, info_span};

use crate::{config::ServerConfig, state::App};

/// How long a request waits for its turn before it is refused as [`Error::Busy`].
const PATIENCE: Duration = Duration::from_secs(10);
/// The same for uploads: what was sent, or is about to be, is not thrown away lightly.
const UPLOAD_PATIENCE: Duration = Duration::from_mins(1);

/// What kind of work a route does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// A few lookups by key: microseconds.
    Short,
    /// A list, a hydration, a count: perhaps long.
    Read,
    /// A full-text search: may wait until the index shows the last writes.
    Search,
    /// Waits for a commit.
    Write,
    /// Looks at a received file, which is in memory, and stores it.
    Inspect,
    /// Makes a picture: much computation and memory.
    Render,
    /// The same for pictures that take seconds: others must not wait behind them.
    RenderSlowly,
    /// Reads a piece of a stored file: a disk, or a network.
    File,
}

impl Work {
    /// Tells whether the work is done right on the thread of the connection. Changing threads
    /// costs more than a lookup does; anything longer would hold up other connections.
    fn runs_inline(self) -> bool {
        self == Self::Short
    }

    fn patience(self) -> Duration {
        if self == Self::Inspect { UPLOAD_PATIENCE } else { PATIENCE }
    }
}

/// How much work of each kind may be under way.
pub(crate) struct Permits {
    reads: Turns,
    searches: Turns,
    writes: Turns,
    uploads: Turns,
    large_bodies: Turns,
    inspections: Turns,
    renders: Turns,
    slow_renders: Turns,
    files: Turns,
    subscribers: Turns,
}

/// The permits of one kind.
struct Turns {
    kind: &'static str,
    semaphore: Arc<Semaphore>,
    all: usize,
    waiting: AtomicUsize,
}

/// How many permits of a kind there are, are in use, and are waited for.
pub(crate) struct PermitState {
    pub(crate) kind: &'static str,
    pub(crate) all: usize,
    pub(crate) used: usize,
    pub(crate) waiting: usize,
}

impl Permits {
    pub(crate) fn new(config: &ServerConfig) -> Self {
        let permits = |kind: &'static str, count: usize| {
            let all = count.max(1);
            let semaphore = Arc::new(Semaphore::new(all));
            Turns { kind, semaphore, all, waiting: AtomicUsize::new(0) }
        };
        Self {
            reads: permits("read", config.reads),
            searches: permits("search", config.searches),
            writes: permits("write", config.writes),
            uploads: permits("upload", config.uploads),
            large_bodies: permits("large_body", config.large_bodies),
            inspections: permits("inspection", config.inspections),
            renders: permits("render", config.renders),
            slow_renders: permits("slow_render", config.renders / 2),
            files: permits("file", config.files),
            subscribers: permits("subscriber", config.subscribers),
        }
    }

    fn of(&self, work: Work) -> &Turns {
        match work {
            Work::Short | Work::Read => &self.reads,
            Work::Search => &self.searches,
            Work::Write => &self.writes,
            Work::Inspect => &self.inspections,
            Work::Render => &self.renders,
            Work::RenderSlowly => &self.slow_renders,
            Work::File => &self.files,
        }
    }

    pub(crate) fn write_turns(&self) -> WriteTurns {
        WriteTurns(Arc::clone(&self.writes.semaphore))
    }

    /// Waits until one more file may be received.
    pub(crate) async fn upload(&self) -> Result<OwnedSemaphorePermit> {
        self.uploads.take(UPLOAD_PATIENCE).await
    }

    /// Waits until one more large body may be held in memory.
    pub(crate) async fn large_body(&self) -> Result<OwnedSemaphorePermit> {
        self.large_bodies.take(UPLOAD_PATIENCE).await
    }

    /// One more stream of changes, or none: those that there are may last for days.
    pub(crate) fn subscriber(&self) -> Result<OwnedSemaphorePermit> {
        self.subscribers.take_now(1, "too many streams of changes")
    }

    /// How much of each kind is under way.
    pub(crate) fn states(&self) -> [PermitState; 10] {
        [
            self.reads.state(),
            self.searches.state(),
            self.writes.state(),
            self.uploads.state(),
            self.large_bodies.state(),
            self.inspections.state(),
            self.renders.state(),
            self.slow_renders.state(),
            self.files.state(),
            self.subscribers.state(),
        ]
    }
}

impl Turns {
    async fn take(&self, patience: Duration) -> Result<OwnedSemaphorePermit> {
        if let Ok(permit) = Arc::clone(&self.semaphore).try_acquire_owned() {
            return Ok(permit);
        }
        let _waiting = Waiting::new(&self.waiting);
        let turn = Arc::clone(&self.semaphore).acquire_owned();
        let wait = info_span!(target: TRACE_TARGET, "wait");
        let permit = time::timeout(patience, turn).instrument(wait).await;
        let too_late = |_| Error::Busy("too many requests are waiting".to_owned());
        Ok(permit.map_err(too_late)?.expect("nobody closes the permits"))
    }

    /// Takes turns that are free, or says that there are too many of something.
    fn take_now(&self, count: u32, too_many: &str) -> Result<OwnedSemaphorePermit> {
        let permit = Arc::clone(&self.semaphore).try_acquire_many_owned(count);
        permit.map_err(|_| Error::Busy(too_many.to_owned()))
    }

    fn state(&self) -> PermitState {
        let used = self.all.saturating_sub(self.semaphore.available_permits());
        let waiting = self.waiting.load(Ordering::Relaxed);
        PermitState { kind: self.kind, all: self.all, used, waiting }
    }
}

/// One that waits, however that ends: a client may go away meanwhile.
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

/// The turns of [`Work::Write`], for those who have one and wait for something else than the database.
pub(crate) struct WriteTurns(Arc<Semaphore>);

impl WriteTurns {
    /// Lends the turn of the caller to somebody else while a future runs, and waits until there is
    /// one again.
    pub(crate) fn lend<T>(&self, runtime: &Handle, meanwhile: impl Future<Output = T>) -> T {
        self.0.add_permits(1);
        // Also when it panics: the turn of the caller is given back once more.
        let _lent = Lent { turns: &self.0, runtime };
        runtime.block_on(meanwhile)
    }
}

/// A turn that is to be taken back.
struct Lent<'a> {
    turns: &'a Semaphore,
    runtime: &'a Handle,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let taken = self.runtime.block_on(self.turns.acquire());
        taken.expect("nobody closes the permits").forget();
    }
}

/// Runs a job that may block, and returns what it returns.
pub(crate) async fn run<T: Send + 'static>(
    app: &Arc<App>,
    work: Work,
    job: impl FnOnce(&App) -> T + Send + 'static,
) -> Result<T> {
    if work.runs_inline() {
        return now(app, job);
    }
    let turns = app.permits.of(work);
    let permit = turns.take(work.patience()).await?;
    let span = info_span!(target: TRACE_TARGET, "work", otel.name = turns.kind);
    let job = move |app: &App| {
        let result = span.in_scope(|| job(app));
        drop(permit);
        result
    };
    cross(app, job).await
}

/// Runs a short job that may block without waiting for a turn: who asks has one already.
pub(crate) async fn cross<T: Send + 'static>(
    app: &Arc<App>,
    job: impl FnOnce(&App) -> T + Send + 'static,
) -> Result<T> {
    let app = Arc::clone(app);
    let crossed = task::spawn_blocking(move || now(&app, job)).await;
    crossed.map_err(|error| Error::Internal(error.into()))?
}

/// Runs a job right here, and makes an error of its panic. For work of microseconds: changing
/// threads would take longer.
pub(crate) fn now<T>(app: &App, job: impl FnOnce(&App) -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(|| job(app))).map_err(|panic| {
        let message = panic
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("without a message");
        Error::internal(format!("a request panicked: {message}"))
    })
}

#[cfg(test)]
mod tests {
    use cms_core::testing::TestCms;

    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_error_of_that_request_alone() {
        let core = TestCms::new();
        let app = Arc::new(App::new(&ServerConfig::default(), Arc::clone(&core.cms)));
        for work in [
            Work::Short,
            Work::Read,
            Work::Search,
            Work::Write,
            Work::Inspect,
            Work::Render,
            Work::RenderSlowly,
            Work::File,
        ] {
            let result = run(&app, work, |_| -> u8 { panic!("on purpose") }).await;
            let cause = match result {
                Err(Error::Internal(cause)) => cause.to_string(),
                other => panic!("{other:?}"),
            };
            assert_eq!(cause, "a request panicked: on purpose");
            assert_eq!(run(&app, work, |_| 1).await.unwrap(), 1);
        }
    }

    #[tokio::test]
    async fn who_waits_for_others_lends_the_turn() {
        let core = TestCms::new();
        let config = ServerConfig { writes: 1, ..ServerConfig::default() };
        let app = Arc::new(App::new(&config, Arc::clone(&core.cms)));
        let (tell, told) = tokio::sync::oneshot::channel::<&str>();
        let (begin, begun) = tokio::sync::oneshot::channel::<()>();
        let (runtime, turns) = (Handle::current(), app.permits.write_turns());
        let asking = tokio::spawn({
            let app = Arc::clone(&app);
            async move {
                run(&app, Work::Write, move |_| {
                    turns.lend(&runtime, async {
                        begin.send(()).unwrap();
                        told.await.unwrap()
                    })
                })
                .await
            }
        });
        begun.await.unwrap();
        assert_eq!(run(&app, Work::Write, |_| "another").await.unwrap(), "another");
        assert_eq!(app.permits.writes.semaphore.available_permits(), 1, "of the one who waits");
        tell.send("answered").unwrap();
        assert_eq!(asking.await.unwrap().unwrap(), "answered");
        assert_eq!(app.permits.writes.semaphore.available_permits(), 1);

        // Also when it ends badly.
        let (runtime, turns) = (Handle::current(), app.permits.write_turns());
        let panicking = move |_: &App| turns.lend(&runtime, async { panic!("on purpose") });
        assert!(run(&app, Work::Write, panicking).await.is_err());
        assert_eq!(app.permits.writes.semaphore.available_permits(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_too_long_is_sent_away() {
        let core = TestCms::new();
        let config = ServerConfig { writes: 1, ..ServerConfig::default() };
        let app = Arc::new(App::new(&config, Arc::clone(&core.cms)));
        let held = app.permits.writes.semaphore.acquire().await.unwrap();
        let refused = run(&app, Work::Write, |_| ()).await;
        assert!(matches!(refused, Err(Error::Busy(_))), "{refused:?}");
        drop(held);
        assert!(run(&app, Work::Write, |_| ()).await.is_ok());
    }
}
