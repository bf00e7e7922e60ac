//! Images: URLs, errors, conditional and range requests.

use std::fs;

use axum::http::HeaderMap;
use cms_core::testing::{START, fixture, images};
use serde_json::{Value, json};

use crate::{
    media::{field, file, files, stored},
    support::{CallerKind, TestApp, error, generic, get, not_found},
};

const OBJECTS: &str = "/api/v1/content/_media";
/// The time of the test clock, as a header value.
const MODIFIED: &str = "Fri, 02 Jan 2026 03:04:05 GMT";

/// Uploads an image; returns its id.
async fn upload(app: &TestApp, name: &str, bytes: &[u8]) -> String {
    let object = stored(app, &[file(name, "", bytes), field("type", "image")]).await;
    object["id"].as_str().unwrap().to_owned()
}

fn media_file(name: &str) -> Vec<u8> {
    fs::read(fixture(&format!("media/{name}"))).unwrap()
}

/// Adds a variant with the upper left corner of an image.
async fn with_variant(app: &TestApp, id: &str) {
    let trim = json!({ "top": 0, "left": 0, "width": 200, "height": 100 });
    let variants = json!({ "variants": [{ "name": "corner", "trim": trim }] });
    let reply = app.request("PATCH", &format!("{OBJECTS}/{id}"), &variants).await;
    assert_eq!(reply.status, 200, "{:?}", reply.json());
}

/// The tag of a URL, which begins with the id of the file.
async fn tag_of(app: &TestApp, id: &str, path: &str) -> String {
    let tag = get(app, path, &[]).await.header("etag").unwrap().to_owned();
    assert!(tag.starts_with(&format!("\"{id}-{START:x}-")), "{tag}");
    tag
}

#[tokio::test]
async fn image_url_has_several_forms() {
    let app = TestApp::new();
    let photo = images::photo(400, 300);
    let id = upload(&app, "Sea.JPG", &photo).await;
    with_variant(&app, &id).await;
    let trim = "%7B%22trim%22%3A%7B%22top%22%3A10%2C%22left%22%3A10%2C%22width%22%3A50%7D%7D";
    let cases = [
        (format!("{id}.jpg"), (400, 300)),
        (format!("0x0/{id}.JPG"), (400, 300)),
        (format!("0x0/{id}.jpg/"), (400, 300)),
        (format!("100x0/{id}.jpg"), (100, 75)),
        (format!("0x60/{id}/any%20name.of.jpg"), (80, 60)),
        (format!("100x100/{id}/a%2Fb%00.jpg"), (100, 100)),
        (format!("900x900/{}.jpg", id.to_uppercase()), (400, 300)),
        (format!("0x0/{id}.jpg/variant/corner"), (200, 100)),
        (format!("50x0/{id}/x.jpg/variant/corner"), (50, 25)),
        (format!("0x0/{id}.jpg/transform/trim/10,20,100,90"), (100, 90)),
        (format!("50x0/{id}/x.jpg/transform/trim/10,20,100,90"), (50, 45)),
        (format!("0x0/{id}.jpg?transform={trim}"), (50, 290)),
        (format!("0x0/{id}/x.jpg?transform=%7B%7D"), (400, 300)),
    ];
    for (path, size) in cases {
        // Key and view are ignored, even an unknown key.
        let headers = [("x-auth-token", "wrong"), ("x-visibility", "public")];
        let reply = get(&app, &format!("/image/{path}"), &headers).await;
        assert_eq!(reply.status, 200, "{path}");
        assert_eq!(images::size(&reply.bytes), size, "{path}");
        assert_eq!(reply.header("content-type"), Some("image/jpeg"), "{path}");
        if size == (400, 300) {
            assert_eq!(reply.bytes, photo, "{path}");
        }
    }
    let small = format!("/image/0x0/{id}.jpg?format=webp&v=1");
    let reply = get(&app, &small, &[]).await;
    assert_eq!(reply.header("content-type"), Some("image/webp"));
    assert_eq!(reply.header("x-deprecated-query-params"), Some("v"));
}

/// Errors of image URLs.
#[tokio::test]
async fn image_url_errors() {
    let app = TestApp::new();
    let id = upload(&app, "a.png", &media_file("still.png")).await;
    with_variant(&app, &id).await;
    let broken = upload(&app, "b.jpg", &media_file("still.jpg")[..30]).await;
    let unknown = id.replace('1', "2");
    let long = "x".repeat(60_000);
    let missing = [
        "0x0".to_owned(),
        id.clone(),
        format!("{id}."),
        format!("{id}.jpg"),
        format!("{unknown}.png"),
        format!("0x0/{unknown}.png"),
        "0x0/_media-x.png".to_owned(),
        format!("x/{id}.png"),
        format!("10/{id}.png"),
        format!("-1x0/{id}.png"),
        format!("0x0x0/{id}.png"),
        format!("0x0/{id}"),
        format!("0x0/{id}/a.gif"),
        format!("0x0/{id}/a/b.png"),
        format!("0x0/{id}.png/variant/none"),
        format!("0x0/{id}.png/variant"),
        format!("{id}.png/variant/corner"),
        format!("0x0/{id}.png/transform/turn/1,2,3,4"),
        format!("0x0/{id}.png/transform/trim"),
        format!("0x0/{id}.png/transform/trim/1,2,3,4/5"),
        format!("0x0/{id}.png/x"),
        format!("0x0/{id}%2Fa.png"),
        "0x0/../../cms.db".to_owned(),
        "0x0/..%2F..%2Fcms.db".to_owned(),
        "0x0/%2e%2e/%2e%2e/cms.db".to_owned(),
        "..%2Fcms.db".to_owned(),
        "%00.png".to_owned(),
        "0x0/%00/%ff.png".to_owned(),
        format!("0x0/{id}%00.png"),
        format!("0x0/{id}.png%00"),
        format!("{long}.png"),
        "1/".repeat(50),
    ];
    for path in missing {
        let reply = get(&app, &format!("/image/{path}"), &[]).await;
        assert_eq!(reply.status_and_body(), not_found(), "{}", &path[..path.len().min(100)]);
    }
    let not_valid = "This value is not valid.";
    let decoded = "The file is not an image";
    let syntax = "Malformed transform json - Syntax error";
    let refused = [
        (format!("10001x0/{id}.png"), error("size", not_valid)),
        (format!("0x99999999999999999999/{id}.png"), error("size", not_valid)),
        (format!("0x0/{id}.png?transform=x"), error("transform", syntax)),
        (format!("0x0/{id}.png?transform=[]"), error("transform", syntax)),
        (
            format!("0x0/{id}.png?transform=%7B%22turn%22:1%7D"),
            error("transform", "Transformation type turn is not supported"),
        ),
        (format!("0x0/{id}.png?transform=%7B%22trim%22:1%7D"), error("trim", not_valid)),
        (format!("0x0/{id}.png/transform/trim/1,2,3"), error("trim", not_valid)),
        (format!("0x0/{id}.png/transform/trim/0,0,0,5"), error("trim", not_valid)),
        (format!("0x0/{id}.png/transform/trim/9999,0,1,5"), error("trim", not_valid)),
        (format!("0x0/{id}.png?quality=0"), error("quality", not_valid)),
        (format!("10x10/{broken}.jpg"), error("file", decoded)),
    ];
    for (path, wanted) in refused {
        let reply = get(&app, &format!("/image/{path}"), &[]).await;
        assert_eq!(reply.status_and_body(), wanted, "{path}");
        assert_eq!(reply.header("cache-control"), Some("no-store"), "{path}");
    }
    assert_eq!(get(&app, &format!("/image/0x0/{broken}.jpg"), &[]).await.status, 200);
    for method in ["POST", "PUT", "DELETE", "BREW"] {
        let reply = app.send(method, &format!("/image/0x0/{id}.png"), &[], "").await;
        assert_eq!(reply.status_and_body(), (405, generic(405, "Method Not Allowed")), "{method}");
        assert_eq!(reply.header("allow"), Some("GET, HEAD, OPTIONS"));
    }
}

/// All headers except those of every response.
fn own_headers(headers: &HeaderMap) -> Value {
    let everywhere =
        ["access-control-allow-origin", "access-control-expose-headers", "x-request-id"];
    let own = headers.iter().filter(|(name, _)| !everywhere.contains(&name.as_str()));
    own.map(|(name, value)| (name.as_str().to_owned(), json!(value.to_str().unwrap()))).collect()
}

/// The headers of originals and renderings; HEAD has the same ones.
#[tokio::test]
async fn image_has_cache_headers() {
    let app = TestApp::new();
    let png = media_file("still.png");
    let id = upload(&app, "a.png", &png).await;
    let svg = r#"<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>"#;
    let drawing = upload(&app, "a.svg", svg.as_bytes()).await;
    let text = stored(&app, &[file("a.txt", "", b"a text"), field("type", "file")]).await;
    let text = text["id"].as_str().unwrap();
    let original = |media_type: &str, length: usize| {
        json!({
            "content-type": media_type,
            "content-length": length.to_string(),
            "last-modified": MODIFIED,
            "cache-control": "public, max-age=86400",
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
            "accept-ranges": "bytes",
        })
    };
    let sandboxed = |mut headers: Value| {
        headers["content-security-policy"] = json!("sandbox");
        headers
    };
    let cases = [
        (&*id, format!("0x0/{id}.png"), original("image/png", png.len())),
        // SVG and text files are not resized.
        (&drawing, format!("9x9/{drawing}.svg"), sandboxed(original("image/svg+xml", svg.len()))),
        (text, format!("0x0/{text}.txt"), sandboxed(original("text/plain", 6))),
    ];
    for (id, path, mut wanted) in cases {
        let path = format!("/image/{path}");
        wanted["etag"] = json!(tag_of(&app, id, &path).await);
        let reply = app.send("HEAD", &path, &[("accept-encoding", "gzip")], "").await;
        assert_eq!((reply.status, reply.bytes.len()), (200, 0), "{path}");
        assert_eq!(own_headers(&reply.headers), wanted, "{path}");
        // Without a socket the response has no length header.
        wanted.as_object_mut().unwrap().remove("content-length");
        let reply = get(&app, &path, &[("accept-encoding", "gzip")]).await;
        assert_eq!((reply.status, own_headers(&reply.headers)), (200, wanted), "{path}");
    }
    let path = format!("/image/0x0/{id}.png?format=auto");
    for (accept, media_type) in [("image/webp,*/*", "image/webp"), ("*/*", "image/png")] {
        let headers = get(&app, &path, &[("accept", accept)]).await.headers;
        assert_eq!(
            (&headers["content-type"], &headers["vary"]),
            (&media_type.parse().unwrap(), &"accept".parse().unwrap())
        );
    }
    let rendered = get(&app, &format!("/image/5x5/{id}.png"), &[("range", "bytes=0-1")]).await;
    assert_eq!((rendered.status, rendered.header("accept-ranges")), (200, None));
    let tag = tag_of(&app, &id, &format!("/image/0x0/{id}.png")).await;
    assert_ne!(rendered.header("etag"), Some(&*tag));
}

/// A file whose size differs from the upload is never sent: neither complete, nor a range, nor
/// rendered.
#[tokio::test]
async fn file_of_the_wrong_size_is_refused_with_500() {
    let app = TestApp::new();
    let photo = images::photo(400, 300);
    let id = upload(&app, "sea.jpg", &photo).await;
    let text = stored(&app, &[file("a.txt", "", b"a text"), field("type", "file")]).await;
    let text = text["id"].as_str().unwrap().to_owned();
    let rendered = get(&app, &format!("/image/100x0/{id}.jpg"), &[]).await;
    assert_eq!(rendered.status, 200);
    let tag = tag_of(&app, &id, &format!("/image/0x0/{id}.jpg")).await;
    for (id, length) in [(&id, photo.len() / 2), (&text, 3)] {
        let path = app.core.path().join("media").join(id);
        let stored = fs::read(&path).unwrap();
        fs::write(&path, &stored[..length]).unwrap();
    }
    let paths = [
        format!("/image/0x0/{id}.jpg"),
        format!("/image/50x0/{id}.jpg"),
        format!("/image/0x0/{id}.jpg?format=webp"),
        format!("/image/0x0/{text}.txt"),
    ];
    for path in &paths {
        for headers in [&[][..], &[("range", "bytes=0-1")]] {
            let reply = app.send_to_damaged("GET", path, headers, "").await;
            assert_eq!(
                reply.status_and_body(),
                (500, generic(500, "Internal Server Error")),
                "{path}"
            );
            assert_eq!(reply.header("cache-control"), Some("no-store"), "{path}");
        }
        let head = app.send_to_damaged("HEAD", path, &[], "").await;
        assert_eq!((head.status, head.bytes.len()), (500, 0), "{path}");
    }
    assert_eq!(fs::read_dir(app.core.path().join("cache/images").join(&id)).unwrap().count(), 1);
    // Cached responses are still correct.
    let again = get(&app, &format!("/image/100x0/{id}.jpg"), &[]).await;
    assert_eq!((again.status, again.bytes), (200, rendered.bytes));
    let known = get(&app, &paths[0], &[("if-none-match", &tag)]).await;
    assert_eq!((known.status, known.bytes.len()), (304, 0));
}

/// Media types are content: any valid media type is sent, and the browser runs no scripts of the file.
#[tokio::test]
async fn media_type_that_is_not_inert_is_sandboxed() {
    let app = TestApp::new();
    let id = upload(&app, "a.png", &media_file("still.png")).await;
    let cases = [
        ("text/html", "text/html"),
        ("image/png, text/html", "image/png, text/html"),
        ("image/png\r\nx: y", "application/octet-stream"),
        ("größe", "application/octet-stream"),
    ];
    for (media_type, sent) in cases {
        let change = json!({ "mimeType": media_type });
        assert_eq!(app.request("PATCH", &format!("{OBJECTS}/{id}"), &change).await.status, 200);
        let reply = get(&app, &format!("/image/0x0/{id}.png"), &[]).await;
        assert_eq!((reply.status, reply.header("content-type")), (200, Some(sent)));
        assert_eq!(reply.header("content-security-policy"), Some("sandbox"));
    }
}

#[tokio::test]
async fn focal_point_is_validated_and_changes_the_etag_of_cropped_images() {
    let app = TestApp::new();
    let id = upload(&app, "a.png", &media_file("still.png")).await;
    let object = format!("{OBJECTS}/{id}");
    let patch = async |point: &Value| {
        app.request("PATCH", &object, &json!({ "focalPoint": point })).await.status_and_body()
    };
    let many =
        "The property z is not defined and the definition does not allow additional properties";
    for (point, errors) in [
        (
            json!({ "x": 1.5, "y": -1 }),
            json!({
                "focalPoint.x": ["Must have a maximum value of 1"],
                "focalPoint.y": ["Must have a minimum value of 0"],
            }),
        ),
        (json!({ "x": 0 }), json!({ "focalPoint.y": ["The property y is required"] })),
        (
            json!({ "x": "0", "y": 0 }),
            json!({
                "focalPoint.x": ["String value found, but a number is required"],
            }),
        ),
        (json!({ "x": 0, "y": 0, "z": 0 }), json!({ "focalPoint.z": [many] })),
        (json!([0, 0]), json!({ "focalPoint": ["Array value found, but an object is required"] })),
    ] {
        assert_eq!(patch(&point).await, (400, errors), "{point}");
    }

    let sizes = ["0x0", "10x0", "0x10", "10x10"];
    let mut tags = Vec::new();
    for point in [
        json!({ "x": 0.5, "y": 0.5 }),
        json!({ "x": 0.1, "y": 0.5 }),
        json!({ "x": 0.2, "y": 0.5 }),
    ] {
        assert_eq!(patch(&point).await.0, 200);
        let mut row = Vec::new();
        for size in sizes {
            let reply = get(&app, &format!("/image/{size}/{id}.png"), &[]).await;
            assert_eq!(reply.status, 200);
            row.push(reply.header("etag").unwrap().to_owned());
        }
        tags.push(row);
    }
    for size in 0..3 {
        assert_eq!([&tags[1][size], &tags[2][size]], [&tags[0][size]; 2], "{}", sizes[size]);
    }
    assert!(tags[0][3] != tags[1][3] && tags[1][3] != tags[2][3]);
}

#[tokio::test]
async fn cached_image_returns_304() {
    let app = TestApp::new();
    let id = upload(&app, "a.png", &media_file("still.png")).await;
    let path = format!("/image/0x0/{id}.png");
    let tag = tag_of(&app, &id, &path).await;
    let weak = format!("W/{tag}");
    let list = format!("\"a\", {weak}, \"b\"");
    let before = "Fri, 02 Jan 2026 03:04:04 GMT";
    let none_match = "if-none-match";
    let since = "if-modified-since";
    let cases: [(Vec<(&str, &str)>, u16); 13] = [
        (vec![], 200),
        (vec![(none_match, &tag)], 304),
        (vec![(none_match, &weak)], 304),
        (vec![(none_match, &list)], 304),
        (vec![(none_match, "\"a\""), (none_match, &tag)], 304),
        (vec![(none_match, "*")], 304),
        (vec![(none_match, "\"a\"")], 200),
        (vec![(none_match, &id)], 200),
        (vec![(since, MODIFIED)], 304),
        (vec![(since, "Sat, 03 Jan 2026 00:00:00 GMT")], 304),
        (vec![(since, before)], 200),
        (vec![(since, "yesterday")], 200),
        // Tags take precedence over dates.
        (vec![(none_match, "\"a\""), (since, MODIFIED)], 200),
    ];
    for (headers, status) in cases {
        for method in ["GET", "HEAD"] {
            let reply = app.send(method, &path, &headers, "").await;
            assert_eq!(reply.status, status, "{method} {headers:?}");
            if status == 304 {
                assert_eq!(reply.bytes.len(), 0);
                let wanted = json!({
                    "etag": tag,
                    "last-modified": MODIFIED,
                    "cache-control": "public, max-age=86400",
                    "x-content-type-options": "nosniff",
                    "referrer-policy": "no-referrer",
                });
                assert_eq!(own_headers(&reply.headers), wanted);
            }
        }
    }
    // Rendered images have different tags.
    assert_eq!(get(&app, &path.replace("0x0", "5x5"), &[(none_match, &tag)]).await.status, 200);
}

/// Range, condition, status, body, `Content-Range`.
type Case<'a> = (&'a str, Option<&'a str>, u16, &'a [u8], Option<&'a str>);

/// One part of a stored file.
#[tokio::test]
async fn file_range_requests() {
    let app = TestApp::new();
    let text = b"0123456789";
    let object = stored(&app, &[file("a.txt", "", text), field("type", "file")]).await;
    let (id, path) = (object["id"].as_str().unwrap(), object["url"].as_str().unwrap());
    let tag = tag_of(&app, id, path).await;
    let weak = format!("W/{tag}");
    let cases: [Case<'_>; 24] = [
        ("bytes=0-3", None, 206, b"0123", Some("bytes 0-3/10")),
        ("bytes=9-", None, 206, b"9", Some("bytes 9-9/10")),
        ("Bytes = 2-2", None, 206, b"2", Some("bytes 2-2/10")),
        ("bytes=-3", None, 206, b"789", Some("bytes 7-9/10")),
        ("bytes=-99", None, 206, text, Some("bytes 0-9/10")),
        ("bytes=0-", None, 206, text, Some("bytes 0-9/10")),
        ("bytes=5-99999999999999999999999", None, 206, b"56789", Some("bytes 5-9/10")),
        ("bytes=10-", None, 416, b"", Some("bytes */10")),
        ("bytes=99999999999999999999999-", None, 416, b"", Some("bytes */10")),
        ("bytes=12-15", None, 416, b"", Some("bytes */10")),
        ("bytes=-0", None, 416, b"", Some("bytes */10")),
        ("bytes=0-1,4-5", None, 200, text, None),
        ("bytes=3-1", None, 200, text, None),
        ("bytes=a-b", None, 200, text, None),
        ("bytes=+1-2", None, 200, text, None),
        ("bytes=-", None, 200, text, None),
        ("bytes", None, 200, text, None),
        ("lines=0-3", None, 200, text, None),
        ("", None, 200, text, None),
        ("bytes=0-3", Some(&tag), 206, b"0123", Some("bytes 0-3/10")),
        ("bytes=0-3", Some(MODIFIED), 206, b"0123", Some("bytes 0-3/10")),
        ("bytes=0-3", Some(&weak), 200, text, None),
        ("bytes=0-3", Some("\"other\""), 200, text, None),
        ("bytes=20-", Some("Sat, 03 Jan 2026 00:00:00 GMT"), 200, text, None),
    ];
    for (range, condition, status, content, wanted) in cases {
        let mut headers = vec![("range", range)];
        headers.extend(condition.map(|condition| ("if-range", condition)));
        let reply = get(&app, path, &headers).await;
        assert_eq!((reply.status, reply.header("content-range")), (status, wanted), "{headers:?}");
        if status == 416 {
            assert_eq!(reply.json(), generic(416, "Range Not Satisfiable"));
            assert_eq!(reply.header("cache-control"), Some("no-store"));
        } else {
            assert_eq!(&reply.bytes[..], content, "{headers:?}");
            assert_eq!(reply.header("content-type"), Some("text/plain"));
            assert_eq!(app.send("HEAD", path, &headers, "").await.status, 200, "{headers:?}");
        }
    }
    let twice = [("range", "bytes=0-1"), ("range", "bytes=2-3")];
    assert_eq!(get(&app, path, &twice).await.status, 200);
}

/// Files of more than one chunk, complete and in ranges.
#[tokio::test]
async fn large_file_is_streamed() {
    let app = TestApp::new();
    let text: Vec<u8> = (0..700_000_u32).map(|number| b'a' + (number % 23) as u8).collect();
    let object = stored(&app, &[file("a.txt", "", &text), field("type", "file")]).await;
    let path = object["url"].as_str().unwrap();
    let reply = get(&app, path, &[]).await;
    assert_eq!(reply.header("content-length"), Some("700000"));
    assert!(reply.bytes == text);
    for (start, end) in [(1, 262_145), (1, 262_144), (262_144, 699_999), (100_000, 650_000)] {
        let reply = get(&app, path, &[("range", &format!("bytes={start}-{end}"))]).await;
        assert_eq!(reply.status, 206);
        assert!(reply.bytes == text[start..=end], "{start} {end}");
    }
}

/// An object without a file, and the images of a deleted object.
#[tokio::test]
async fn image_is_available_as_long_as_its_file() {
    let app = TestApp::new();
    let png = media_file("still.png");
    let kept = upload(&app, "a.png", &png).await;
    let deleted = upload(&app, "a.png", &png).await;
    let mut copy = app.get(&format!("{OBJECTS}/{kept}")).await.json();
    copy["id"] = json!("_media-00000000-0000-4000-8000-00000000abcd");
    assert_eq!(app.request("POST", OBJECTS, &copy).await.status, 200);
    for size in ["0x0", "5x5"] {
        let path = format!("/image/{size}/{}.png", copy["id"].as_str().unwrap());
        let reply = get(&app, &path, &[]).await;
        assert_eq!(reply.status_and_body(), not_found(), "{size}");
        assert_eq!(reply.header("cache-control"), Some("no-store"));
    }
    let path = |id: &str| format!("/image/5x5/{id}.png");
    for id in [&kept, &deleted] {
        assert_eq!(get(&app, &path(id), &[]).await.status, 200);
    }
    let gone = app.delete(&format!("{OBJECTS}/{deleted}")).await;
    assert_eq!(gone.status, 204);
    assert_eq!(get(&app, &path(&deleted), &[]).await.status_and_body(), not_found());
    let mut stored = files(&app, "media");
    stored.sort();
    assert_eq!(stored, [kept.clone(), deleted.clone()], "the trash keeps the file");
    assert_eq!(files(&app, "cache/images"), vec![kept.clone()]);
    let purge = "/api/v1/internal/contenttype/_media/purge";
    assert_eq!(app.send_as(CallerKind::Admin, "POST", purge, &Value::Null).await.status, 204);
    assert_eq!(get(&app, &path(&kept), &[]).await.status_and_body(), not_found());
    assert_eq!((files(&app, "media").len(), files(&app, "cache/images").len()), (2, 0));
}
