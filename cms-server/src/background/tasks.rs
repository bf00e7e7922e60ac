//! The background tasks of a running server: starting and stopping them.
//!
//! Several servers may run them on one data directory. The core decides what is due, inside the
//! transaction that changes it, and which process writes the search index.

use std::{sync::Arc, time::Duration};

use cms_core::{Cms, Error, Result};
use tokio::{task::JoinHandle, time};

use super::{backups, clean_up, schedules, webhooks};
use crate::{blocking, config::ServerConfig, net::permits::Work, state::App};

/// The tasks of a running server.
pub(crate) struct BackgroundTasks(Vec<JoinHandle<()>>);

impl BackgroundTasks {
    pub(crate) fn start(app: &Arc<App>, config: &ServerConfig) -> Self {
        let mut tasks = vec![
            tokio::spawn(clean_up::housekeep(Arc::clone(app))),
            tokio::spawn(clean_up::remove_orphaned_files(Arc::clone(app))),
            tokio::spawn(schedules::publish_due(Arc::clone(app))),
            tokio::spawn(schedules::index(Arc::clone(app))),
            tokio::spawn(schedules::refresh_graphql(Arc::clone(app))),
            tokio::spawn(schedules::check_storage(Arc::clone(app))),
            tokio::spawn(schedules::log_rewrite_progress(Arc::clone(app))),
            tokio::spawn(webhooks::deliver(Arc::clone(app), config.webhook_private)),
        ];
        if let Some(plan) = &app.backups {
            tasks.push(tokio::spawn(backups::make_scheduled(Arc::clone(app), plan.clone())));
        }
        Self(tasks)
    }

    /// Stops the tasks; work that runs is finished. The index and the housekeeping are brought up to date.
    pub(crate) async fn stop(self, app: &Arc<App>) {
        for task in self.0 {
            task.abort();
        }
        run(app, Work::Search, |cms| cms.search().advance()).await;
        run(app, Work::Write, Cms::housekeep).await;
    }
}

/// Runs a job again and again, with a pause before each run.
pub(super) async fn repeat(
    app: Arc<App>,
    interval: Duration,
    work: Work,
    job: fn(&Cms) -> Result<()>,
) {
    loop {
        time::sleep(interval).await;
        run(&app, work, job).await;
    }
}

/// Runs a job once and returns its result; an error is logged.
pub(super) async fn run<T: Send + 'static>(
    app: &Arc<App>,
    work: Work,
    job: impl FnOnce(&Cms) -> Result<T> + Send + 'static,
) -> Option<T> {
    let result = blocking::run(app, work, move |app| job(&app.cms)).await.flatten();
    let log = |error: &Error| {
        tracing::warn!(%error, cause = ?std::error::Error::source(error), "background task failed");
    };
    result.inspect_err(log).ok()
}
