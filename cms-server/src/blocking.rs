//! The one place where a request crosses from the threads that drive connections to work that may
//! block: database, disk, long computation.
//!
//! How many cross at a time is limited by [`Permits`]; who waits too long is told to come back.
//! A panic in the work is an error of that request alone.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use cms_core::{Error, Result};
use tokio::{sync::Semaphore, task, time};

use crate::{config::ServerConfig, state::App};

/// How long a request waits for its turn before it is refused as [`Error::Busy`].
const PATIENCE: Duration = Duration::from_secs(10);

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
}

impl Work {
    /// Tells whether the work is done right on the thread of the connection. Changing threads
    /// costs more than a lookup does; anything longer would hold up other connections.
    fn runs_inline(self) -> bool {
        self == Self::Short
    }
}

/// How much work of each kind may be under way.
pub(crate) struct Permits {
    reads: Arc<Semaphore>,
    searches: Arc<Semaphore>,
    writes: Arc<Semaphore>,
}

impl Permits {
    pub(crate) fn new(config: &ServerConfig) -> Self {
        Self {
            reads: Arc::new(Semaphore::new(config.reads.max(1))),
            searches: Arc::new(Semaphore::new(config.searches.max(1))),
            writes: Arc::new(Semaphore::new(config.writes.max(1))),
        }
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
    let permits = match work {
        Work::Short | Work::Read => &app.permits.reads,
        Work::Search => &app.permits.searches,
        Work::Write => &app.permits.writes,
    };
    let permit = time::timeout(PATIENCE, Arc::clone(permits).acquire_owned())
        .await
        .map_err(|_| Error::Busy("too many requests are waiting".to_owned()))?
        .expect("nobody closes the permits");
    let app = Arc::clone(app);
    task::spawn_blocking(move || {
        let result = now(&app, job);
        drop(permit);
        result
    })
    .await
    .map_err(|error| Error::Internal(error.into()))?
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
        for work in [Work::Short, Work::Read, Work::Search, Work::Write] {
            let result = run(&app, work, |_| -> u8 { panic!("on purpose") }).await;
            let cause = match result {
                Err(Error::Internal(cause)) => cause.to_string(),
                other => panic!("{other:?}"),
            };
            assert_eq!(cause, "a request panicked: on purpose");
            assert_eq!(run(&app, work, |_| 1).await.unwrap(), 1);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_too_long_is_sent_away() {
        let core = TestCms::new();
        let config = ServerConfig { writes: 1, ..ServerConfig::default() };
        let app = Arc::new(App::new(&config, Arc::clone(&core.cms)));
        let held = app.permits.writes.acquire().await.unwrap();
        let refused = run(&app, Work::Write, |_| ()).await;
        assert!(matches!(refused, Err(Error::Busy(_))), "{refused:?}");
        drop(held);
        assert!(run(&app, Work::Write, |_| ()).await.is_ok());
    }
}
