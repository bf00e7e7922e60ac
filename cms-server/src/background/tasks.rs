//! The background tasks of a running server: starting and stopping them.
//!
//! Several servers may run these tasks on one data directory. The core decides what is due, in the
//! transaction that does the work, and decides which process writes the search index.

use std::sync::Arc;

use cms_core::{Cms, Duty};
use tokio::task::JoinHandle;

use super::{backups, clean_up, cluster, periodic, runner, webhooks};
use crate::{net::permits::Work, state::App};

/// The tasks of a running server.
pub(crate) struct BackgroundTasks(Vec<JoinHandle<()>>);

impl BackgroundTasks {
    pub(crate) fn start(app: &Arc<App>) -> Self {
        let mut tasks = vec![
            tokio::spawn(clean_up::remove_expired(Arc::clone(app))),
            tokio::spawn(clean_up::remove_orphaned_files(Arc::clone(app))),
            tokio::spawn(periodic::publish_due(Arc::clone(app))),
            tokio::spawn(periodic::index(Arc::clone(app))),
            tokio::spawn(periodic::run_jobs(Arc::clone(app))),
            tokio::spawn(periodic::refresh_graphql(Arc::clone(app))),
            tokio::spawn(periodic::check_storage(Arc::clone(app))),
            tokio::spawn(cluster::report_and_renew_duties(Arc::clone(app))),
            tokio::spawn(cluster::upgrade(Arc::clone(app))),
            tokio::spawn(webhooks::deliver(Arc::clone(app))),
        ];
        if let Some(schedule) = &app.config.backups {
            tasks.push(tokio::spawn(backups::create_scheduled(Arc::clone(app), schedule.clone())));
        }
        Self(tasks)
    }

    /// Stops the tasks; work that runs is finished. Indexing and clean-up run a last time.
    pub(crate) async fn stop(self, app: &Arc<App>) {
        for task in self.0 {
            task.abort();
        }
        runner::run(app, ("index", Work::Search), |cms| cms.search().index_batch()).await;
        runner::run(app, ("clean-up", Work::Write), Cms::clean_up).await;
        cluster::release(app, &Duty::ALL).await;
    }
}
