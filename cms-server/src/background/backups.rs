//! Scheduled backups.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use cms_core::{BackupSchedule, Duty};
use tokio::time;

use super::runner::run;
use crate::{net::permits::Work, state::App};

/// Delay of the first check after the start of the server.
const FIRST_CHECK_DELAY: Duration = Duration::from_mins(1);
/// Longest pause between checks, and the pause after an error.
const CHECK_INTERVAL: Duration = Duration::from_mins(10);

/// Name in the log, and kind of work.
const TASK: (&str, Work) = ("backup", Work::File);

/// Creates backups when they are due. A failed backup is retried, and does not stop the server.
pub(super) async fn create_scheduled(app: Arc<App>, schedule: BackupSchedule) {
    time::sleep(FIRST_CHECK_DELAY).await;
    loop {
        let has_duty = app.cms.has_duty(Duty::Backups);
        let due_in = if has_duty { due_in(&app, &schedule).await } else { None };
        let pause = match due_in {
            Some(Duration::ZERO) if create(&app, &schedule).await => {
                schedule.every.min(CHECK_INTERVAL)
            }
            Some(Duration::ZERO) | None => CHECK_INTERVAL,
            Some(time_left) => time_left.min(CHECK_INTERVAL),
        };
        time::sleep(pause).await;
    }
}

async fn due_in(app: &Arc<App>, schedule: &BackupSchedule) -> Option<Duration> {
    let schedule = schedule.clone();
    let due_in = run(app, TASK, move |cms| cms.backups().due_in(&schedule)).await;
    if due_in.is_none() {
        // The destination cannot be used.
        app.metrics.count_backup("scheduled", false);
    }
    due_in
}

/// Creates a backup; returns whether it is complete.
async fn create(app: &Arc<App>, schedule: &BackupSchedule) -> bool {
    let (schedule, state) = (schedule.clone(), Arc::clone(app));
    let is_stopping = move || state.draining.load(Ordering::Relaxed);
    let backup =
        run(app, TASK, move |cms| cms.backups().create_scheduled(&schedule, &is_stopping)).await;
    app.metrics.count_backup("scheduled", backup.is_some());
    if let Some(backup) = &backup {
        let (objects, files, bytes) = (backup.objects, backup.files, backup.bytes);
        tracing::info!(objects, files, bytes, missing = backup.missing.len(), "backup completed");
    }
    backup.is_some()
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsString, fs};

    use cms_core::{BackupDestination, testing::TestCms};

    use super::*;
    use crate::{config::ServerConfig, telemetry::exposition};

    #[tokio::test(start_paused = true)]
    async fn scheduled_backup_is_created_when_due_and_replaces_the_oldest() {
        let core = TestCms::new();
        let folder = core.path().join("backups");
        let every = Duration::from_hours(24);
        let destination = BackupDestination::Folder(folder.clone());
        let schedule = BackupSchedule { destination, every, keep: 2 };
        let names = || {
            let entries = fs::read_dir(&folder).into_iter().flatten();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        let config = ServerConfig { backups: Some(schedule.clone()), ..ServerConfig::default() };
        let app = Arc::new(App::new(&config, Arc::clone(&core.cms)));
        assert_eq!(due_in(&app, &schedule).await, Some(Duration::ZERO));
        let task = tokio::spawn(create_scheduled(Arc::clone(&app), schedule.clone()));
        for round in 1..=4 {
            let before = names();
            let is_made = || {
                let now = names();
                let is_complete = |name: &OsString| name.to_string_lossy().ends_with(".tar");
                now != before && now.len() == round.min(2) && now.iter().all(is_complete)
            };
            while !is_made() || due_in(&app, &schedule).await != Some(every) {
                time::sleep(CHECK_INTERVAL).await;
            }
            core.clock.advance(24 * 3600);
        }
        task.abort();
        for name in names() {
            cms_core::verify_backup(&folder.join(name)).unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn failed_backup_leaves_the_server_ready() {
        let core = TestCms::new();
        let destination = BackupDestination::Folder(core.path().join("cms.db/below"));
        let schedule = BackupSchedule { destination, every: Duration::ZERO, keep: 1 };
        let app = Arc::new(App::new(&ServerConfig::default(), Arc::clone(&core.cms)));
        assert_eq!(due_in(&app, &schedule).await, None);
        let metrics = exposition::render(&app).unwrap();
        let failed = "cms_backups_total{kind=\"scheduled\",result=\"failed\"} 1";
        assert!(metrics.contains(failed), "{metrics}");
        assert!(!create(&app, &schedule).await);
        app.draining.store(true, Ordering::Relaxed);
        let folder = core.path().join("backups");
        let schedule =
            BackupSchedule { destination: BackupDestination::Folder(folder.clone()), ..schedule };
        assert!(!create(&app, &schedule).await, "the server stops");
        assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
        assert!(core.cms.readiness().iter().all(|part| part.error.is_none()));
    }
}
