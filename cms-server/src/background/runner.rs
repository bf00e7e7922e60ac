//! Runs background tasks, and logs their errors.

use std::{sync::Arc, time::Duration};

use cms_core::{Cms, Error, Result};
use tokio::time;

use crate::{blocking, net::permits::Work, state::App};

/// Pause of [`poll`] when there is nothing to do.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Pause of [`poll`] after an error, because a full disk stays full for a while.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// Runs a task again and again, with a pause before each run.
pub(super) async fn repeat(
    app: Arc<App>,
    interval: Duration,
    (name, work): (&'static str, Work),
    task: fn(&Cms) -> Result<()>,
) {
    loop {
        time::sleep(interval).await;
        run(&app, (name, work), task).await;
    }
}

/// Runs a task again and again, without a pause as long as it returns that there is more to do.
pub(super) async fn poll(
    app: Arc<App>,
    (name, work): (&'static str, Work),
    task: fn(&Cms) -> Result<bool>,
) {
    loop {
        match run(&app, (name, work), task).await {
            Some(true) => {}
            Some(false) => time::sleep(POLL_INTERVAL).await,
            None => time::sleep(RETRY_INTERVAL).await,
        }
    }
}

/// Runs a task once and returns its result; an error is logged with the name of the task.
pub(super) async fn run<T: Send + 'static>(
    app: &Arc<App>,
    (name, work): (&'static str, Work),
    task: impl FnOnce(&Cms) -> Result<T> + Send + 'static,
) -> Option<T> {
    let result = blocking::run(app, work, move |app| task(&app.cms)).await.flatten();
    let log = |error: &Error| {
        let cause = std::error::Error::source(error);
        tracing::warn!(task = name, %error, ?cause, "background task failed");
    };
    result.inspect_err(log).ok()
}
