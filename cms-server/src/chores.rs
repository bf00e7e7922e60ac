//! What a server does without being asked: tidying up, publications that are due, the search index,
//! and the schemas of GraphQL.
//!
//! Several servers may do so on one folder. What is due is decided by the core, inside the
//! transaction that publishes it; the index is written by one process, which the core decides too.

use std::{sync::Arc, time::Duration};

use cms_core::{Cms, Error, Result};
use tokio::{task::JoinHandle, time};

use crate::{
    blocking::{self, Work},
    state::App,
};

const HOUSEKEEPING: Duration = Duration::from_mins(1);
/// Schedules have seconds, so nothing is later than one.
const PUBLISHING: Duration = Duration::from_secs(1);

/// How long content may wait to be indexed when nobody searches.
const INDEXING: Duration = Duration::from_millis(200);

/// How often types are looked at, of which GraphQL has schemas.
const DESCRIBING: Duration = Duration::from_millis(250);

/// Files that nobody wants any more are looked for once the start is over, and then so often.
const SWEEPING: Duration = Duration::from_hours(1);
const SETTLING: Duration = Duration::from_mins(1);

/// How often a long piece of work is told about.
const TELLING: Duration = Duration::from_secs(10);

/// The chores of a running server.
pub(crate) struct Chores([JoinHandle<()>; 6]);

impl Chores {
    pub(crate) fn start(app: &Arc<App>) -> Self {
        Self([
            tokio::spawn(repeat(Arc::clone(app), HOUSEKEEPING, tidy_up)),
            tokio::spawn(repeat(Arc::clone(app), PUBLISHING, publish_due)),
            tokio::spawn(tell_rewriting(Arc::clone(app))),
            tokio::spawn(keep_indexing(Arc::clone(app))),
            tokio::spawn(keep_sweeping(Arc::clone(app))),
            tokio::spawn(keep_describing(Arc::clone(app))),
        ])
    }

    /// Ends them, and tidies up for the last time. What is under way is finished.
    pub(crate) async fn end(self, app: &Arc<App>) {
        for task in self.0 {
            task.abort();
        }
        carry_out(app, Work::Search, advance_index).await;
        carry_out(app, Work::Write, tidy_up).await;
    }
}

async fn repeat(app: Arc<App>, pause: Duration, chore: fn(&Cms) -> Result<()>) {
    loop {
        time::sleep(pause).await;
        carry_out(&app, Work::Write, chore).await;
    }
}

/// Indexes what was written, in small slices, so that searches find little left to do.
async fn keep_indexing(app: Arc<App>) {
    loop {
        let is_behind = carry_out(&app, Work::Search, advance_index).await;
        if is_behind != Some(true) {
            time::sleep(INDEXING).await;
        }
    }
}

/// Sweeps beside whatever else reads files: nobody who writes waits for it.
async fn keep_sweeping(app: Arc<App>) {
    time::sleep(SETTLING).await;
    loop {
        carry_out(&app, Work::File, sweep_media).await;
        time::sleep(SWEEPING).await;
    }
}

/// Follows changes of types, so that no query has to.
async fn keep_describing(app: Arc<App>) {
    loop {
        time::sleep(DESCRIBING).await;
        carry_out(&app, Work::Read, |cms| cms.graphql().refresh()).await;
    }
}

fn advance_index(cms: &Cms) -> Result<bool> {
    cms.search().advance()
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

/// Returns what the chore returns; a failure goes to the log.
async fn carry_out<T: Send + 'static>(
    app: &Arc<App>,
    work: Work,
    chore: fn(&Cms) -> Result<T>,
) -> Option<T> {
    let done = blocking::run(app, work, move |app| chore(&app.cms)).await.flatten();
    let failed = |error: &Error| {
        tracing::warn!(%error, cause = ?std::error::Error::source(error), "a chore failed");
    };
    done.inspect_err(failed).ok()
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

fn sweep_media(cms: &Cms) -> Result<()> {
    let files = cms.media().sweep()?;
    if files > 0 {
        tracing::info!(files, "removed files without a media object");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write};

    use cms_core::{Caller, testing::TestCms, wire::media::UploadRequest};
    use tokio::task;

    use super::*;
    use crate::config::ServerConfig;

    #[tokio::test(start_paused = true)]
    async fn files_that_nobody_wants_are_swept_up() {
        let core = TestCms::new();
        let cms = Arc::clone(&core.cms);
        let upload = move || {
            let mut file = cms.media().receive().unwrap();
            file.write_all(b"a text").unwrap();
            let request =
                UploadRequest { kind: Some("file".to_owned()), ..UploadRequest::default() };
            cms.media().upload(&Caller::local(), Some(file), &request).map(drop)
        };
        task::spawn_blocking(upload).await.unwrap().unwrap();
        let files = || fs::read_dir(core.path().join("media")).unwrap().count();
        let app = Arc::new(App::new(&ServerConfig::default(), Arc::clone(&core.cms)));
        let sweeping = tokio::spawn(keep_sweeping(app));
        time::sleep(SETTLING * 2).await;
        assert_eq!(files(), 1, "it may still become an object");
        core.to_real_time(25 * 3600);
        time::sleep(SWEEPING).await;
        assert_eq!(files(), 0);
        sweeping.abort();
    }
}
