use std::fs;

use cms_model::testing;
use serde_json::json;

use super::*;

const LIMIT: u64 = 10 * MEGABYTE;

/// The documented error message, before and after the detected type.
const NOT_ALLOWED: [&str; 2] = [
    "The mime type of the file is invalid (\"",
    "\"). Allowed mime types are \"image/gif\", \"image/png\", \"image/jpeg\", \"image/bmp\", \
     \"image/webp\", \"image/svg+xml\", \"image/svg\", \"image/x-icon\", \
     \"image/vnd.microsoft.icon\", \"text/plain\", \"audio/midi\", \"audio/mpeg\", \"audio/webm\", \
     \"audio/ogg\", \"audio/wav\", \"video/webm\", \"video/ogg\", \"video/mp4\", \
     \"application/pdf\", \"application/json\".",
];

fn image() -> Vec<u8> {
    fs::read(testing::fixture("media/still.png")).expect("a fixture can be read")
}

fn file<'a>(name: &'a str, content: &'a [u8]) -> UploadedFile<'a> {
    UploadedFile { name, declared: None, content, size: content.len() as u64 }
}

fn check(file: Option<UploadedFile<'_>>, kind: Option<&str>) -> Result<MediaMetadata, FieldErrors> {
    check_upload(&Upload { file, kind }, LIMIT)
}

#[test]
fn image_metadata_is_complete() {
    let content = image();
    let media = |kind| MediaMetadata {
        file_name: "My photo.PNG".to_owned(),
        extension: "png".to_owned(),
        mime_type: "image/png",
        kind,
        size: content.len() as u64,
    };
    for name in ["My photo.PNG", "/home/me/My photo.PNG", "C:\\Pictures\\My photo.PNG"] {
        let image = media(MediaKind::Image);
        assert_eq!(check(Some(file(name, &content)), Some("image")), Ok(image), "{name}");
        let plain = media(MediaKind::File);
        assert_eq!(check(Some(file(name, &content)), Some("file")), Ok(plain), "{name}");
    }
}

#[test]
fn damaged_image_of_an_allowed_type_is_accepted() {
    let broken = &image()[..18];
    let media = check(Some(file("a.png", broken)), Some("image")).unwrap();
    assert_eq!(media.mime_type, "image/png");
}

#[test]
fn file_without_name_gets_one() {
    for name in ["", "folder/"] {
        let media = check(Some(file(name, b"hello")), Some("file")).unwrap();
        assert_eq!((&*media.file_name, &*media.extension), ("file.txt", "txt"));
    }
}

#[test]
fn validation_errors_are_reported_together() {
    let not_allowed = |found: &str| NOT_ALLOWED.join(found);
    let empty = UploadedFile { size: 0, ..file("a.png", b"") };
    let archive = b"PK\x03\x04\0\0\0\0\0\0\0\0";
    let large = |file| UploadedFile { size: 27_441_234, ..file };
    let image = image();
    let required = "The property type is required";
    let enumeration = "Does not have a value in the enumeration [\"image\",\"file\"]";
    let not_an_image = "The file is not an image";
    let too_large = "The file is too large (26.17 MB). Allowed maximum size is 10 MB.";
    for (file, kind, expected) in [
        (None, None, json!({"file": ["The property file is required"], "type": [required]})),
        (None, Some("image"), json!({"file": ["The property file is required"]})),
        (Some(file("a.png", &image)), None, json!({"type": [required]})),
        (Some(file("a.png", &image)), Some(""), json!({"type": [enumeration]})),
        (Some(file("a.png", &image)), Some("Image"), json!({"type": [enumeration]})),
        (Some(empty), Some("image"), json!({"file": ["An empty file is not allowed."]})),
        (Some(file("a.png", b"text")), Some("image"), json!({"type": [not_an_image]})),
        (Some(file("a.html", b"<p>")), Some("file"), json!({"file": [not_allowed("text/html")]})),
        (Some(large(file("a.png", &image))), Some("image"), json!({"file": [too_large]})),
        (
            Some(large(file("a.png", archive))),
            Some("image"),
            json!({
                "file": [not_allowed("application/zip"), too_large],
                "type": [not_an_image],
            }),
        ),
    ] {
        let errors = check(file, kind).unwrap_err();
        assert_eq!(json!(errors), expected, "{file:?} {kind:?}");
    }
}

#[test]
fn sizes_have_two_decimals_at_most() {
    for (size, limit, expected) in [
        (27_441_234, LIMIT, ("26.17", "10")),
        (LIMIT + 1, LIMIT, ("10.01", "10")),
        (11 * MEGABYTE, LIMIT, ("11", "10")),
        (11 * MEGABYTE + MEGABYTE / 2, LIMIT, ("11.5", "10")),
        (11 * MEGABYTE + MEGABYTE / 20, LIMIT, ("11.05", "10")),
        (2 * MEGABYTE, MEGABYTE * 3 / 2, ("2", "1.5")),
        (100, 10, ("0.01", "0")),
        (u64::MAX, u64::MAX - 1, ("17592186044416.01", "17592186044416")),
    ] {
        let (found, allowed) = expected;
        let expected =
            format!("The file is too large ({found} MB). Allowed maximum size is {allowed} MB.");
        assert_eq!(too_large(size, limit), expected);
    }
    let content = vec![b'a'; 1000];
    let upload = Upload { file: Some(file("a.txt", &content)), kind: Some("file") };
    assert!(check_upload(&upload, 1000).is_ok());
    assert!(check_upload(&upload, 999).is_err());
}
