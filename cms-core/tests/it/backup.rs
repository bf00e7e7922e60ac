//! Backups: their content, also under concurrent writes, and refused files.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use cms_core::{
    BackupDestination, BackupSchedule, Cms, CoreConfig, Error, limits,
    paging::PageRequest,
    restore,
    testing::{TestCms, images},
    verify_backup,
    wire::{
        backup::Backup,
        check::CheckRequest,
        object::{Direction, ListRequest},
        search::SearchRequest,
    },
};
use serde_json::json;
use tar::{EntryType, Header};
use tempfile::TempDir;

use crate::{
    media::{get, image, text, upload},
    support::{article, create_object, link, local, map},
};

fn with_articles() -> TestCms {
    let core = TestCms::standalone();
    core.cms.types().create(&local(), article()).unwrap();
    core
}

fn create(cms: &Cms, id: &str) {
    create_object(
        cms,
        "article",
        json!({ "id": id, "title": format!("Title of {id}"), "rank": 1 }),
    );
}

/// Writes a backup of an open data directory into a file.
fn write(cms: &Cms, path: &Path) -> Backup {
    let copied = cms.backups().begin().unwrap();
    cms.backups().write(copied, &mut fs::File::create(path).unwrap()).unwrap()
}

fn open(folder: &Path) -> Cms {
    Cms::open(CoreConfig::new(folder)).unwrap()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn restored_directory_equals_the_backed_up_one() {
    let core = with_articles();
    let cms = &core.cms;
    create(cms, "one");
    let two = json!({ "id": "two", "title": "Two", "related": [link("article", "one")] });
    cms.objects().create(&local(), "article", map(two)).unwrap();
    cms.objects().patch(&local(), "article", "one", map(json!({ "rank": 2 }))).unwrap();
    let photo = images::photo(40, 30);
    let photo_object = upload(cms, &photo, &image("sea.jpg")).unwrap();
    let missing = upload(cms, &images::photo(20, 20), &image("lost.jpg")).unwrap();
    let missing = missing["id"].as_str().unwrap();
    fs::remove_file(core.path().join("media").join(missing)).unwrap();

    let folder = TempDir::new().unwrap();
    let file = folder.path().join("site.tar");
    let written = write(cms, &file);
    assert_eq!((written.objects, written.files), (4, 1));
    assert_eq!(written.missing, [missing]);
    assert_eq!(verify_backup(&file).unwrap(), written);
    assert!(files(&core.path().join("incoming")).is_empty(), "the copy of the database is removed");

    for data in ["missing/data", "empty"] {
        let data = folder.path().join(data);
        if data.ends_with("empty") {
            // Files of an interrupted restore are not part of a backup.
            fs::create_dir_all(data.join("restoring")).unwrap();
            fs::write(data.join("restoring/cms.db"), "half of it").unwrap();
        }
        assert_eq!(restore(&file, &CoreConfig::new(&data)).unwrap(), written);
        let mut names: Vec<_> =
            files(&data).iter().map(|path| path.file_name().unwrap().to_owned()).collect();
        names.sort();
        assert_eq!(names, ["cms.db", "lock", "media"]);
        let restored = open(&data);
        let old = cms.objects().get(&local(), "article", "one", 0).unwrap();
        let new = restored.objects().get(&local(), "article", "one", 0).unwrap();
        assert_eq!(old.to_value(), new.to_value());
        let versions = restored
            .objects()
            .versions(&local(), "article", "one", PageRequest::default(), Direction::default())
            .unwrap();
        assert_eq!(versions.to_value()["total_count"], 2);
        let in_use = restored.objects().delete(&local(), "article", "one");
        assert!(matches!(in_use, Err(Error::Rejected(_))), "{in_use:?}");
        let (_, bytes) = get(&restored, photo_object["url"].as_str().unwrap()).unwrap();
        assert!(bytes == photo);
        let found = search(&restored, "two");
        assert_eq!(found, 1);
        let space = |cms: &Cms| cms.auth_context(&local()).unwrap().space.id;
        assert_eq!(space(cms), space(&restored));
        drop(restored);
        let again = restore(&file, &CoreConfig::new(&data));
        assert!(matches!(again, Err(Error::Conflict(_))), "{again:?}");
    }
}

fn search(cms: &Cms, text: &str) -> u64 {
    let request = SearchRequest { q: Some(text.to_owned()), ..SearchRequest::default() };
    cms.search().search(&local(), &request).unwrap().to_value()["total_count"].as_u64().unwrap()
}

/// The index of later writes is not used for a restored state.
#[test]
fn index_of_another_history_is_rebuilt() {
    let core = with_articles();
    create(&core.cms, "one");
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("site.tar");
    write(&core.cms, &file);
    for id in ["two", "three", "four"] {
        create(&core.cms, id);
    }
    assert_eq!(search(&core.cms, "title"), 4);
    let past = core.path();
    let kept = core.into_folder();
    let data = folder.path().join("data");
    restore(&file, &CoreConfig::new(&data)).unwrap();
    fs::rename(past.join("index"), data.join("index")).unwrap();
    let restored = open(&data);
    // As many changes as before, but other ones.
    for id in ["five", "six", "seven"] {
        create(&restored, id);
    }
    assert_eq!(search(&restored, "five"), 1);
    assert_eq!(search(&restored, "title"), 4);
    assert_eq!(search(&restored, "two"), 0);
    drop(kept);
}

struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn backup_under_load_has_all_acknowledged_writes() {
    let core = with_articles();
    let cms = &core.cms;
    let acknowledged = Mutex::new(Vec::new());
    let stop = AtomicBool::new(false);
    let folder = TempDir::new().unwrap();
    let photo = images::photo(16, 16);
    thread::scope(|scope| {
        for writer in 0..3 {
            let (acknowledged, stop) = (&acknowledged, &stop);
            scope.spawn(move || {
                for number in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let id = format!("w{writer}-{number}");
                    create(cms, &id);
                    acknowledged.lock().unwrap().push(id);
                }
            });
        }
        let (photo, stop) = (&photo, &stop);
        scope.spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                let kept = upload(cms, photo, &image("kept.jpg")).unwrap();
                let gone = upload(cms, photo, &image("gone.jpg")).unwrap();
                let delete = |object: &serde_json::Value| {
                    let id = object["id"].as_str().unwrap();
                    cms.objects().delete(&local(), "_media", id).unwrap();
                };
                delete(&gone);
                if kept["id"].as_str().unwrap().ends_with(['0', '2', '4', '6']) {
                    delete(&kept);
                }
            }
        });
        // Stops the writers also when an assertion below fails: else they would never end.
        let _stops = StopOnDrop(stop);
        for round in 0..2 {
            while acknowledged.lock().unwrap().len() < (round + 1) * 40 {
                thread::yield_now();
            }
            let before = acknowledged.lock().unwrap().clone();
            let file = folder.path().join(format!("{round}.tar"));
            let copied = cms.backups().begin().unwrap();
            let second = cms.backups().begin();
            assert!(matches!(second, Err(Error::Busy(_))), "one backup at a time");
            // Files are removed meanwhile.
            let so_far = acknowledged.lock().unwrap().len();
            while acknowledged.lock().unwrap().len() < so_far + 20 {
                thread::yield_now();
            }
            let output = &mut fs::File::create(&file).unwrap();
            let written = cms.backups().write(copied, output).unwrap();
            assert_eq!(written.missing, [""; 0]);

            let data = folder.path().join(format!("data-{round}"));
            restore(&file, &CoreConfig::new(&data)).unwrap();
            let restored = open(&data);
            let check = restored.check(&CheckRequest::default()).unwrap();
            assert!(check.is_sound(), "{check:?}");
            assert_eq!(check.media.files, written.files);
            for id in before {
                restored.objects().get(&local(), "article", &id, 0).unwrap();
            }
            let all = restored.objects().list(&local(), "article", &ListRequest::default());
            let all = all.unwrap().to_value()["total_count"].as_u64().unwrap();
            assert_eq!(search(&restored, "title"), all.min(limits::MAX_SEARCH_RESULTS));
        }
    });
    // Files deleted during a backup are removed by a later clean-up.
    core.to_real_time(0);
    cms.media().clean_up().unwrap();
    core.run_for(25 * 3600);
    cms.check(&CheckRequest { repair: true, digests: false }).unwrap();
    let check = cms.check(&CheckRequest::default()).unwrap();
    assert!(check.is_sound(), "{check:?}");
}

#[test]
fn truncated_or_changed_backup_is_refused() {
    let core = with_articles();
    create(&core.cms, "one");
    for size in [1, 600] {
        text(&core.cms, &vec![b'a'; size]);
    }
    let folder = TempDir::new().unwrap();
    let (file, spoiled) = (folder.path().join("site.tar"), folder.path().join("spoiled.tar"));
    let data = folder.path().join("data");
    let written = write(&core.cms, &file);
    let bytes = fs::read(&file).unwrap();
    let refused = |what: &str| {
        for outcome in [verify_backup(&spoiled), restore(&spoiled, &CoreConfig::new(&data))] {
            assert!(matches!(outcome, Err(Error::BadRequest(_))), "{what}: {outcome:?}");
        }
        assert!(!data.exists(), "{what}: no directory is left");
    };

    // Two empty blocks end the archive; before them is the manifest.
    let content = bytes.len() - 1024;
    for length in (0..content - 512).step_by(content / 40).chain([content - 512]) {
        fs::write(&spoiled, &bytes[..length]).unwrap();
        refused(&format!("the first {length} bytes of {}", bytes.len()));
    }
    let mut differs = 0;
    for offset in (0..content).step_by(content / 100).chain(content - 1024..content) {
        let mut changed = bytes.clone();
        changed[offset] ^= 1;
        fs::write(&spoiled, &changed).unwrap();
        // Padding bytes of a block have no meaning.
        match verify_backup(&spoiled) {
            Ok(backup) => assert_eq!(backup, written, "byte {offset}"),
            Err(error) => {
                differs += 1;
                assert!(matches!(error, Error::BadRequest(_)), "byte {offset}: {error:?}");
            }
        }
    }
    assert!(differs > 300, "{differs}");
    let mut changed = bytes.clone();
    changed[content / 2] ^= 1;
    fs::write(&spoiled, &changed).unwrap();
    refused("a changed byte");
    for (what, foreign) in [("empty", &b""[..]), ("text", b"no backup"), ("zeros", &[0; 2048])] {
        fs::write(&spoiled, foreign).unwrap();
        refused(what);
    }
    // Extension headers of an entry may have any length: they are not read.
    for kind in [EntryType::GNULongName, EntryType::GNULongLink, EntryType::XHeader] {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(7);
        header.set_cksum();
        let mut text = [0; 512];
        text[..7].copy_from_slice(b"7 a=bc\n");
        fs::write(&spoiled, [header.as_bytes(), &text, &*bytes].concat()).unwrap();
        refused(&format!("{kind:?}"));
    }
    let missing = verify_backup(&folder.path().join("nothing.tar"));
    assert!(matches!(missing, Err(Error::BadRequest(_))), "{missing:?}");

    // An existing empty directory stays empty.
    fs::create_dir(&data).unwrap();
    restore(&spoiled, &CoreConfig::new(&data)).unwrap_err();
    assert!(files(&data).is_empty());
    fs::write(data.join("notes.txt"), "mine").unwrap();
    let occupied = restore(&file, &CoreConfig::new(&data));
    assert!(matches!(occupied, Err(Error::Conflict(_))), "{occupied:?}");
    assert_eq!(fs::read(data.join("notes.txt")).unwrap(), b"mine");
}

fn assert_private(path: &Path) {
    let mode = fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600, "{}", path.display());
}

const HOUR: Duration = Duration::from_hours(1);

/// Creates hourly backups of a space at a destination, where `names` lists the existing ones.
pub(crate) fn check_scheduled_backups(
    core: &TestCms,
    destination: BackupDestination,
    names: &dyn Fn() -> Vec<String>,
) {
    let schedule = BackupSchedule { destination, every: HOUR, keep: 2 };
    let due_in = || core.cms.backups().due_in(&schedule).unwrap();
    let make = || core.cms.backups().create_scheduled(&schedule, &|| false).unwrap();
    let known = || {
        let mut names = names();
        names.sort();
        names
    };
    assert_eq!(due_in(), Duration::ZERO, "there is none yet");
    create(&core.cms, "first");
    assert_eq!(make().objects, 1);
    assert_eq!(due_in(), HOUR);
    core.clock.advance(600);
    assert_eq!(due_in(), Duration::from_mins(50));
    let first = known();
    assert!(first[0].starts_with("cms-") && first[0].contains(".tar"), "{first:?}");
    for hour in 1..3 {
        core.clock.advance(3600);
        assert_eq!(due_in(), Duration::ZERO);
        create(&core.cms, &format!("after {hour} hours").replace(' ', "-"));
        make();
    }
    let newest = known();
    assert_eq!(newest.len(), 2, "two are kept: {newest:?}");
    assert!(!newest.contains(&first[0]), "the oldest is removed");

    let stopped = core.cms.backups().create_scheduled(&schedule, &|| true);
    assert!(matches!(stopped, Err(Error::Busy(_))), "{stopped:?}");
    assert_eq!(known(), newest, "a cancelled backup leaves no file and removes none");

    // After the clock was wrong, backups continue, and the backup dated in the future stays.
    core.clock.advance(400 * 86_400);
    make();
    core.clock.advance(-400 * 86_400);
    let future = known().pop().unwrap();
    core.clock.advance(3600);
    assert_eq!(due_in(), Duration::ZERO);
    make();
    assert_eq!(due_in(), HOUR);
    let after = known();
    assert_eq!(after.len(), 3, "{after:?}");
    assert!(after.contains(&future), "{after:?}");
}

#[test]
fn scheduled_backups_are_complete_and_the_newest_are_kept() {
    let core = with_articles();
    let folder = TempDir::new().unwrap();
    let folder = folder.path().join("backups");
    let names = || {
        let paths = files(&folder).into_iter();
        paths.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
    };
    check_scheduled_backups(&core, BackupDestination::Folder(folder.clone()), &names);
    for path in files(&folder) {
        verify_backup(&path).unwrap();
        assert_private(&path);
    }
    // Backups are private while they are written, too, and so is the copy of the database.
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let schedule = BackupSchedule {
        destination: BackupDestination::Folder(folder.clone()),
        every: HOUR,
        keep: 2,
    };
    let seen = Mutex::new(0);
    let is_cancelled = || {
        let all = files(&folder).into_iter().chain(files(&core.path().join("incoming")));
        *seen.lock().unwrap() = all.map(|path| assert_private(&path)).count();
        false
    };
    core.cms.backups().create_scheduled(&schedule, &is_cancelled).unwrap();
    assert!(*seen.lock().unwrap() >= 4, "two backups, a new one, and a copy");

    // Temporary files of a killed server are removed; files of others stay.
    let own = files(&folder)[0].to_str().unwrap().to_owned();
    let unfinished = format!("{own}#1");
    let foreign = folder.join("cms-other-20260101T000000Z.tar#1");
    // A backup that the user keeps, with a name that sorts after all others.
    let kept = own.replace("-2", "-before-upgrade-2");
    fs::write(&unfinished, "half").unwrap();
    fs::write(&foreign, "half").unwrap();
    fs::write(&kept, "a backup").unwrap();
    let schedule = BackupSchedule {
        destination: BackupDestination::Folder(folder.clone()),
        every: HOUR,
        keep: 2,
    };
    let made = |keep| {
        core.clock.advance(3600);
        let schedule = BackupSchedule { keep, ..schedule.clone() };
        assert_eq!(core.cms.backups().due_in(&schedule).unwrap(), Duration::ZERO);
        core.cms.backups().create_scheduled(&schedule, &|| false).unwrap();
        assert_eq!(core.cms.backups().due_in(&schedule).unwrap(), HOUR);
    };
    made(2);
    made(1);
    assert!(!Path::new(&unfinished).exists());
    assert!(foreign.exists() && Path::new(&kept).exists());
}

#[test]
fn damaged_database_is_not_backed_up() {
    use std::io::{Seek, SeekFrom, Write};

    let core = with_articles();
    for number in 0..50 {
        create(&core.cms, &format!("article-{number}"));
    }
    let path = core.path().join("cms.db");
    let folder = core.into_folder();
    // The database is closed, so that all pages are in the file.
    let mut database = fs::File::options().write(true).open(&path).unwrap();
    for page in 4..40 {
        database.seek(SeekFrom::Start(page * 4096 + 100)).unwrap();
        database.write_all(&[0xff; 200]).unwrap();
    }
    drop(database);
    let Ok(cms) = Cms::open(CoreConfig::new(folder.path().join("data"))) else { return };
    let begun = cms.backups().begin().map(drop);
    assert!(matches!(begun, Err(Error::Internal(_))), "{begun:?}");
}
