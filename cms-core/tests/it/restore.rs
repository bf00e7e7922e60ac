//! A restore that was interrupted at any step is repeated, and nothing else changes its files.

use std::{
    fs,
    path::{Path, PathBuf},
};

use cms_core::{
    Caller, Cms, CoreConfig, Error, restore,
    testing::{TestCms, images},
    wire::{backup::Backup, check::CheckRequest, user::UserListRequest},
};
use serde_json::json;
use tempfile::TempDir;

use crate::{
    data_directory::names,
    media::{image, upload},
    support::{article, map},
};

struct BackedUp {
    folder: TempDir,
    written: Backup,
}

impl BackedUp {
    /// Creates a backup with an object and a file.
    fn new() -> Self {
        let core = TestCms::standalone();
        let (cms, local) = (&core.cms, Caller::local());
        cms.types().create(&local, article()).unwrap();
        let new = map(json!({ "id": "one", "title": "One" }));
        cms.objects().create(&local, "article", new).unwrap();
        upload(cms, &images::photo(40, 30), &image("sea.jpg")).unwrap();
        let folder = TempDir::new().unwrap();
        let mut file = fs::File::create(folder.path().join("site.tar")).unwrap();
        let copied = cms.backups().begin().unwrap();
        let written = cms.backups().write(copied, &mut file).unwrap();
        Self { folder, written }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn stage(&self, name: &str) -> PathBuf {
        self.data().join("restoring").join(name)
    }

    fn restore(&self) -> Result<Backup, Error> {
        restore(&self.folder.path().join("site.tar"), &CoreConfig::new(self.data()))
    }

    /// Puts the directory into the state of a restore that lacks `missing_steps` steps.
    fn interrupt(&self, missing_steps: usize) {
        self.restore().unwrap();
        fs::create_dir(self.data().join("restoring")).unwrap();
        fs::write(self.stage("complete.json"), serde_json::to_vec(&self.written).unwrap()).unwrap();
        for name in ["cms.db", "media"].into_iter().take(missing_steps) {
            fs::rename(self.data().join(name), self.stage(name)).unwrap();
        }
    }

    fn assert_restored(&self) {
        assert_eq!(names(&self.data()), ["cms.db", "lock", "media"]);
        let cms = Cms::open(CoreConfig::new(self.data())).unwrap();
        let check = cms.check(&CheckRequest::default()).unwrap();
        assert!(check.is_sound(), "{check:?}");
        assert_eq!(check.media.files, 1);
        cms.objects().get(&Caller::local(), "article", "one", 0).unwrap();
    }
}

#[test]
fn restore_is_repeated_after_an_interruption_at_any_step() {
    for missing_steps in [2, 1] {
        let backup = BackedUp::new();
        backup.interrupt(missing_steps);
        let opened = Cms::open(CoreConfig::new(backup.data())).map(drop);
        assert!(matches!(opened, Err(Error::Conflict(_))), "{missing_steps}: {opened:?}");
        assert!(backup.stage("cms.db").exists(), "an open does not remove it");
        assert_eq!(backup.restore().unwrap(), backup.written, "{missing_steps}");
        backup.assert_restored();
    }
    // Interrupted before the backup was verified, and while the stage was removed.
    for staged in [&["cms.db"][..], &["cms.db", "lock", "media/a"], &["complete.json"], &[]] {
        let backup = BackedUp::new();
        fs::create_dir_all(backup.stage("media")).unwrap();
        for name in staged {
            fs::write(backup.stage(name), "half of it").unwrap();
        }
        assert_eq!(backup.restore().unwrap(), backup.written, "{staged:?}");
        backup.assert_restored();
    }
}

#[test]
fn restore_ends_sessions_and_links() {
    let core = TestCms::standalone();
    let (cms, local) = (&core.cms, Caller::local());
    let user = json!({ "email": "ada@example.com", "name": "Ada", "role": "viewer" });
    let cookie = core.session(&user);
    let request = UserListRequest::default();
    let before = cms.users().list(&local, &request).unwrap().data;
    assert!(before[0].pending_link.is_some());
    cms.caller_of_session(&cookie).unwrap();
    let folder = TempDir::new().unwrap();
    let backup = folder.path().join("site.tar");
    let copied = cms.backups().begin().unwrap();
    cms.backups().write(copied, &mut fs::File::create(&backup).unwrap()).unwrap();
    let config = CoreConfig::new(folder.path().join("data"));
    restore(&backup, &config).unwrap();
    let restored = Cms::open(config).unwrap();
    let after = restored.users().list(&local, &request).unwrap().data;
    assert_eq!((after.len(), &after[0].id, &after[0].pending_link), (1, &before[0].id, &None));
    let refused = restored.caller_of_session(&cookie);
    assert!(matches!(refused, Err(Error::Unauthenticated)));
}

/// Only the removal of the staging directory is missing, so the data directory may have been used
/// since.
#[test]
fn restore_without_its_last_step_is_finished() {
    let backup = BackedUp::new();
    backup.interrupt(0);
    let cms = Cms::open(CoreConfig::new(backup.data())).unwrap();
    let new = map(json!({ "id": "two", "title": "Two" }));
    cms.objects().create(&Caller::local(), "article", new).unwrap();
    let busy = backup.restore();
    assert!(matches!(busy, Err(Error::Busy(_))), "{busy:?}");
    drop(cms);
    assert!(backup.stage("complete.json").exists());
    assert_eq!(backup.restore().unwrap(), backup.written);
    let cms = Cms::open(CoreConfig::new(backup.data())).unwrap();
    cms.objects().get(&Caller::local(), "article", "two", 0).unwrap();
    assert!(!backup.data().join("restoring").exists());
}

#[test]
fn restore_refuses_directories_with_other_data() {
    let occupied = |backup: &BackedUp, path: &Path| {
        let before = fs::read(path).unwrap();
        let refused = backup.restore();
        assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
        assert_eq!(fs::read(path).unwrap(), before);
    };
    // Files of a missing database, beside the stage of a restore that moved no files.
    let backup = BackedUp::new();
    let file = backup.data().join("media/_media-448eab50-efc1-46ef-83f2-b910b8cc58e0");
    for folder in [file.parent().unwrap(), &backup.stage("")] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(&file, "somebody's").unwrap();
    occupied(&backup, &file);
    // Another backup was restored there.
    let backup = BackedUp::new();
    backup.interrupt(0);
    let other = Backup { objects: 7, ..backup.written.clone() };
    fs::write(backup.stage("complete.json"), serde_json::to_vec(&other).unwrap()).unwrap();
    occupied(&backup, &backup.data().join("cms.db"));
    // An interrupted restore, and another file.
    let backup = BackedUp::new();
    backup.interrupt(1);
    let notes = backup.data().join("notes.txt");
    fs::write(&notes, "mine").unwrap();
    occupied(&backup, &notes);
}
