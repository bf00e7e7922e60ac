//! A restore that was interrupted at any step is made again, and nothing else touches what it left.

use std::{
    fs,
    path::{Path, PathBuf},
};

use cms_core::{
    Caller, Cms, CoreConfig, Error, restore,
    testing::{TestCms, pictures},
    wire::{backup::Backup, check::CheckRequest},
};
use serde_json::json;
use tempfile::TempDir;

use crate::{
    media::{image, upload},
    support::{article, map},
};

struct Site {
    folder: TempDir,
    written: Backup,
}

impl Site {
    /// A backup of a site with two objects and one file.
    fn new() -> Self {
        let core = TestCms::new();
        let (cms, local) = (&core.cms, Caller::local());
        cms.types().create(&local, article()).unwrap();
        let new = map(json!({ "id": "one", "title": "One" }));
        cms.objects().create(&local, "article", new).unwrap();
        upload(cms, &pictures::photo(40, 30), &image("sea.jpg")).unwrap();
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

    /// Puts the folder into the state after the last step but `left`.
    fn interrupt(&self, left: usize) {
        self.restore().unwrap();
        fs::create_dir(self.data().join("restoring")).unwrap();
        fs::write(self.stage("complete.json"), serde_json::to_vec(&self.written).unwrap()).unwrap();
        for name in ["cms.db", "media"].into_iter().take(left) {
            fs::rename(self.data().join(name), self.stage(name)).unwrap();
        }
    }

    fn is_restored(&self) {
        let mut names: Vec<_> = fs::read_dir(self.data())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["cms.db", "lock", "media"]);
        let cms = Cms::open(CoreConfig::new(self.data())).unwrap();
        let check = cms.check(&CheckRequest::default()).unwrap();
        assert!(check.is_sound(), "{check:?}");
        assert_eq!(check.media.files, 1);
        cms.objects().get(&Caller::local(), "article", "one", 0).unwrap();
    }
}

#[test]
fn restore_is_repeated_after_an_interrupt_at_any_step() {
    for left in [2, 1] {
        let site = Site::new();
        site.interrupt(left);
        let opened = Cms::open(CoreConfig::new(site.data())).map(drop);
        assert!(matches!(opened, Err(Error::Conflict(_))), "{left}: {opened:?}");
        assert!(site.stage("cms.db").exists(), "opening left it alone");
        assert_eq!(site.restore().unwrap(), site.written, "{left}");
        site.is_restored();
    }
    // Before the end of the file was compared, and while such a stage was removed.
    for staged in [&["cms.db"][..], &["cms.db", "lock", "media/a"], &["complete.json"], &[]] {
        let site = Site::new();
        fs::create_dir_all(site.stage("media")).unwrap();
        for name in staged {
            fs::write(site.stage(name), "half of it").unwrap();
        }
        assert_eq!(site.restore().unwrap(), site.written, "{staged:?}");
        site.is_restored();
    }
}

/// The database was in its place, and only the stage was not removed: the site may be in use since.
#[test]
fn restore_without_its_last_step_is_finished() {
    let site = Site::new();
    site.interrupt(0);
    let cms = Cms::open(CoreConfig::new(site.data())).unwrap();
    let new = map(json!({ "id": "two", "title": "Two" }));
    cms.objects().create(&Caller::local(), "article", new).unwrap();
    let busy = site.restore();
    assert!(matches!(busy, Err(Error::Busy(_))), "{busy:?}");
    drop(cms);
    assert!(site.stage("complete.json").exists());
    assert_eq!(site.restore().unwrap(), site.written);
    let cms = Cms::open(CoreConfig::new(site.data())).unwrap();
    cms.objects().get(&Caller::local(), "article", "two", 0).unwrap();
    assert!(!site.data().join("restoring").exists());
}

#[test]
fn restore_refuses_directories_with_other_data() {
    let occupied = |site: &Site, place: &Path| {
        let before = fs::read(place).unwrap();
        let refused = site.restore();
        assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
        assert_eq!(fs::read(place).unwrap(), before);
    };
    // Files of a lost database, beside the stage of a restore that moved none.
    let site = Site::new();
    let file = site.data().join("media/_media-448eab50-efc1-46ef-83f2-b910b8cc58e0");
    for folder in [file.parent().unwrap(), &site.stage("")] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(&file, "somebody's").unwrap();
    occupied(&site, &file);
    // Another backup was restored there.
    let site = Site::new();
    site.interrupt(0);
    let other = Backup { objects: 7, ..site.written.clone() };
    fs::write(site.stage("complete.json"), serde_json::to_vec(&other).unwrap()).unwrap();
    occupied(&site, &site.data().join("cms.db"));
    // What an interrupted restore left, and something else.
    let site = Site::new();
    site.interrupt(1);
    let notes = site.data().join("notes.txt");
    fs::write(&notes, "mine").unwrap();
    occupied(&site, &notes);
}
