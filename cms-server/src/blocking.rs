//! Runs the work of requests on threads that may block: for the database, the disk, or long computations.
//!
//! [`Permits`](crate::net::permits::Permits) limit how much of this work runs at the same time. Work of
//! [`run_without_permit`] needs none, nor does the download of a backup, which has a lock of its own. A
//! panic in the work is an error of its request alone.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use cms_core::{Error, Result, TRACE_TARGET};
use tokio::task;
use tracing::{Span, info_span};

use crate::{
    net::permits::{Permit, Work},
    state::App,
};

/// Runs work on a thread that may block, once there is a permit for it.
pub(crate) async fn run<T: Send + 'static>(
    app: &Arc<App>,
    kind: Work,
    call: impl FnOnce(&App) -> T + Send + 'static,
) -> Result<T> {
    let permit = app.permits.acquire(kind).await?;
    run_with_permit(app, kind, permit, call).await
}

/// As [`run`], with a permit that the caller has acquired; released when the work ends.
pub(crate) async fn run_with_permit<T: Send + 'static>(
    app: &Arc<App>,
    kind: Work,
    permit: Permit,
    call: impl FnOnce(&App) -> T + Send + 'static,
) -> Result<T> {
    let span = span(kind);
    let call = move |app: &App| {
        let result = span.in_scope(|| call(app));
        drop(permit);
        result
    };
    run_without_permit(app, call).await
}

/// The span of a piece of work.
pub(crate) fn span(kind: Work) -> Span {
    info_span!(target: TRACE_TARGET, "work", otel.name = kind.name())
}

/// Runs work on a thread that may block: the caller has a permit, or must not wait for one.
pub(crate) async fn run_without_permit<T: Send + 'static>(
    app: &Arc<App>,
    call: impl FnOnce(&App) -> T + Send + 'static,
) -> Result<T> {
    let app = Arc::clone(app);
    let joined = task::spawn_blocking(move || catch_panic(|| call(&app))).await;
    joined.map_err(Error::internal)?
}

/// Runs work of microseconds on the current thread, where changing threads would take longer.
pub(crate) fn run_inline<T>(app: &App, call: impl FnOnce(&App) -> T) -> Result<T> {
    catch_panic(|| call(app))
}

/// Runs work; a panic becomes an internal error.
fn catch_panic<T>(call: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| {
        let message = panic
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("without a message");
        Error::internal(format!("request panicked: {message}"))
    })
}

#[cfg(test)]
mod tests {
    use cms_core::testing::TestCms;
    use tokio::{runtime::Handle, sync::oneshot};

    use super::*;
    use crate::config::ServerConfig;

    #[tokio::test]
    async fn panic_is_an_error_of_its_request_alone() {
        let core = TestCms::new();
        let app = Arc::new(App::new(&ServerConfig::default(), Arc::clone(&core.cms)));
        for kind in [
            Work::Read,
            Work::Search,
            Work::Write,
            Work::Image,
            Work::SlowImage,
            Work::Upload,
            Work::File,
        ] {
            let result = run(&app, kind, |_| -> u8 { panic!("on purpose") }).await;
            let cause = match result {
                Err(Error::Internal(cause)) => cause.to_string(),
                other => panic!("{other:?}"),
            };
            assert_eq!(cause, "request panicked: on purpose");
            assert_eq!(run(&app, kind, |_| 1).await.unwrap(), 1);
        }
    }

    #[tokio::test]
    async fn write_permit_is_released_while_waiting() {
        let core = TestCms::new();
        let config = ServerConfig { writes: 1, ..ServerConfig::default() };
        let app = Arc::new(App::new(&config, Arc::clone(&core.cms)));
        let free = || app.permits.states()[1].total - app.permits.states()[1].used;
        let (finish, finished) = oneshot::channel::<&str>();
        let (start, started) = oneshot::channel::<()>();
        let (runtime, permits) = (Handle::current(), app.permits.write_permits());
        let waiting = tokio::spawn({
            let app = Arc::clone(&app);
            async move {
                run(&app, Work::Write, move |_| {
                    permits.release_while(&runtime, async {
                        start.send(()).unwrap();
                        finished.await.unwrap()
                    })
                })
                .await
            }
        });
        started.await.unwrap();
        assert_eq!(run(&app, Work::Write, |_| "another").await.unwrap(), "another");
        assert_eq!(free(), 1, "the permit of the write that waits");
        finish.send("finished").unwrap();
        assert_eq!(waiting.await.unwrap().unwrap(), "finished");
        assert_eq!(free(), 1);

        // The permit is also acquired again when the future panics.
        let (runtime, permits) = (Handle::current(), app.permits.write_permits());
        let panicking =
            move |_: &App| permits.release_while(&runtime, async { panic!("on purpose") });
        assert!(run(&app, Work::Write, panicking).await.is_err());
        assert_eq!(free(), 1);
    }
}
