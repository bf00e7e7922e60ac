//! Files and images: stored, rendered, and removed with their object.

use std::{collections::HashSet, fs, io::Write, path::Path};

use cms_core::{
    Cms, Error, Image, ImageBody, Incoming, OrphanCleanUp, Result,
    testing::{TestCms, fixture, images},
    wire::{
        check::{CheckRequest, MediaCheck},
        media::{ImageRequest, UploadRequest},
        trash::EmptyTrashRequest,
    },
};
use serde_json::{Value, json};

use crate::support::local;

pub(crate) fn receive(cms: &Cms, bytes: &[u8]) -> Incoming {
    let mut file = cms.media().receive().unwrap();
    file.write_all(bytes).unwrap();
    file
}

fn check(cms: &Cms) -> MediaCheck {
    cms.check(&CheckRequest::default()).unwrap().media
}

pub(crate) fn empty_trash(cms: &Cms) {
    cms.trash().empty(&local(), &EmptyTrashRequest::default()).unwrap();
}

pub(crate) fn image(name: &str) -> UploadRequest {
    UploadRequest {
        file_name: name.to_owned(),
        kind: Some("image".to_owned()),
        save: true,
        ..UploadRequest::default()
    }
}

pub(crate) fn upload(cms: &Cms, bytes: &[u8], request: &UploadRequest) -> Result<Value> {
    let json = cms.media().upload(&local(), Some(receive(cms, bytes)), request)?;
    Ok(json.to_value())
}

/// Uploads a text file; returns its id.
#[track_caller]
pub(crate) fn text(cms: &Cms, content: &[u8]) -> String {
    let request = UploadRequest { kind: Some("file".to_owned()), ..image("a.txt") };
    upload(cms, content, &request).unwrap()["id"].as_str().unwrap().to_owned()
}

pub(crate) fn get(cms: &Cms, path: &str) -> Result<(String, Vec<u8>)> {
    let segments: Vec<_> = path.trim_start_matches("/image/").split('/').collect();
    let image = cms.media().find(&ImageRequest { path: &segments, ..ImageRequest::default() })?;
    let body = match cms.media().rendered(&image) {
        Some(body) => body,
        None => cms.media().image_body(&image)?,
    };
    let media_type = image.media_type(&body).to_owned();
    let bytes = match body {
        ImageBody::Rendered(rendered) => images::bytes(rendered),
        ImageBody::Original { size } => cms.media().read(&image, 0..size)?.to_vec(),
    };
    Ok((media_type, bytes))
}

/// Names of all files under a folder.
fn files(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            names.extend(files(&path));
        } else {
            names.push(path.file_name().unwrap().to_str().unwrap().to_owned());
        }
    }
    names.sort();
    names
}

#[test]
fn image_is_stored_rendered_and_removed() {
    let core = TestCms::new();
    let cms = &core.cms;
    let photo = images::photo(400, 300);
    let object = upload(cms, &photo, &image("Sea.JPG")).unwrap();
    let id = object["id"].as_str().unwrap();
    let url = object["url"].as_str().unwrap();
    assert_eq!(url, format!("/image/0x0/{id}.jpg"));
    assert_eq!((&object["width"], &object["height"]), (&json!(400), &json!(300)));

    assert_eq!(get(cms, url).unwrap(), ("image/jpeg".to_owned(), photo));
    let small = url.replace("0x0", "100x0");
    let (_, rendered) = get(cms, &small).unwrap();
    assert_eq!(images::size(&rendered), (100, 75));
    assert_eq!(get(cms, &small).unwrap().1, rendered);
    assert_eq!(files(&core.path().join("media")), [id]);
    let cached = files(&core.path().join("cache"));
    assert!(matches!(&cached[..], [name] if name.ends_with("-100x0-q85-1.jpg")), "{cached:?}");

    cms.objects().delete(&local(), "_media", id).unwrap();
    for folder in ["cache", "incoming"] {
        assert_eq!(files(&core.path().join(folder)), [""; 0], "{folder}");
    }
    for url in [url, &small] {
        assert!(matches!(get(cms, url), Err(Error::NotFound { .. })), "{url}");
    }
    assert_eq!(files(&core.path().join("media")), [id]);
    empty_trash(cms);
    assert_eq!(files(&core.path().join("media")), [""; 0]);
}

fn find(cms: &Cms, size: &str, id: &str) -> Image {
    let path = [size, &format!("{id}.jpg")];
    cms.media().find(&ImageRequest { path: &path, ..ImageRequest::default() }).unwrap()
}

#[test]
fn image_of_a_reused_id_is_not_that_of_the_earlier_file() {
    let core = TestCms::new();
    let cms = &core.cms;
    let id = "_media-448eab50-efc1-46ef-83f2-b910b8cc58e0";
    let request = UploadRequest { id: Some(id.to_owned()), ..image("a.jpg") };
    upload(cms, &images::photo(40, 30), &request).unwrap();
    let earlier = ["0x0", "5x0"].map(|size| find(cms, size, id));
    cms.objects().delete(&local(), "_media", id).unwrap();
    // A request that began before the deletion ends after it.
    cms.media().image_body(&earlier[1]).unwrap();
    empty_trash(cms);

    upload(cms, &images::photo(30, 40), &request).unwrap();
    let later = ["0x0", "5x0"].map(|size| find(cms, size, id));
    for (earlier, later) in earlier.iter().zip(&later) {
        assert_eq!(earlier.modified, later.modified);
        assert_ne!(earlier.etag, later.etag);
    }
    assert!(cms.media().rendered(&later[1]).is_none());
}

#[test]
fn media_type_of_an_image_changes_its_etag() {
    let core = TestCms::new();
    let cms = &core.cms;
    let object = upload(cms, &images::photo(40, 30), &image("a.jpg")).unwrap();
    let id = object["id"].as_str().unwrap();
    let states = ["image/jpeg", "image/png", "\"text\"\n"].map(|media_type| {
        let changes = json!({"mimeType": media_type}).as_object().unwrap().clone();
        cms.objects().patch(&local(), "_media", id, changes).unwrap();
        let images = ["0x0", "5x0"].map(|size| find(cms, size, id));
        // Only the first media type can be rendered.
        cms.media().image_body(&images[1]).ok();
        images
    });
    for size in 0..2 {
        let tags: HashSet<_> = states.iter().map(|images| &images[size].etag).collect();
        assert_eq!(tags.len(), states.len(), "{tags:?}");
    }
    let is_cached = states.map(|[_, small]| cms.media().rendered(&small).is_some());
    assert_eq!(is_cached, [true, false, false]);
}

#[test]
fn unsaved_files_are_removed_after_a_day() {
    let core = TestCms::new();
    let cms = &core.cms;
    let bytes = fs::read(fixture("media/still.png")).unwrap();
    let unsaved = UploadRequest { save: false, ..image("a.png") };
    let kept = upload(cms, &bytes, &unsaved).unwrap();
    assert!(kept.get("internal").is_none(), "{kept}");
    upload(cms, &bytes, &unsaved).unwrap();
    drop(receive(cms, &bytes));
    let payload = kept.as_object().unwrap().clone();
    cms.objects().create(&local(), "_media", payload).unwrap();

    for _ in 0..9 {
        upload(cms, &bytes, &image("a.png")).unwrap();
    }
    let media = core.path().join("media");
    assert_eq!(files(&media).len(), 11);
    core.to_real_time(0);
    assert_eq!(cms.media().clean_up().unwrap().removed, 0);
    core.run_for(23 * 3600);
    assert_eq!(
        cms.media().clean_up().unwrap(),
        OrphanCleanUp { files: 11, ..OrphanCleanUp::default() }
    );
    assert_eq!(check(cms).waiting, 1);
    core.run_for(2 * 3600);
    let found = check(cms);
    assert_eq!((found.files, found.orphaned.len(), &found.missing[..]), (11, 1, &[][..]));
    let removed = OrphanCleanUp { removed: 1, withheld: 0, files: 11 };
    assert_eq!(cms.media().clean_up().unwrap(), removed);
    assert_eq!(files(&media).len(), 10);
    assert!(media.join(kept["id"].as_str().unwrap()).exists());
}

/// The age of a file is not the time without an object: the database may be new or restored.
#[test]
fn orphaned_files_age_from_their_first_record() {
    let core = TestCms::new();
    let cms = &core.cms;
    let bytes = fs::read(fixture("media/still.png")).unwrap();
    let unsaved = UploadRequest { save: false, ..image("a.png") };
    for number in 0..20 {
        let request = if number == 0 { &unsaved } else { &image("a.png") };
        upload(cms, &bytes, request).unwrap();
    }
    core.to_real_time(400 * 86_400);
    assert_eq!(check(cms).waiting, 1, "old, but not marked yet");
    let nothing = OrphanCleanUp { files: 20, ..OrphanCleanUp::default() };
    assert_eq!(cms.media().clean_up().unwrap(), nothing);
    core.run_for(86_400);
    assert_eq!(cms.media().clean_up().unwrap(), nothing);
    core.clock.advance(1);
    assert_eq!(check(cms).orphaned.len(), 1);
    assert_eq!(
        cms.media().clean_up().unwrap(),
        OrphanCleanUp { removed: 1, withheld: 0, files: 19 + 1 }
    );
    assert_eq!((check(cms).files, check(cms).waiting), (19, 0));
}

/// An orphaned file that got an object is kept for another day after the object is removed.
#[test]
fn orphaned_file_is_kept_for_another_day_after_its_object_is_removed() {
    let core = TestCms::new();
    let cms = &core.cms;
    let unsaved = UploadRequest { save: false, ..image("a.png") };
    let bytes = fs::read(fixture("media/still.png")).unwrap();
    let file = upload(cms, &bytes, &unsaved).unwrap();
    core.to_real_time(0);
    cms.media().clean_up().unwrap();
    core.run_for(23 * 3600);
    let payload = file.as_object().unwrap().clone();
    cms.objects().create(&local(), "_media", payload).unwrap();
    cms.media().clean_up().unwrap();
    core.run_for(2 * 3600);
    let media = core.path().join("media").join(file["id"].as_str().unwrap());
    let aside = core.path().join("aside");
    fs::rename(&media, &aside).unwrap();
    cms.objects().delete(&local(), "_media", file["id"].as_str().unwrap()).unwrap();
    empty_trash(cms);
    fs::rename(&aside, &media).unwrap();
    assert_eq!((check(cms).waiting, check(cms).orphaned.len()), (1, 0));
}

#[test]
fn orphaned_file_that_was_uploaded_again_is_kept_for_another_day() {
    let core = TestCms::new();
    let cms = &core.cms;
    let id = "_media-448eab50-efc1-46ef-83f2-b910b8cc58e0".to_owned();
    let request = UploadRequest { save: false, id: Some(id), ..image("a.png") };
    let bytes = fs::read(fixture("media/still.png")).unwrap();
    upload(cms, &bytes, &request).unwrap();
    core.to_real_time(0);
    cms.media().clean_up().unwrap();
    core.run_for(23 * 3600);
    upload(cms, &bytes, &request).unwrap();
    core.run_for(2 * 3600);
    let repair = || cms.check(&CheckRequest { repair: true, digests: false }).unwrap().media;
    assert_eq!((repair().removed, check(cms).files), (0, 1));
    cms.media().clean_up().unwrap();
    core.run_for(25 * 3600);
    assert_eq!((repair().removed, check(cms).files), (1, 0));
}

/// Many orphaned files may mean that the objects were lost.
#[test]
fn orphaned_files_over_a_tenth_are_removed_by_a_command_only() {
    let core = TestCms::new();
    let cms = &core.cms;
    let bytes = fs::read(fixture("media/still.png")).unwrap();
    let unsaved = UploadRequest { save: false, ..image("a.png") };
    for number in 0..19 {
        let request = if number < 2 { &unsaved } else { &image("a.png") };
        upload(cms, &bytes, request).unwrap();
    }
    core.to_real_time(0);
    cms.media().clean_up().unwrap();
    core.run_for(25 * 3600);
    let withheld = OrphanCleanUp { removed: 0, withheld: 2, files: 19 };
    assert_eq!(cms.media().clean_up().unwrap(), withheld, "two of nineteen are more than a tenth");
    assert_eq!(check(cms).orphaned.len(), 2);
    upload(cms, &bytes, &image("a.png")).unwrap();
    let removed = OrphanCleanUp { removed: 2, withheld: 0, files: 20 };
    assert_eq!(cms.media().clean_up().unwrap(), removed, "a tenth is not more than a tenth");

    upload(cms, &bytes, &unsaved).unwrap();
    let rows = |sql: &str| crate::support::rows(&core, sql);
    assert_eq!(rows("SELECT count(*) FROM orphan"), ["0"]);
    for _ in 0..3 {
        upload(cms, &bytes, &unsaved).unwrap();
    }
    let repair = CheckRequest { repair: true, digests: false };
    assert_eq!(cms.check(&repair).unwrap().media.removed, 0, "they were not marked before");
    core.run_for(25 * 3600);
    let found = cms.check(&repair).unwrap().media;
    assert_eq!((found.orphaned.len(), found.removed), (4, 4));
    assert_eq!(check(cms).files, 18);
}

#[test]
fn check_lists_objects_without_a_file() {
    let core = TestCms::new();
    let cms = &core.cms;
    let bytes = fs::read(fixture("media/still.png")).unwrap();
    let mut ids: Vec<_> = (0..3)
        .map(|_| upload(cms, &bytes, &image("a.png")).unwrap()["id"].as_str().unwrap().to_owned())
        .collect();
    let missing = ids.remove(1);
    fs::remove_file(core.path().join("media").join(&missing)).unwrap();
    let url = format!("/image/0x0/{missing}.png");
    assert!(matches!(get(cms, &url), Err(Error::NotFound { .. })));
    let found = check(cms);
    assert_eq!((found.files, found.missing, found.orphaned), (2, vec![missing], vec![]));
}

#[test]
fn foreign_files_are_kept() {
    let core = TestCms::new();
    let cms = &core.cms;
    let bytes = fs::read(fixture("media/still.png")).unwrap();
    let unsaved = UploadRequest { save: false, ..image("a.png") };
    let orphan = upload(cms, &bytes, &unsaved).unwrap();
    let orphan = orphan["id"].as_str().unwrap();
    let media = core.path().join("media");
    fs::create_dir_all(media.join("old")).unwrap();
    fs::create_dir_all(media.join("_media-448eab50-efc1-46ef-83f2-b910b8cc58e0")).unwrap();
    let others = [
        ".DS_Store".to_owned(),
        "notes.txt".to_owned(),
        "a#1".to_owned(),
        format!("{orphan}.bak"),
        format!("old/{orphan}"),
        "_MEDIA-448EAB50-EFC1-46EF-83F2-B910B8CC58E1".to_owned(),
    ];
    for other in &others {
        fs::write(media.join(other), "theirs").unwrap();
    }

    core.to_real_time(0);
    cms.media().clean_up().unwrap();
    core.run_for(25 * 3600);
    assert_eq!(check(cms).files, 1);
    assert_eq!(cms.check(&CheckRequest { repair: true, digests: false }).unwrap().media.removed, 1);
    assert!(!media.join(orphan).exists());
    for other in &others {
        assert!(media.join(other).exists(), "{other}");
    }
}

#[cfg(unix)]
#[test]
fn files_without_a_utf8_name_are_kept() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    let core = TestCms::new();
    let media = core.path().join("media");
    fs::create_dir_all(&media).unwrap();
    fs::write(media.join(OsStr::from_bytes(b"\xff\xfe")), "theirs").unwrap();
    assert_eq!(check(&core.cms).files, 0);
}

#[cfg(unix)]
#[test]
fn symbolic_link_counts_as_its_target() {
    let core = TestCms::new();
    let cms = &core.cms;
    let bytes = fs::read(fixture("media/still.png")).unwrap();
    let object = upload(cms, &bytes, &image("a.png")).unwrap();
    let file = core.path().join("media").join(object["id"].as_str().unwrap());
    let elsewhere = core.path().join("elsewhere");
    fs::rename(&file, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    assert_eq!(get(cms, object["url"].as_str().unwrap()).unwrap().1, bytes);
    assert_eq!(check(cms).missing, [""; 0]);

    cms.objects().delete(&local(), "_media", object["id"].as_str().unwrap()).unwrap();
    empty_trash(cms);
    assert!(fs::symlink_metadata(&file).is_err());
    assert!(elsewhere.exists());
}

#[test]
fn incomplete_uploads_are_removed_after_a_day() {
    let core = TestCms::new();
    let incoming = core.path().join("incoming");
    fs::create_dir_all(&incoming).unwrap();
    fs::write(incoming.join("a-name"), "half a pict").unwrap();
    core.to_real_time(23 * 3600);
    core.cms.media().clean_up().unwrap();
    assert_eq!(files(&incoming), ["a-name"]);
    core.clock.advance(2 * 3600);
    core.cms.media().clean_up().unwrap();
    assert_eq!(files(&incoming), [""; 0]);
}

#[test]
fn unwritable_directory_is_reported() {
    let core = TestCms::new();
    let incoming = core.path().join("incoming");
    fs::write(&incoming, "in the way").unwrap();
    let Err(Error::Internal(reason)) = core.cms.media().receive() else {
        panic!("the path is a file")
    };
    assert!(reason.to_string().contains(incoming.to_str().unwrap()), "{reason}");

    let core = TestCms::new();
    let media = core.path().join("media");
    fs::write(&media, "in the way").unwrap();
    let bytes = fs::read(fixture("media/still.png")).unwrap();
    for refused in [
        upload(&core.cms, &bytes, &image("a.png")).map(drop),
        core.cms.check(&CheckRequest::default()).map(drop),
    ] {
        let Err(Error::Internal(reason)) = refused else { panic!("{refused:?}") };
        assert!(reason.to_string().contains(media.to_str().unwrap()), "{reason}");
    }
    assert_eq!(files(&core.path().join("incoming")), [""; 0]);
}

#[test]
fn refused_object_removes_only_its_own_file() {
    let core = TestCms::new();
    let cms = &core.cms;
    let bytes = fs::read(fixture("media/still.png")).unwrap();
    let id = "_media-448eab50-efc1-46ef-83f2-b910b8cc58e0".to_owned();
    let tagged = |tags: &[&str]| UploadRequest {
        id: Some(id.clone()),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        ..image("a.png")
    };
    upload(cms, &bytes, &tagged(&["of-nobody"])).unwrap_err();
    assert_eq!(files(&core.path().join("media")), [""; 0]);

    upload(cms, &bytes, &tagged(&[])).unwrap();
    fs::remove_file(core.path().join("media").join(&id)).unwrap();
    // A refused upload changes nothing, also for an existing object.
    upload(cms, &bytes, &tagged(&[])).unwrap_err();
    assert_eq!(files(&core.path().join("media")), [""; 0]);
    upload(cms, &bytes, &UploadRequest { save: false, ..tagged(&[]) }).unwrap();
    assert_eq!(files(&core.path().join("media")), [id]);
}

#[test]
fn core_can_be_dropped_by_asynchronous_code() {
    let core = TestCms::new();
    core.cms.media().connect().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async move { drop(core) });
}

#[test]
fn file_stays_when_it_is_uploaded_again_during_the_removal_of_its_trash_entry() {
    let core = TestCms::standalone();
    let cms = &core.cms;
    let other = Cms::open(core.cms.config().clone()).unwrap();
    let id = text(cms, b"some text");
    let request = UploadRequest { id: Some(id.clone()), ..image("a.txt") };
    let request = UploadRequest { kind: Some("file".to_owned()), ..request };
    for remover in [cms, &other].into_iter().cycle().take(30) {
        cms.objects().delete(&local(), "_media", &id).unwrap();
        core.clock.advance(1);
        std::thread::scope(|scope| {
            scope.spawn(|| empty_trash(remover));
            upload(cms, b"some text", &UploadRequest { save: false, ..request.clone() }).unwrap();
        });
        assert_eq!(files(&core.path().join("media")), std::slice::from_ref(&id));
        upload(cms, b"some text", &request).unwrap();
    }
}

#[test]
fn concurrent_uploads_cannot_share_an_id() {
    let core = TestCms::new();
    let cms = &core.cms;
    let id = "_media-448eab50-efc1-46ef-83f2-b910b8cc58e0";
    let request = UploadRequest { save: false, id: Some(id.to_owned()), ..image("a.txt") };
    let request = UploadRequest { kind: Some("file".to_owned()), ..request };
    let stored: Vec<_> = std::thread::scope(|scope| {
        let uploads = (0..8).map(|number| {
            let (text, request) = (format!("text {number}"), &request);
            scope.spawn(move || upload(cms, text.as_bytes(), request).map(|_| text))
        });
        let uploads: Vec<_> = uploads.collect();
        uploads.into_iter().filter_map(|upload| upload.join().unwrap().ok()).collect()
    });
    assert_eq!(stored.len(), 1, "{stored:?}");
    let kept = fs::read_to_string(core.path().join("media").join(id)).unwrap();
    assert_eq!(kept, stored[0]);
    upload(cms, kept.as_bytes(), &request).unwrap();
}
