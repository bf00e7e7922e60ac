//! Damaged files are never sent, and are reported by check, backup and restore.

use std::{
    fmt::Write as _,
    fs::{self, File},
    path::PathBuf,
    slice,
};

use cms_core::{
    BackupDestination, BackupSchedule, Caller, Cms, Error,
    testing::{TestCms, images},
    wire::{
        check::{CheckArea, CheckReport, CheckRequest, Finding},
        media::UploadRequest,
        trash::{RestoreRequest, TrashRequest},
    },
};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::{
    media::{empty_trash, get, image, text, upload},
    support::database,
};

const REMEDY: &str = "restore the file from an earlier backup, or delete the media object and remove it \
     from the trash";

fn check(cms: &Cms, repair: bool, digests: bool) -> CheckReport {
    cms.check(&CheckRequest { repair, digests }).unwrap()
}

fn path(core: &TestCms, id: &str) -> PathBuf {
    core.path().join("media").join(id)
}

fn cut(core: &TestCms, id: &str, length: u64) {
    File::options().write(true).open(path(core, id)).unwrap().set_len(length).unwrap();
}

/// The records of files in the database, as `id size digest`.
fn records(core: &TestCms) -> Vec<(String, u64, String)> {
    let database = database(core);
    let sql = "SELECT id, size, lower(hex(sha256)) FROM stored_file ORDER BY id";
    let mut statement = database.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    rows.unwrap().map(Result::unwrap).collect()
}

/// Removes the records, as in a data directory of an earlier version.
fn remove_records(core: &TestCms) {
    let database = database(core);
    database.execute_batch("DELETE FROM stored_file").unwrap();
}

fn digest(content: &[u8]) -> String {
    Sha256::digest(content).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn finding(id: &str, message: &str) -> Finding {
    Finding {
        part: CheckArea::Files,
        place: format!("_media/{id}"),
        message: format!("{message}; {REMEDY}"),
        derived: false,
        repaired: false,
    }
}

fn internal<T>(outcome: Result<T, Error>) -> String {
    match outcome {
        Err(Error::Internal(cause)) => cause.to_string(),
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it was read"),
    }
}

fn damaged<T>(outcome: Result<T, Error>) -> String {
    match outcome {
        Err(Error::Damaged(message)) => message,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it was backed up"),
    }
}

#[test]
fn upload_records_size_and_sha256_until_the_file_is_removed() {
    let core = TestCms::new();
    let saved = text(&core.cms, b"saved");
    let unsaved = UploadRequest { save: false, kind: Some("file".to_owned()), ..image("b.txt") };
    let unsaved = upload(&core.cms, b"not saved", &unsaved).unwrap();
    let unsaved = unsaved["id"].as_str().unwrap().to_owned();
    let mut expected =
        vec![(saved.clone(), 5, digest(b"saved")), (unsaved.clone(), 9, digest(b"not saved"))];
    expected.sort();
    assert_eq!(records(&core), expected);

    core.cms.objects().delete(&Caller::local(), "_media", &saved).unwrap();
    assert_eq!(records(&core), expected);
    empty_trash(&core.cms);
    assert_eq!(records(&core), [(unsaved, 9, digest(b"not saved"))]);
    // The clean-up records the file as orphaned. It is more than a tenth of all files, so only a
    // command removes it.
    core.to_real_time(25 * 3600);
    core.cms.media().clean_up().unwrap();
    core.run_for(25 * 3600);
    let repair = CheckRequest { repair: true, digests: false };
    assert_eq!(core.cms.check(&repair).unwrap().media.removed, 1);
    assert_eq!(records(&core), []);
}

#[test]
fn refused_upload_records_nothing() {
    let core = TestCms::new();
    let request = UploadRequest { tags: vec!["of-nobody".to_owned()], ..image("a.jpg") };
    upload(&core.cms, &images::photo(8, 8), &request).unwrap_err();
    assert_eq!(records(&core), []);
}

#[test]
fn upload_under_the_id_of_another_file_compares_the_complete_files() {
    let core = TestCms::new();
    let id = text(&core.cms, b"some text");
    let again = |content: &[u8]| {
        let id = Some(id.clone());
        let kind = Some("file".to_owned());
        let request = UploadRequest { save: false, id, kind, ..image("a.txt") };
        upload(&core.cms, content, &request)
    };
    again(b"some text").unwrap();
    assert!(matches!(again(b"same size"), Err(Error::Invalid(_))));
    // The original replaces a damaged file, nothing else does.
    let damages: [&dyn Fn(); 2] =
        [&|| cut(&core, &id, 4), &|| fs::write(path(&core, &id), b"same size").unwrap()];
    for damage in damages {
        damage();
        assert!(matches!(again(b"some"), Err(Error::Invalid(_))));
        assert!(matches!(again(b"same size"), Err(Error::Invalid(_))));
        again(b"some text").unwrap();
        assert!(check(&core.cms, false, true).is_sound());
    }
    cut(&core, &id, 4);
    remove_records(&core);
    again(b"some").unwrap();
    assert_eq!(records(&core), [(id.clone(), 4, digest(b"some"))]);
    // A lost file is uploaded again under its id; another one not as long as its object exists.
    fs::remove_file(path(&core, &id)).unwrap();
    assert!(matches!(again(b"other"), Err(Error::Invalid(_))));
    again(b"some").unwrap();
    assert_eq!(fs::read(path(&core, &id)).unwrap(), b"some");
    fs::remove_file(path(&core, &id)).unwrap();
    core.cms.objects().delete(&Caller::local(), "_media", &id).unwrap();
    assert!(matches!(again(b"other"), Err(Error::Invalid(_))));
    empty_trash(&core.cms);
    again(b"other").unwrap();
    assert_eq!(records(&core), [(id, 5, digest(b"other"))]);
}

#[test]
fn file_of_the_wrong_size_is_neither_sent_nor_rendered() {
    let core = TestCms::new();
    let photo = images::photo(400, 300);
    let object = upload(&core.cms, &photo, &image("sea.jpg")).unwrap();
    let (id, url) = (object["id"].as_str().unwrap(), object["url"].as_str().unwrap());
    let small = url.replace("0x0", "100x0");
    let rendered = get(&core.cms, &small).unwrap();
    let cache = core.path().join("cache/images").join(id);
    let length = photo.len() as u64;
    for found in [length - 1, 0, length + 1] {
        cut(&core, id, found);
        let expected = format!(
            "the stored file {id} has {found} bytes, {length} bytes were uploaded; {REMEDY}"
        );
        for url in [url, &url.replace("0x0", "50x0")] {
            assert_eq!(internal(get(&core.cms, url)), expected);
        }
        // A cached rendering is still correct.
        assert_eq!(get(&core.cms, &small).unwrap(), rendered);
        assert_eq!(fs::read_dir(&cache).unwrap().count(), 1);
    }
    fs::write(path(&core, id), &photo).unwrap();
    assert_eq!(get(&core.cms, url).unwrap().1, photo);
}

#[test]
fn object_with_a_damaged_file_is_not_restored_under_another_id() {
    let core = TestCms::new();
    let id = text(&core.cms, b"complete");
    cut(&core, &id, 4);
    core.cms.objects().delete(&Caller::local(), "_media", &id).unwrap();
    let (local, trash) = (Caller::local(), core.cms.trash());
    let entry = trash.list(&local, &TrashRequest::default()).unwrap().data.remove(0).entry;
    let new_id = "_media-00000000-0000-4000-8000-00000000abcd".to_owned();
    let request = RestoreRequest { id: Some(new_id), ..RestoreRequest::default() };
    let refused = trash.restore(&local, &entry, request);
    assert!(matches!(refused, Err(Error::Internal(_))), "{refused:?}");
    assert_eq!(records(&core), [(id.clone(), 8, digest(b"complete"))]);
    // Under its own id, the damage stays visible.
    trash.restore(&local, &entry, RestoreRequest::default()).unwrap();
    assert_eq!(check(&core.cms, false, false).findings.len(), 1);
}

#[test]
fn check_compares_sizes_always_and_digests_on_demand() {
    let core = TestCms::new();
    let [kept, short, changed] =
        [b"kept", b"cut!", b"good"].map(|content| text(&core.cms, content));
    assert_eq!(check(&core.cms, false, true).findings, []);
    cut(&core, &short, 1);
    fs::write(path(&core, &changed), b"evil").unwrap();

    let wrong_size =
        finding(&short, &format!("the stored file {short} has 1 bytes, 4 bytes were uploaded"));
    let wrong_digest = finding(
        &changed,
        &format!(
            "the content of the stored file {changed} is not what was uploaded: its SHA-256 differs"
        ),
    );
    for repair in [false, true] {
        let sizes = check(&core.cms, repair, false);
        assert_eq!(sizes.findings, slice::from_ref(&wrong_size));
        assert_eq!((sizes.media.files, sizes.is_sound()), (3, false));
        let mut digests = check(&core.cms, repair, true).findings;
        digests.sort_by_key(|finding| finding.place != wrong_size.place);
        assert_eq!(digests, [wrong_size.clone(), wrong_digest.clone()]);
    }
    for id in [short, changed] {
        core.cms.objects().delete(&Caller::local(), "_media", &id).unwrap();
    }
    assert!(!check(&core.cms, false, true).is_sound(), "files in the trash are checked too");
    empty_trash(&core.cms);
    assert!(check(&core.cms, false, true).is_sound());
    assert_eq!(records(&core).len(), 1);
    assert_eq!(records(&core)[0].0, kept);
}

#[test]
fn check_records_files_of_earlier_versions_on_repair() {
    let core = TestCms::standalone();
    let [complete, short] = [b"whole", b"short"].map(|content| text(&core.cms, content));
    let expected = records(&core);
    remove_records(&core);
    cut(&core, &short, 2);
    // The only trace of its size is the media object.
    let wrong =
        finding(&short, &format!("the stored file {short} has 2 bytes, 5 bytes were uploaded"));
    for digests in [false, true] {
        let found = check(&core.cms, false, digests);
        assert_eq!((found.media.unrecorded, found.media.recorded), (2, 0));
        assert_eq!(found.findings, slice::from_ref(&wrong));
    }
    assert_eq!(records(&core), []);
    let repaired = check(&core.cms, true, false);
    assert_eq!((repaired.media.unrecorded, repaired.media.recorded), (2, 1));
    assert_eq!(repaired.findings, [wrong]);
    let complete = expected.into_iter().find(|(id, ..)| *id == complete).unwrap();
    assert_eq!(records(&core), [complete]);

    fs::write(path(&core, &short), b"short").unwrap();
    assert_eq!(check(&core.cms, true, false).media.recorded, 1);
    let after = check(&core.cms, false, true);
    assert!(after.is_sound() && after.media.unrecorded == 0, "{after:?}");
}

/// Earlier versions recorded no files.
#[test]
fn file_without_record_is_backed_up_while_its_object_is_in_the_trash() {
    let core = TestCms::standalone();
    let [kept, lost] = [b"kept", b"lost"].map(|content| text(&core.cms, content));
    remove_records(&core);
    fs::remove_file(path(&core, &lost)).unwrap();
    for id in [&kept, &lost] {
        core.cms.objects().delete(&Caller::local(), "_media", id).unwrap();
    }
    let copied = core.cms.backups().begin().unwrap();
    let mut archive = Vec::new();
    let backup = core.cms.backups().write(copied, &mut archive).unwrap();
    assert_eq!((backup.files, backup.missing), (1, vec![]));
    assert_eq!(check(&core.cms, true, false).media.recorded, 1);
    assert_eq!(records(&core), [(kept, 4, digest(b"kept"))]);
}

#[test]
fn backup_names_all_files_of_the_wrong_size() {
    let core = TestCms::new();
    let mut ids: Vec<_> = (0..12).map(|number| text(&core.cms, &[b'a'; 20][..=number])).collect();
    core.cms.backups().begin().map(drop).unwrap();
    cut(&core, &ids[3], 1);
    let message = damaged(core.cms.backups().begin());
    let expected =
        format!("the stored file {} has 1 bytes, 4 bytes were uploaded; {REMEDY}", ids[3]);
    assert_eq!(message, expected);
    for id in &ids {
        cut(&core, id, 30);
    }
    let message = damaged(core.cms.backups().begin());
    ids.retain(|id| !message.contains(id.as_str()));
    assert_eq!(ids.len(), 2, "ten are named: {message}");
    assert!(message.ends_with(&format!("; 2 more; {REMEDY}")), "{message}");
}

#[test]
fn backup_fails_at_a_file_with_another_digest_and_keeps_older_ones() {
    let core = TestCms::new();
    let id = text(&core.cms, b"what was uploaded");
    let folder = TempDir::new().unwrap();
    let schedule = BackupSchedule {
        destination: BackupDestination::Folder(folder.path().to_owned()),
        every: std::time::Duration::from_hours(1),
        keep: 1,
    };
    let make = || core.cms.backups().create_scheduled(&schedule, &|| false);
    let names = || {
        let entries = fs::read_dir(folder.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>()
    };
    make().unwrap();
    // As with a wrong storage of media files: the only backup that has files is kept.
    core.clock.advance(3600);
    fs::rename(path(&core, &id), path(&core, "elsewhere")).unwrap();
    assert!(make().unwrap().has_no_files());
    assert_eq!(names().len(), 2);
    // Also if only one of several files is lost.
    let other = text(&core.cms, b"another file");
    core.clock.advance(3600);
    let incomplete = make().unwrap();
    assert_eq!((incomplete.files, &incomplete.missing), (1, &vec![id.clone()]));
    assert_eq!(names().len(), 3);
    fs::rename(path(&core, "elsewhere"), path(&core, &id)).unwrap();
    fs::remove_file(path(&core, &other)).unwrap();
    core.cms.objects().delete(&Caller::local(), "_media", &other).unwrap();
    let entry = core.cms.trash().list(&Caller::local(), &TrashRequest::default()).unwrap();
    core.cms.trash().remove(&Caller::local(), &entry.data[0].entry).unwrap();
    core.clock.advance(3600);
    make().unwrap();
    let kept = names();
    assert_eq!(kept.len(), 1);
    core.clock.advance(3600);
    fs::write(path(&core, &id), b"what was replaced").unwrap();
    let expected = format!(
        "the content of the stored file {id} is not what was uploaded: its SHA-256 differs; {REMEDY}"
    );
    assert_eq!(damaged(make()), expected);
    assert_eq!(names(), kept);
    // Files of earlier versions have no digest: they are copied unchecked.
    remove_records(&core);
    make().unwrap();
    assert_ne!(names(), kept);
}
