//! What a server does without being asked: tidying up, publications that are due, the search index,
//! backups, the schemas of GraphQL, and webhooks.
//!
//! Several servers may do so on one folder. What is due is decided by the core, inside the
//! transaction that publishes it; the index is written by one process, which the core decides too.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use cms_core::{BackupPlan, Cms, Error, Result, Sweep};
use tokio::{task::JoinHandle, time};

use crate::{
    blocking::{self, Work},
    config::ServerConfig,
    state::App,
    webhook,
};

const HOUSEKEEPING: Duration = Duration::from_mins(1);
/// Schedules have seconds, so nothing is later than one.
const PUBLISHING: Duration = Duration::from_secs(1);

/// How long content may wait to be indexed when nobody searches.
const INDEXING: Duration = Duration::from_millis(200);

/// How often types are looked at, of which GraphQL has schemas.
const DESCRIBING: Duration = Duration::from_millis(250);

/// How long indexing rests after a failure: a full disk does not become empty soon.
const RETRYING: Duration = Duration::from_secs(5);

/// How often it is looked whether storage on another machine answers.
const WATCHING: Duration = Duration::from_secs(30);

/// Files that nobody wants any more are looked for once the start is over, and then so often.
const SWEEPING: Duration = Duration::from_hours(1);
const SETTLING: Duration = Duration::from_mins(1);

/// How often somebody looks whether a backup is due, and when one that failed is tried again.
const BACKING_UP: Duration = Duration::from_mins(10);

/// How often a long piece of work is told about.
const TELLING: Duration = Duration::from_secs(10);

/// The chores of a running server.
pub(crate) struct Chores(Vec<JoinHandle<()>>);

impl Chores {
    pub(crate) fn start(app: &Arc<App>, config: &ServerConfig) -> Self {
        let mut chores = vec![
            tokio::spawn(repeat(Arc::clone(app), HOUSEKEEPING, tidy_up)),
            tokio::spawn(repeat(Arc::clone(app), PUBLISHING, publish_due)),
            tokio::spawn(tell_rewriting(Arc::clone(app))),
            tokio::spawn(keep_indexing(Arc::clone(app))),
            tokio::spawn(keep_sweeping(Arc::clone(app))),
            tokio::spawn(keep_describing(Arc::clone(app))),
            tokio::spawn(keep_watching(Arc::clone(app))),
            tokio::spawn(webhook::keep_delivering(Arc::clone(app), config.webhook_private)),
        ];
        if let Some(plan) = &app.backups {
            chores.push(tokio::spawn(keep_backing_up(Arc::clone(app), plan.clone())));
        }
        Self(chores)
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
        match carry_out(&app, Work::Search, advance_index).await {
            Some(true) => {}
            Some(false) => time::sleep(INDEXING).await,
            // Searches try at once; the log need not have it five times a second.
            None => time::sleep(RETRYING).await,
        }
    }
}

/// Sweeps beside whatever else reads files: nobody who writes waits for it.
async fn keep_sweeping(app: Arc<App>) {
    time::sleep(SETTLING).await;
    let mut last = Sweep::default();
    loop {
        let swept = carry_out(&app, Work::File, |cms| cms.media().sweep()).await;
        if let Some(Sweep { removed, withheld, files }) = swept {
            if removed > 0 {
                tracing::info!(removed, files, "removed orphaned files");
            }
            // The same every hour needs no further line.
            if withheld > 0 && withheld != last.withheld {
                tracing::warn!(
                    orphaned = withheld,
                    files,
                    "orphaned files were not removed, more than a tenth of all files: look whether \
                     their media objects were lost; `cms check --repair` removes the files"
                );
            }
            last = Sweep { removed, withheld, files };
        }
        time::sleep(SWEEPING).await;
    }
}

/// Makes backups when they are due. One that fails is tried again: a server without a backup is better
/// than none.
async fn keep_backing_up(app: Arc<App>, plan: BackupPlan) {
    time::sleep(SETTLING).await;
    loop {
        let pause = match due_in(&app, &plan).await {
            Some(Duration::ZERO) if back_up(&app, &plan).await => Duration::ZERO,
            Some(Duration::ZERO) | None => BACKING_UP,
            Some(rest) => rest.min(BACKING_UP),
        };
        time::sleep(pause).await;
    }
}

async fn due_in(app: &Arc<App>, plan: &BackupPlan) -> Option<Duration> {
    let plan = plan.clone();
    carry_out(app, Work::File, move |cms| cms.backups().due_in(&plan)).await
}

/// Tells whether a backup was made.
async fn back_up(app: &Arc<App>, plan: &BackupPlan) -> bool {
    let (plan, state) = (plan.clone(), Arc::clone(app));
    let stops = move || state.draining.load(Ordering::Relaxed);
    let made = carry_out(app, Work::File, move |cms| cms.backups().make(&plan, &stops)).await;
    app.metrics.count_backup("scheduled", made.is_some());
    if let Some(backup) = &made {
        let (objects, files, bytes) = (backup.objects, backup.files, backup.bytes);
        tracing::info!(objects, files, bytes, lost = backup.missing.len(), "made a backup");
    }
    made.is_some()
}

/// Follows changes of types, so that no query has to.
async fn keep_describing(app: Arc<App>) {
    loop {
        time::sleep(DESCRIBING).await;
        carry_out(&app, Work::Read, |cms| cms.graphql().refresh()).await;
    }
}

/// Knows whether storage on another machine answers, for `/readyz`.
async fn keep_watching(app: Arc<App>) {
    loop {
        time::sleep(WATCHING).await;
        carry_out(&app, Work::File, |cms| cms.media().watch()).await;
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
    chore: impl FnOnce(&Cms) -> Result<T> + Send + 'static,
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

#[cfg(test)]
mod tests {
    use std::{ffi::OsString, fs, io::Write};

    use cms_core::{BackupPlace, Caller, testing::TestCms, wire::media::UploadRequest};
    use tokio::task;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn backups_are_made_when_they_are_due_and_the_newest_are_kept() {
        let core = TestCms::new();
        let folder = core.path().join("backups");
        let every = Duration::from_hours(24);
        let place = BackupPlace::Folder(folder.clone());
        let plan = BackupPlan { to: place, every, keep: 2 };
        let names = || {
            let entries = fs::read_dir(&folder).into_iter().flatten();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        let config = ServerConfig { backups: Some(plan.clone()), ..ServerConfig::default() };
        let app = Arc::new(App::new(&config, Arc::clone(&core.cms)));
        assert_eq!(due_in(&app, &plan).await, Some(Duration::ZERO));
        let backing_up = tokio::spawn(keep_backing_up(Arc::clone(&app), plan.clone()));
        for round in 1..=4 {
            let before = names();
            let is_made = || {
                let now = names();
                let is_whole = |name: &OsString| name.to_string_lossy().ends_with(".tar");
                now != before && now.len() == round.min(2) && now.iter().all(is_whole)
            };
            while !is_made() || due_in(&app, &plan).await != Some(every) {
                time::sleep(BACKING_UP).await;
            }
            core.clock.advance(24 * 3600);
        }
        backing_up.abort();
        for name in names() {
            cms_core::verify_backup(&folder.join(name)).unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_backup_that_fails_takes_nothing_away() {
        let core = TestCms::new();
        let place = BackupPlace::Folder(core.path().join("cms.db/below"));
        let plan = BackupPlan { to: place, every: Duration::ZERO, keep: 1 };
        let app = Arc::new(App::new(&ServerConfig::default(), Arc::clone(&core.cms)));
        assert_eq!(due_in(&app, &plan).await, None);
        assert!(!back_up(&app, &plan).await);
        app.draining.store(true, Ordering::Relaxed);
        let folder = core.path().join("backups");
        let plan = BackupPlan { to: BackupPlace::Folder(folder.clone()), ..plan };
        assert!(!back_up(&app, &plan).await, "the server stops");
        assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
        assert!(core.cms.readiness().iter().all(|part| part.error.is_none()));
    }

    #[tokio::test(start_paused = true)]
    async fn files_that_nobody_wants_are_swept_up() {
        let core = TestCms::new();
        let cms = Arc::clone(&core.cms);
        let upload = move || {
            for save in [true; 10].into_iter().chain([false]) {
                let mut file = cms.media().receive().unwrap();
                file.write_all(b"a text").unwrap();
                let kind = Some("file".to_owned());
                let file_name = "a.txt".to_owned();
                let request = UploadRequest { kind, save, file_name, ..UploadRequest::default() };
                cms.media().upload(&Caller::local(), Some(file), &request).unwrap();
            }
        };
        task::spawn_blocking(upload).await.unwrap();
        let files = || fs::read_dir(core.path().join("media")).unwrap().count();
        let app = Arc::new(App::new(&ServerConfig::default(), Arc::clone(&core.cms)));
        core.to_real_time(0);
        let sweeping = tokio::spawn(keep_sweeping(app));
        time::sleep(SETTLING * 2).await;
        assert_eq!(files(), 11, "it may still become an object");
        core.run_for(25 * 3600);
        time::sleep(SWEEPING).await;
        assert_eq!(files(), 10);
        sweeping.abort();
    }
}
