//! Clean-up: expired data, and orphaned files.

use std::{sync::Arc, time::Duration};

use cms_core::{Cms, OrphanCleanUp};
use tokio::time;

use super::runner::{repeat, run};
use crate::{net::permits::Work, state::App};

const CLEAN_UP_INTERVAL: Duration = Duration::from_mins(1);
/// Delay of the first search for orphaned files after the start of the server.
const FIRST_ORPHAN_CLEAN_UP: Duration = Duration::from_mins(1);
/// Interval of searches for orphaned files.
const ORPHAN_CLEAN_UP_INTERVAL: Duration = Duration::from_hours(1);

/// Removes expired data, and records when keys were used.
pub(super) async fn remove_expired(app: Arc<App>) {
    repeat(app, CLEAN_UP_INTERVAL, ("clean-up", Work::Write), Cms::clean_up).await;
}

/// Removes files without a media object. The task takes a permit for files, so no write waits for it.
pub(super) async fn remove_orphaned_files(app: Arc<App>) {
    time::sleep(FIRST_ORPHAN_CLEAN_UP).await;
    let mut last = OrphanCleanUp::default();
    loop {
        if let Some(clean_up) =
            run(&app, ("orphaned-files", Work::File), |cms| cms.media().clean_up()).await
        {
            let OrphanCleanUp { removed, withheld, files } = clean_up;
            if removed > 0 {
                tracing::info!(removed, files, "orphaned files removed");
            }
            // A repeated number is not logged again.
            if withheld > 0 && withheld != last.withheld {
                tracing::warn!(
                    orphaned = withheld,
                    files,
                    "orphaned files not removed: they are more than a tenth of all files. Check whether \
                     media objects were lost; `cms check --repair` removes the files"
                );
            }
            last = clean_up;
        }
        time::sleep(ORPHAN_CLEAN_UP_INTERVAL).await;
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write};

    use cms_core::{Caller, testing::TestCms, wire::media::UploadRequest};
    use tokio::task;

    use super::*;
    use crate::config::ServerConfig;

    #[tokio::test(start_paused = true)]
    async fn orphaned_files_are_removed() {
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
        let task = tokio::spawn(remove_orphaned_files(app));
        time::sleep(FIRST_ORPHAN_CLEAN_UP * 2).await;
        assert_eq!(files(), 11, "the file without an object is too young to be removed");
        core.run_for(25 * 3600);
        time::sleep(ORPHAN_CLEAN_UP_INTERVAL).await;
        assert_eq!(files(), 10);
        task.abort();
    }
}
