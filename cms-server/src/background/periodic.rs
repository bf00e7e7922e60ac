//! Tasks at short intervals: scheduled publications, the search index, bulk jobs, GraphQL schemas
//! and storage checks.

use std::{sync::Arc, time::Duration};

use cms_core::{Cms, Duty};

use super::runner::{poll, repeat};
use crate::{net::permits::Work, state::App};

/// Schedules have whole seconds, so a publication is at most one second late, unless more are due at the same
/// time than one transaction publishes.
const PUBLISH_INTERVAL: Duration = Duration::from_secs(1);
/// Interval of rebuilding GraphQL schemas after changes of content types.
const SCHEMA_INTERVAL: Duration = Duration::from_millis(250);
/// Interval of checks of remote storage.
const STORAGE_INTERVAL: Duration = Duration::from_secs(30);

/// Publishes scheduled objects that are due.
pub(super) async fn publish_due(app: Arc<App>) {
    repeat(app, PUBLISH_INTERVAL, ("publish", Work::Write), |cms| {
        if !cms.has_duty(Duty::Schedules) {
            return Ok(());
        }
        let objects = cms.publishing().publish_due()?;
        if objects > 0 {
            tracing::info!(objects, "scheduled objects published");
        }
        Ok(())
    })
    .await;
}

/// Indexes new content in small batches, so that a search has little left to index. After an error,
/// [`poll`] pauses longer, so that the log does not get the same error five times a second. Searches
/// do not wait for the end of this pause: each of them tries to index immediately.
pub(super) async fn index(app: Arc<App>) {
    poll(app, ("index", Work::Search), |cms| cms.search().index_batch_if_due()).await;
}

/// Runs bulk jobs, one after the other. A job continues when the database takes writes again.
pub(super) async fn run_jobs(app: Arc<App>) {
    let advance = |cms: &Cms| Ok(cms.has_duty(Duty::Jobs) && cms.bulk().advance()?);
    poll(app, ("jobs", Work::Write), advance).await;
}

/// Rebuilds GraphQL schemas after changes of content types, so that no query has to do it.
pub(super) async fn refresh_graphql(app: Arc<App>) {
    repeat(app, SCHEMA_INTERVAL, ("graphql", Work::Read), |cms| cms.graphql().refresh()).await;
}

/// Checks remote storage, for `/readyz`.
pub(super) async fn check_storage(app: Arc<App>) {
    repeat(app, STORAGE_INTERVAL, ("storage", Work::File), |cms| cms.media().check_storage()).await;
}
