//! Files and pictures: stored, served in any size, and gone with their object.

use std::{fs, io::Write, path::Path};

use cms_core::{
    Caller, Cms, Error, Incoming, Picture, Result,
    testing::{TestCms, fixture, pictures},
    wire::{
        check::{CheckRequest, MediaCheck},
        media::{ImageRequest, UploadRequest},
    },
};
use serde_json::{Value, json};

fn local() -> Caller {
    Caller::local()
}

fn receive(cms: &Cms, bytes: &[u8]) -> Incoming {
    let mut file = cms.media().receive().unwrap();
    file.write_all(bytes).unwrap();
    file
}

fn check(cms: &Cms) -> MediaCheck {
    cms.check(&CheckRequest::default()).unwrap().media
}

fn image(name: &str) -> UploadRequest {
    UploadRequest {
        file_name: name.to_owned(),
        kind: Some("image".to_owned()),
        save: true,
        ..UploadRequest::default()
    }
}

fn upload(cms: &Cms, bytes: &[u8], request: &UploadRequest) -> Result<Value> {
    let json = cms.media().upload(&local(), Some(receive(cms, bytes)), request)?;
    Ok(json.to_value())
}

fn get(cms: &Cms, path: &str) -> Result<(String, Vec<u8>)> {
    let segments: Vec<_> = path.trim_start_matches("/image/").split('/').collect();
    let image = cms.media().find(&ImageRequest { path: &segments, ..ImageRequest::default() })?;
    let picture = match cms.media().rendered(&image)? {
        Some(picture) => picture,
        None => cms.media().picture(&image)?,
    };
    let media_type = image.media_type(&picture).to_owned();
    let bytes = match picture {
        Picture::Rendered(bytes) => bytes,
        Picture::Original { size } => cms.media().read(&image, 0..size)?.to_vec(),
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
fn a_picture_is_stored_rendered_and_removed() {
    let core = TestCms::new();
    let cms = &core.cms;
    let photo = pictures::photo(400, 300);
    let object = upload(cms, &photo, &image("Sea.JPG")).unwrap();
    let id = object["id"].as_str().unwrap();
    let url = object["url"].as_str().unwrap();
    assert_eq!(url, format!("/image/0x0/{id}.jpg"));
    assert_eq!((&object["width"], &object["height"]), (&json!(400), &json!(300)));

    assert_eq!(get(cms, url).unwrap(), ("image/jpeg".to_owned(), photo));
    let small = url.replace("0x0", "100x0");
    let (_, made) = get(cms, &small).unwrap();
    assert_eq!(pictures::size(&made), (100, 75));
    assert_eq!(get(cms, &small).unwrap().1, made);
    assert_eq!(files(&core.path().join("media")), [id]);
    assert_eq!(files(&core.path().join("cache")), ["100x0-q85-1.jpg"]);

    cms.objects().delete(&local(), "_media", id).unwrap();
    for folder in ["media", "cache", "incoming"] {
        assert_eq!(files(&core.path().join(folder)), [""; 0], "{folder}");
    }
    assert!(matches!(get(cms, &small), Err(Error::NotFound { .. })));
}

#[test]
fn what_never_became_an_object_goes_after_a_day() {
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

    let media = core.path().join("media");
    assert_eq!(files(&media).len(), 2);
    core.to_real_time(23 * 3600);
    assert_eq!(cms.media().sweep().unwrap(), 0);
    core.clock.advance(2 * 3600);
    let found = check(cms);
    assert_eq!((found.files, found.orphaned.len(), &found.missing[..]), (2, 1, &[][..]));
    assert_eq!(cms.media().sweep().unwrap(), 1);
    assert_eq!(files(&media), [kept["id"].as_str().unwrap()]);
}

#[test]
fn a_check_names_objects_whose_file_is_gone() {
    let core = TestCms::new();
    let cms = &core.cms;
    let bytes = fs::read(fixture("media/still.png")).unwrap();
    let mut ids: Vec<_> = (0..3)
        .map(|_| upload(cms, &bytes, &image("a.png")).unwrap()["id"].as_str().unwrap().to_owned())
        .collect();
    let lost = ids.remove(1);
    fs::remove_file(core.path().join("media").join(&lost)).unwrap();
    let url = format!("/image/0x0/{lost}.png");
    assert!(matches!(get(cms, &url), Err(Error::NotFound { .. })));
    let found = check(cms);
    assert_eq!((found.files, found.missing, found.orphaned), (2, vec![lost], vec![]));
}
