//! What a server does without being asked: tidying up, and publications that are due.
//!
//! Several servers may do so on one folder. What is due is decided by the core, inside the
//! transaction that publishes it.

use std::{sync::Arc, time::Duration};

use cms_core::{Cms, Result};
use tokio::{task::JoinHandle, time};

use crate::{
    blocking::{self, Work},
    state::App,
};

const HOUSEKEEPING: Duration = Duration::from_mins(1);
/// Schedules have seconds, so nothing is later than one.
const PUBLISHING: Duration = Duration::from_secs(1);

/// How often a long piece of work is told about.
const TELLING: Duration = Duration::from_secs(10);

/// The chores of a running server.
pub(crate) struct Chores([JoinHandle<()>; 3]);

impl Chores {
    pub(crate) fn start(app: &Arc<App>) -> Self {
        Self([
            tokio::spawn(repeat(Arc::clone(app), HOUSEKEEPING, tidy_up)),
            tokio::spawn(repeat(Arc::clone(app), PUBLISHING, publish_due)),
            tokio::spawn(tell_rewriting(Arc::clone(app))),
        ])
    }

    /// Ends them, and tidies up for the last time. What is under way is finished.
    pub(crate) async fn end(self, app: &Arc<App>) {
        for task in self.0 {
            task.abort();
        }
        carry_out(app, tidy_up).await;
    }
}

async fn repeat(app: Arc<App>, pause: Duration, chore: fn(&Cms) -> Result<()>) {
    loop {
        time::sleep(pause).await;
        carry_out(&app, chore).await;
    }
}

/// Says how far a long change of a content type is.
async fn tell_rewriting(app: Arc<App>) {
    loop {
        time::sleep(TELLING).await;
        if let Some((done, total)) = app.cms.rewriting() {
            tracing::info!(done, total, "a content type changes: rewriting objects");
        }
    }
}

async fn carry_out(app: &Arc<App>, chore: fn(&Cms) -> Result<()>) {
    let done = blocking::run(app, Work::Write, move |app| chore(&app.cms)).await;
    if let Err(error) = done.flatten() {
        tracing::warn!(%error, cause = ?std::error::Error::source(&error), "a chore failed");
    }
}

fn tidy_up(cms: &Cms) -> Result<()> {
    cms.housekeep()
}

fn publish_due(cms: &Cms) -> Result<()> {
    let objects = cms.publishing().publish_due()?;
    if objects > 0 {
        tracing::info!(objects, "published what was due");
    }
    Ok(())
}
