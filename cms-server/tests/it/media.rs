//! Uploads, as tables of complete responses; and the check of stored files.

use std::{fs, path::Path, slice};

use axum::body::Body;
use cms_core::{testing::fixture, wire::key::KeyKind};
use cms_server::ServerConfig;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

use crate::support::{
    CallerKind, Reply, TestApp, error, forbidden, generic, shown, unauthorized, wrong_media_type,
};

const MEDIA: &str = "/api/media";
const OBJECTS: &str = "/api/v1/content/_media";
const BOUNDARY: &str = "a-line";
const FORM: &str = "multipart/form-data; boundary=a-line";
const SVG: &str = r#"<svg xmlns="http://www.w3.org/2000/svg" width="30" viewBox="0 0 3 2"/>"#;

/// One part of a form.
pub(crate) struct Part<'a> {
    pub(crate) name: &'a str,
    /// File name and media type.
    pub(crate) file: Option<(&'a str, &'a str)>,
    pub(crate) content: &'a [u8],
}

pub(crate) fn field<'a>(name: &'a str, text: &'a str) -> Part<'a> {
    Part { name, file: None, content: text.as_bytes() }
}

pub(crate) fn file<'a>(name: &'a str, media_type: &'a str, content: &'a [u8]) -> Part<'a> {
    Part { name: "file", file: Some((name, media_type)), content }
}

/// The body of a form.
pub(crate) fn form(parts: &[Part<'_>]) -> Vec<u8> {
    let mut body = Vec::new();
    for Part { name, file, content } in parts {
        let more = match file {
            Some((name, media_type)) => {
                format!("; filename=\"{name}\"\r\ncontent-type: {media_type}")
            }
            None => String::new(),
        };
        let head = format!("--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"{name}\"{more}");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(b"\r\n\r\n");
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    body
}

/// Sends a body with a key and any content type.
async fn send(
    app: &TestApp,
    caller: CallerKind,
    path: &str,
    content_type: &str,
    body: impl Into<Body>,
) -> Reply {
    let mut headers = vec![("content-type", content_type)];
    headers.extend(app.key(caller).map(|key| ("x-auth-token", key)));
    app.send("POST", path, &headers, body).await
}

async fn upload(app: &TestApp, parts: &[Part<'_>]) -> Reply {
    send(app, CallerKind::ReadWrite, MEDIA, FORM, form(parts)).await
}

/// Uploads a file, and returns its media object.
pub(crate) async fn stored(app: &TestApp, parts: &[Part<'_>]) -> Value {
    let reply = upload(app, parts).await;
    assert_eq!(reply.status, 200, "{:?}", reply.json());
    reply.json()
}

fn still(extension: &str) -> Vec<u8> {
    fs::read(fixture(&format!("media/still.{extension}"))).unwrap()
}

/// Names of the files in a folder of the data directory.
pub(crate) fn files(app: &TestApp, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(app.core.path().join(folder)).into_iter().flatten();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    entries.map(|entry| name(&entry.unwrap().path())).collect()
}

/// The upload endpoint, its alias and the content endpoint return the same complete object.
#[tokio::test]
async fn upload_creates_a_media_object() {
    let app = TestApp::new();
    let png = still("png");
    let (width, height) = cms_core::testing::images::size(&png);
    for path in [MEDIA, "/api/v1/media", "/api/media/"] {
        let parts = [file("My Photo.PNG", "text/html", &png), field("type", "image")];
        let reply = send(&app, CallerKind::ReadWrite, path, FORM, form(&parts)).await;
        let object = reply.json();
        let id = object["id"].as_str().unwrap();
        assert!(id.starts_with("_media-") && id.len() == 43, "{id}");
        let properties = json!({
            "extension": "png",
            "fileName": "My Photo.PNG",
            "mimeType": "image/png",
            "size": png.len(),
            "type": "image",
            "source": "disk",
            "externalId": "",
            "url": format!("/image/0x0/{id}.png"),
            "height": height,
            "width": width,
        });
        let title = json!({ "objectTitle": "My Photo.PNG" });
        assert_eq!(
            reply.status_and_body(),
            (200, shown("_media", id, &title, &properties)),
            "{path}"
        );
        assert_eq!(app.get(&format!("{OBJECTS}/{id}")).await.json(), object);
    }
    assert_eq!((files(&app, "media").len(), files(&app, "incoming").len()), (3, 0));
}

/// File and `type`; expected extension, name and media type, and the image size if the server
/// detects it.
type Case<'a> = (Part<'a>, &'a str, [&'a str; 3], Option<(u32, u32)>);

/// Properties of files of other types: extension, name, media type, type, size.
#[tokio::test]
async fn media_type_is_detected_from_content() {
    let app = TestApp::new();
    let (gif, jpg, wav) =
        (still("gif"), still("jpg"), fs::read(fixture("media/tone.wav")).unwrap());
    let broken = &jpg[..20];
    let svg = SVG.as_bytes();
    let cases: [Case<'_>; 9] = [
        (file("a.gif", "image/gif", &gif), "image", ["gif", "a.gif", "image/gif"], None),
        (file("a.gif", "", &gif), "file", ["gif", "a.gif", "image/gif"], Some((0, 0))),
        (file("b.jpeg", "x", broken), "image", ["jpeg", "b.jpeg", "image/jpeg"], Some((0, 0))),
        (file("c", "x", svg), "image", ["svg", "c", "image/svg+xml"], Some((30, 20))),
        (file("C:\\a\\d.TXT", "x", b"hi"), "file", ["txt", "d.TXT", "text/plain"], Some((0, 0))),
        (file("../../e.json", "x", b"{}"), "file", ["json", "e.json", "application/json"], None),
        (file("", "x", b"hello"), "file", ["txt", "file.txt", "text/plain"], None),
        (file("f", "audio/x", &wav), "file", ["wav", "f", "audio/wav"], Some((0, 0))),
        (field("file", "no name"), "file", ["txt", "file.txt", "text/plain"], None),
    ];
    for (part, kind, wanted, size) in cases {
        let name = wanted[1];
        let object = stored(&app, &[field("type", kind), part]).await;
        let texts = ["extension", "fileName", "mimeType"].map(|key| object[key].as_str().unwrap());
        assert_eq!((texts, &object["type"]), (wanted, &json!(kind)), "{name}");
        if let Some((width, height)) = size {
            assert_eq!(object["width"], width, "{name}");
            assert_eq!(object["height"], height, "{name}");
        }
    }
}

/// The validation messages, alone and together.
#[tokio::test]
async fn upload_reports_all_errors() {
    let app = TestApp::new();
    let text = file("a.txt", "text/plain", b"a text");
    let empty = file("a.png", "image/png", b"");
    let program = file("a.png", "image/png", b"\0\x01\x02program");
    let html = file("a.html", "image/png", b"<p>hello</p>");
    let invalid = |found: &str| {
        format!(
            "The mime type of the file is invalid (\"{found}\"). Allowed mime types are \
             \"image/gif\", \"image/png\", \"image/jpeg\", \"image/bmp\", \"image/webp\", \
             \"image/svg+xml\", \"image/svg\", \"image/x-icon\", \"image/vnd.microsoft.icon\", \
             \"text/plain\", \"audio/midi\", \"audio/mpeg\", \"audio/webm\", \"audio/ogg\", \
             \"audio/wav\", \"video/webm\", \"video/ogg\", \"video/mp4\", \"application/pdf\", \
             \"application/json\"."
        )
    };
    let no_file = "The property file is required";
    let type_not_found = "The property type is required";
    let other = r#"Does not have a value in the enumeration ["image","file"]"#;
    let is_file = || field("type", "file");
    let cases: Vec<(Vec<Part<'_>>, Value)> = vec![
        (vec![], json!({ "file": [no_file], "type": [type_not_found] })),
        (vec![field("file_", "x"), is_file()], json!({ "file": [no_file] })),
        (vec![text], json!({ "type": [type_not_found] })),
        (vec![empty, is_file()], json!({ "file": ["An empty file is not allowed."] })),
        (vec![program, is_file()], json!({ "file": [invalid("application/octet-stream")] })),
        (vec![html, is_file()], json!({ "file": [invalid("text/html")] })),
        (
            vec![file("a.txt", "", b"a text"), field("type", "image")],
            json!({ "type": ["The file is not an image"] }),
        ),
        (vec![file("a.txt", "", b"a text"), field("type", "")], json!({ "type": [other] })),
        (
            vec![file("a.css", "", b"a{}"), field("type", "Image"), field("id", "_media-x")],
            json!({
                "file": [invalid("text/css")],
                "type": [other],
                "id": ["This value is not valid."],
            }),
        ),
        // Of several fields with one name, the last is used.
        (
            vec![is_file(), file("a.txt", "", b"a text"), field("type", "none")],
            json!({ "type": [other] }),
        ),
    ];
    for (parts, wanted) in cases {
        assert_eq!(upload(&app, &parts).await.status_and_body(), (400, wanted));
    }
    let message = "The file is too large (10.01 MB). Allowed maximum size is 10 MB.";
    let mut large = vec![b' '; 10 * 1024 * 1024 + 1];
    let reply = upload(&app, &[is_file(), file("a.txt", "", &large)]).await;
    assert_eq!(reply.status_and_body(), error("file", message));
    large.truncate(10 * 1024 * 1024);
    assert_eq!(upload(&app, &[is_file(), file("a.txt", "", &large)]).await.status, 200);
    large.resize(large.len() + 26_000, b' ');
    let reply = upload(&app, &[is_file(), file("a.css", "", &large)]).await;
    let message = "The file is too large (10.02 MB). Allowed maximum size is 10 MB.";
    assert_eq!(reply.status_and_body(), (400, json!({ "file": [invalid("text/css"), message] })));
    assert_eq!((files(&app, "media").len(), files(&app, "incoming").len()), (1, 0));
}

/// `save=0` stores the file and leaves the object to the client.
#[tokio::test]
async fn unsaved_file_is_used_by_a_later_object() {
    let app = TestApp::new();
    let png = still("png");
    for (save, is_saved) in [("1", true), ("", true), ("no", true), ("0", false)] {
        let parts = [file("a.png", "", &png), field("type", "image"), field("save", save)];
        let object = stored(&app, &parts).await;
        let id = object["id"].as_str().unwrap();
        assert_eq!(object.get("internal").is_some(), is_saved, "{save}");
        let url = object["url"].as_str().unwrap();
        assert_eq!(app.get(&format!("{OBJECTS}/{id}")).await.status == 200, is_saved);
        assert_eq!(app.get(url).await.status == 200, is_saved);
        if !is_saved {
            let created = app.request("POST", OBJECTS, &object).await.json();
            assert_eq!(created["url"], object["url"]);
            assert_eq!(app.get(url).await.bytes, png);
        }
    }
}

/// Further fields: texts, tags in two forms, the id of the new object.
#[tokio::test]
async fn upload_has_optional_fields() {
    let app = TestApp::new();
    let png = still("png");
    for tag in ["red", "blue"] {
        app.create("_tag", &json!({ "id": tag, "name": tag })).await;
    }
    let id = "_media-448eab50-efc1-46ef-83f2-b910b8cc58e0";
    let all = |content| {
        [
            file("a.png", "", content),
            field("type", "image"),
            field("id", id),
            field("alt", "A märe"),
            field("title", "Sea"),
            field("tags", "red"),
            field("tags[]", "blue"),
            field("unknown", "x"),
        ]
    };
    let object = stored(&app, &all(&png)).await;
    let link =
        |tag: &str| json!({ "type": "internal", "dataUrl": format!("/api/v1/content/_tag/{tag}") });
    assert_eq!(object["tags"], json!([link("red"), link("blue")]));
    let texts = ["id", "alt", "title"].map(|key| object[key].as_str().unwrap());
    assert_eq!(texts, [id, "A märe", "Sea"]);
    // The id is in use, also for the same file.
    for content in [&png, &still("gif")] {
        let reply = upload(&app, &all(content)).await;
        assert_eq!(reply.status_and_body(), error("id", "This value is already used"));
    }
    let unknown = [file("a.png", "", &png), field("type", "image"), field("tags", "green")];
    assert_eq!(upload(&app, &unknown).await.status, 400);
    assert_eq!(files(&app, "media"), [id]);
}

/// Key, permission, media type, size and form, in this order.
#[tokio::test]
async fn upload_checks_run_in_order() {
    let config = ServerConfig { upload_limit: 70_000, ..ServerConfig::default() };
    let app = TestApp::with(&config);
    let creates = scoped(&app, "creates", true);
    let reads = scoped(&app, "reads", false);
    let valid = form(&[file("a.txt", "", b"a text"), field("type", "file")]);
    let too_large = || (413, generic(413, "Request Entity Too Large"));
    let malformed = || (400, generic(400, "Malformed form data"));
    let large = form(&[file("a.txt", "", &vec![b'a'; 70_000])]);
    let cases = [
        (None, "text/plain", &large, unauthorized()),
        (app.key(CallerKind::Unknown), FORM, &valid, unauthorized()),
        (app.key(CallerKind::ReadOnly), "text/plain", &large, forbidden()),
        (Some(&*reads), "text/plain", &large, forbidden()),
        (Some(&*creates), "application/json", &large, wrong_media_type()),
        (Some(&*creates), "", &valid, wrong_media_type()),
        (Some(&*creates), "multipart/mixed; boundary=a-line", &valid, wrong_media_type()),
        (Some(&*creates), FORM, &large, too_large()),
        (Some(&*creates), "multipart/form-data", &valid, malformed()),
        (Some(&*creates), "multipart/form-data; boundary=other", &valid, malformed()),
    ];
    for (key, content_type, body, wanted) in cases {
        let mut headers = vec![("content-type", content_type)];
        headers.extend(key.map(|key| ("x-auth-token", key)));
        let reply = app.send("POST", MEDIA, &headers, body.clone()).await;
        assert_eq!(reply.status_and_body(), wanted, "{key:?} {content_type}");
    }
    let other_form = "Multipart/Form-Data; charset=utf-8; Boundary=\"a-line\"";
    for caller in [CallerKind::ReadWrite, CallerKind::Admin] {
        assert_eq!(send(&app, caller, MEDIA, other_form, valid.clone()).await.status, 200);
    }
    let headers = [("content-type", FORM), ("x-auth-token", &*creates)];
    assert_eq!(app.send("POST", MEDIA, &headers, valid).await.status, 200);
}

/// A scoped key that may read media objects, and optionally create them.
fn scoped(app: &TestApp, name: &str, create: bool) -> String {
    let rights = if create { "cr" } else { "rud" };
    app.core.create_key(name, KeyKind::Scoped, &[("_media", rights)]).key
}

/// Malformed forms and forms over the limits are refused with a message, and leave no file.
#[tokio::test]
async fn malformed_form_returns_400() {
    let app = TestApp::new();
    let valid = form(&[file("a.txt", "", b"a text"), field("type", "file")]);
    let end = valid.len();
    let mut cases: Vec<(Vec<u8>, &str)> = Vec::new();
    for cut in [1, 10, 60, 100, end - 30, end - 5] {
        cases.push((valid[..cut].to_vec(), "Malformed form data"));
    }
    for text in ["{}", "--a-line", "--a-line\r\n\r\n", "--a-line\r\nx\r\n\r\ny\r\n--a-line--"] {
        cases.push((text.as_bytes().to_vec(), "Malformed form data"));
    }
    let twice = [file("a.txt", "", b"a"), file("b.txt", "", b"b")];
    cases.push((form(&twice), "The form has more than one file"));
    let long = "x".repeat(64 * 1024 + 1);
    cases.push((form(&[field("alt", &long)]), "A field of the form is too large"));
    cases.push((form(&[field("other", &long)]), "A field of the form is too large"));
    let many: Vec<_> = (0..101).map(|_| field("x", "")).collect();
    cases.push((form(&many), "The form has too many fields"));
    let latin1 = |body: Vec<u8>| -> Vec<u8> {
        body.into_iter().map(|byte| if byte == b'?' { 0xe9 } else { byte }).collect()
    };
    for part in [field("alt", "caf?"), field("al?", "caf"), file("caf?.txt", "", b"a")] {
        cases.push((latin1(form(&[part, field("type", "file")])), "The form is not UTF-8"));
    }
    let in_charset = |charset: &str| {
        let text = String::from_utf8(form(&[field("alt", "caf?"), field("type", "file")])).unwrap();
        let declared = format!("\r\nContent-Type: text/plain; charset={charset}\r\n\r\ncaf?");
        latin1(text.replace("\r\n\r\ncaf?", &declared).into_bytes())
    };
    for charset in ["shift_jis", "unknown"] {
        cases.push((in_charset(charset), "A field of the form is not valid in its charset"));
    }
    cases.push((in_charset("utf-8"), "The form is not UTF-8"));
    for (body, message) in cases {
        for size in [body.len().max(1), 100] {
            let chunks: Vec<_> = body.chunks(size).map(<[u8]>::to_vec).collect();
            let chunks = stream::iter(chunks.into_iter().map(Ok::<_, String>));
            let reply =
                send(&app, CallerKind::ReadWrite, MEDIA, FORM, Body::from_stream(chunks)).await;
            assert_eq!(reply.status_and_body(), (400, generic(400, message)));
        }
    }
    // Bytes outside of any part are not buffered without a limit.
    let noise = stream::iter((0..1000).map(|_| Ok::<_, String>(vec![b'-'; 1024])));
    let reply = send(&app, CallerKind::ReadWrite, MEDIA, FORM, Body::from_stream(noise)).await;
    assert_eq!(reply.status_and_body(), (400, generic(400, "Malformed form data")));
    assert_eq!((files(&app, "media").len(), files(&app, "incoming").len()), (0, 0));
}

/// A client that stops in the middle of a body gets an error after a timeout.
#[tokio::test(start_paused = true)]
async fn stalled_upload_returns_400() {
    let app = TestApp::new();
    let valid = form(&[file("a.txt", "", b"a text")]);
    let first = stream::iter([Ok::<_, String>(valid[..80].to_vec())]);
    let body = Body::from_stream(first.chain(stream::pending()));
    let reply = send(&app, CallerKind::ReadWrite, MEDIA, FORM, body).await;
    assert_eq!(reply.status_and_body(), (400, generic(400, "Malformed form data")));
}

/// The check compares the stored files with the media objects.
#[tokio::test]
async fn stored_file_is_checked() {
    let app = TestApp::new();
    let check = "/api/v1/internal/check";
    let png = still("png");
    let unsaved = [file("a.png", "", &png), field("type", "image"), field("save", "0")];
    let orphan = stored(&app, &unsaved).await["id"].clone();
    let lost = stored(&app, &unsaved[..2]).await["id"].clone();
    let lost = lost.as_str().unwrap();
    fs::remove_file(app.core.path().join("media").join(lost)).unwrap();
    app.core.to_real_time(0);
    app.core.cms.media().clean_up().unwrap();
    app.core.run_for(25 * 3600);
    let found = |files: u32, orphaned: Value, removed: u32| {
        let media = json!({
            "files": files, "missing": [lost], "waiting": 0, "orphaned": orphaned, "removed": removed,
            "unrecorded": 0, "recorded": 0,
        });
        (200, json!({ "media": media, "findings": [], "more": 0 }))
    };
    let none = Value::Null;
    assert_eq!(
        app.send_as(CallerKind::Admin, "POST", check, &none).await.status_and_body(),
        found(1, json!([orphan]), 0)
    );
    let repair = json!({ "repair": true });
    let repaired = app.send_as(CallerKind::Admin, "POST", check, &repair).await.status_and_body();
    assert_eq!(repaired, found(1, json!([orphan]), 1));
    let again = app.send_as(CallerKind::Admin, "POST", check, &json!({})).await.status_and_body();
    assert_eq!(again, found(0, json!([]), 0));
    let wrong = app.send_as(CallerKind::Admin, "POST", check, &json!({ "repair": "yes" })).await;
    let expected = json!({ "repair": ["String value found, but a boolean is required"] });
    assert_eq!(wrong.status_and_body(), (400, expected));
}

/// The check lists damaged files. A backup reports one before it sends anything.
#[tokio::test]
async fn check_and_backup_list_damaged_files() {
    let app = TestApp::new();
    let (check, backup) = ("/api/v1/internal/check", "/api/v1/internal/backup");
    let upload = async |content: &[u8]| {
        let object = stored(&app, &[file("a.txt", "", content), field("type", "file")]).await;
        object["id"].as_str().unwrap().to_owned()
    };
    let (short, changed) = (upload(b"a text").await, upload(b"another").await);
    let path = |id: &str| app.core.path().join("media").join(id);
    fs::write(path(&short), b"a t").unwrap();
    fs::write(path(&changed), b"changed").unwrap();
    let remedy = "restore the file from an earlier backup, or delete the media object and remove it \
     from the trash";
    let short_message =
        format!("the stored file {short} has 3 bytes, 6 bytes were uploaded; {remedy}");
    let changed_message = format!(
        "the content of the stored file {changed} is not what was uploaded: its SHA-256 differs; \
         {remedy}"
    );
    let finding = |id: &str, message: &str| {
        json!({
            "part": "files", "place": format!("_media/{id}"), "message": message,
            "derived": false, "repaired": false,
        })
    };
    let found = |findings: &[Value]| {
        let media = json!({
            "files": 2, "missing": [], "waiting": 0, "orphaned": [], "removed": 0,
            "unrecorded": 0, "recorded": 0,
        });
        (200, json!({ "media": media, "findings": findings, "more": 0 }))
    };
    let sizes = app.send_as(CallerKind::Admin, "POST", check, &json!({})).await;
    let wrong_size = finding(&short, &short_message);
    assert_eq!(sizes.status_and_body(), found(slice::from_ref(&wrong_size)));
    let digests = app.send_as(CallerKind::Admin, "POST", check, &json!({ "digests": true })).await;
    let mut wanted = [wrong_size, finding(&changed, &changed_message)];
    wanted.sort_by_key(|finding| finding["place"].to_string());
    assert_eq!(digests.status_and_body(), found(&wanted));
    let wrong = app.send_as(CallerKind::Admin, "POST", check, &json!({ "digests": "yes" })).await;
    assert_eq!(wrong.status, 400);

    let key = [("x-auth-token", app.key(CallerKind::Admin).unwrap())];
    let refused = app.send_to_damaged("GET", backup, &key, "").await;
    assert_eq!(refused.status_and_body(), (500, generic(500, &short_message)));
}
