//! Bodies, paths, methods and the order of checks, as tables: complete responses are
//! compared.

use std::convert::Infallible;

use axum::body::Body;
use futures_util::stream;
use serde_json::{Value, json};

use crate::support::{
    CallerKind, Reply, TestApp, forbidden, generic, malformed, not_found, unauthorized,
    wrong_media_type,
};

const POSTS: &str = "/api/v1/content/post";
const ONE: &str = "/api/v1/content/post/one";
const TYPES: &str = "/api/v1/internal/contenttype";

fn required_title() -> (u16, Value) {
    (400, json!({ "title": ["The property title is required"] }))
}

/// A media type is required only for a body that is read.
#[tokio::test]
async fn body_without_json_media_type_returns_415() {
    let app = TestApp::new();
    let key = ("x-auth-token", app.key(CallerKind::ReadWrite).unwrap());
    let body = r#"{"title":"A"}"#;
    let statuses = [
        (Some("application/json"), 200),
        (Some("APPLICATION/JSON ; charset=UTF-8"), 200),
        (Some("text/plain"), 415),
        (Some("application/jsonx"), 415),
        (Some("application/x-www-form-urlencoded"), 415),
        (Some(""), 415),
        (None, 415),
    ];
    for (value, status) in statuses {
        let mut headers = vec![key];
        headers.extend(value.map(|v| ("content-type", v)));
        for (method, path) in [("POST", POSTS), ("PUT", ONE), ("PATCH", ONE)] {
            let reply = app.send(method, path, &headers, body).await;
            assert_eq!(reply.status, status, "{method} {value:?}");
            if status == 415 {
                assert_eq!(reply.status_and_body(), wrong_media_type());
            }
        }
        // Requests without a body, and endpoints that read none, need no media type.
        assert_eq!(app.send("POST", POSTS, &headers, "").await.status_and_body(), malformed());
        // The length of a streamed body is unknown: a proxy may send an empty one.
        let streamed = |chunks: Vec<&'static str>| {
            Body::from_stream(stream::iter(chunks.into_iter().map(Ok::<_, Infallible>)))
        };
        let empty = app.send("POST", POSTS, &headers, streamed(Vec::new())).await;
        assert_eq!(empty.status_and_body(), malformed());
        assert_eq!(app.send("POST", POSTS, &headers, streamed(vec![body])).await.status, status);
        assert_eq!(app.send("GET", ONE, &headers, body).await.status, 200);
        let gone = "/api/v1/content/post/gone";
        assert_eq!(app.send("DELETE", gone, &headers, body).await.status_and_body(), not_found());
    }
}

/// Malformed JSON, and JSON of another type than the endpoint requires.
#[tokio::test]
async fn body_of_the_wrong_kind_returns_400() {
    let app = TestApp::new();
    let key = app.key(CallerKind::Admin).unwrap();
    let headers = [("x-auth-token", key), ("content-type", "application/json")];
    let takes_object = [
        ("POST", POSTS),
        ("PUT", ONE),
        ("PATCH", ONE),
        ("POST", "/api/v1/content/post/one/duplicate"),
        ("POST", TYPES),
        ("PUT", "/api/v1/internal/contenttype/post"),
        ("POST", "/api/v1/internal/contenttype/post/purge"),
        ("POST", "/api/v1/internal/contenttype/plan"),
        ("POST", "/api/v1/internal/contenttype/apply"),
        ("POST", "/api/v1/internal/key"),
    ];
    let takes_array = [
        ("POST", "/api/v1/content/post/batch"),
        ("PATCH", "/api/v1/content/post/batch"),
        ("POST", "/api/v1/content/post/batch-delete"),
    ];
    let neither =
        ["{", "nope", "\"text\"", "1", "null", "true", "{}{}", "[1,]", "\u{feff}{}", "\0"];
    for (method, path) in takes_object.into_iter().chain(takes_array) {
        for body in neither {
            let reply = app.send(method, path, &headers, body).await;
            assert_eq!(reply.status_and_body(), malformed(), "{method} {path} {body}");
        }
    }
    for (method, path) in takes_object {
        assert_eq!(
            app.send(method, path, &headers, "[]").await.status_and_body(),
            malformed(),
            "{path}"
        );
    }
    for (method, path) in takes_array {
        assert_eq!(
            app.send(method, path, &headers, "{}").await.status_and_body(),
            malformed(),
            "{path}"
        );
    }
    let mixed = app.send("POST", "/api/v1/content/post/batch-delete", &headers, "[1]").await;
    assert_eq!(mixed.status_and_body(), malformed());
}

/// An unknown path is reported before the key is checked, an unknown method after it.
#[tokio::test]
async fn unknown_path_returns_404_and_method_405() {
    let app = TestApp::new();
    let unknown = [
        "//",
        "/api",
        "/api/v1/content",
        "/api/v2/content/post",
        "/api/v1/content/post/one/rebuild_public_view",
        "/api/v1/searches",
        "/api/v1/workflow/post",
        "/api/graphql/nothing",
        "/api/v2/media",
        "/image",
        "/images/0x0/a.png",
        "/api/v1/internal/jobs",
    ];
    for path in unknown {
        for caller in
            [CallerKind::Anonymous, CallerKind::Unknown, CallerKind::ReadOnly, CallerKind::Admin]
        {
            for method in ["GET", "POST", "PATCH"] {
                let reply = app.send_as(caller, method, path, &Value::Null).await;
                assert_eq!(reply.status_and_body(), not_found(), "{caller:?} {method} {path}");
            }
        }
    }
    let known = [
        ("PATCH", TYPES, "GET, HEAD, POST, OPTIONS"),
        ("PATCH", "/api/v1/internal/contenttype/post", "GET, HEAD, PUT, DELETE, OPTIONS"),
        ("DELETE", POSTS, "GET, HEAD, POST, OPTIONS"),
        ("POST", ONE, "GET, HEAD, PUT, PATCH, DELETE, OPTIONS"),
        ("POST", "/api/auth-context", "GET, HEAD, OPTIONS"),
        ("GET", "/api/v1/content/post/one/duplicate", "POST, OPTIONS"),
        ("GET", "/api/v1/content/post/one/publish", "POST, OPTIONS"),
        ("POST", "/api/v1/content/post/one/schedule", "PUT, DELETE, OPTIONS"),
        ("POST", "/api/v1/workflow", "GET, HEAD, OPTIONS"),
        ("POST", "/api/v1/workflow/post/one", "GET, HEAD, PUT, OPTIONS"),
        ("GET", "/api/media", "POST, OPTIONS"),
        ("PATCH", "/api/v1/media", "POST, OPTIONS"),
        ("BREW", ONE, "GET, HEAD, PUT, PATCH, DELETE, OPTIONS"),
    ];
    for (method, path, allow) in known {
        let reply = app.send_as(CallerKind::ReadOnly, method, path, &Value::Null).await;
        assert_eq!(
            reply.status_and_body(),
            (405, generic(405, "Method Not Allowed")),
            "{method} {path}"
        );
        assert_eq!(reply.header("allow"), Some(allow), "{method} {path}");
        for caller in [CallerKind::Anonymous, CallerKind::Unknown] {
            assert_eq!(
                app.send_as(caller, method, path, &Value::Null).await.status_and_body(),
                unauthorized()
            );
        }
    }
    assert_eq!(
        app.send_as(CallerKind::Anonymous, "POST", "/healthz", &Value::Null).await.status,
        405
    );
}

/// A trailing slash, percent-encoding, `Accept`, letter case of ids.
#[tokio::test]
async fn path_has_several_equivalent_forms() {
    let app = TestApp::new();
    let object = app.get(ONE).await.json();
    for path in
        ["/api/v1/content/post/one/", "/api/v1/content/post/%6fne", "/api/v1/%63ontent/post/ONE"]
    {
        assert_eq!(app.get(path).await.status_and_body(), (200, object.clone()), "{path}");
    }
    let key = app.key(CallerKind::ReadOnly).unwrap();
    let reply = app.send("GET", ONE, &[("X-Auth-Token", key), ("accept", "schema")], "").await;
    assert_eq!(reply.status_and_body(), (200, object));

    let id = "a b-_.,:=!?#$%&(`’{}\"";
    app.request("POST", POSTS, &json!({ "id": id, "title": "Odd" })).await.json();
    let encoded = "a%20b-_.%2C%3A%3D%21%3F%23%24%25%26%28%60%E2%80%99%7B%7D%22";
    let reply = app.get(&format!("{POSTS}/{encoded}")).await;
    assert_eq!((reply.status, &reply.json()["id"]), (200, &json!(id)));
    assert_eq!(app.get("/api/v1/content/post/%FF").await.status_and_body(), not_found());
}

/// HEAD has the length of the body of GET without the body.
#[tokio::test]
async fn head_returns_the_headers_of_get() {
    let app = TestApp::new();
    for (path, status) in [(ONE, 200), (POSTS, 200), ("/healthz", 200), ("/nowhere", 404)] {
        let length = app.get(path).await.bytes.len().to_string();
        let reply = app.request("HEAD", path, &Value::Null).await;
        assert_eq!((reply.status, reply.bytes.len()), (status, 0), "{path}");
        assert_eq!(reply.header("content-length"), Some(&*length), "{path}");
        assert_eq!(reply.header("content-type"), Some("application/json"), "{path}");
    }
}

/// Of several errors, the response has the first one in the order of checks.
#[tokio::test]
async fn checks_run_in_order() {
    let app = TestApp::new();
    let large = format!(r#"{{"title":"{}"}}"#, "x".repeat(1_100_000));
    let too_large = |id: &str| {
        let message = format!(
            "Content Object size limit exceeded by an object with ID: {id}. Requested size 1.05 MB, limit: 1 MB)"
        );
        (413, generic(413, &message))
    };
    let type_not_found = "/api/v1/content/no_such_type";
    let cases = [
        // caller, method, path, content type, body, response
        (CallerKind::Anonymous, "BREW", type_not_found, "text/plain", "{", unauthorized()),
        (
            CallerKind::ReadOnly,
            "BREW",
            type_not_found,
            "text/plain",
            "{",
            (405, generic(405, "Method Not Allowed")),
        ),
        (CallerKind::ReadOnly, "POST", type_not_found, "text/plain", "{", forbidden()),
        (CallerKind::Stranger, "POST", type_not_found, "text/plain", "{", not_found()),
        (CallerKind::Stranger, "POST", POSTS, "text/plain", "{", forbidden()),
        (CallerKind::Scoped, "POST", POSTS, "text/plain", "{", wrong_media_type()),
        (CallerKind::Scoped, "POST", POSTS, "application/json", "{", malformed()),
        (
            CallerKind::Scoped,
            "PUT",
            "/api/v1/content/post/gone",
            "application/json",
            "{",
            malformed(),
        ),
        (
            CallerKind::Scoped,
            "PUT",
            "/api/v1/content/post/gone",
            "application/json",
            "{}",
            not_found(),
        ),
        (CallerKind::Scoped, "PUT", ONE, "application/json", "{}", required_title()),
        (CallerKind::Scoped, "PUT", ONE, "application/json", large.as_str(), too_large("one")),
        (CallerKind::ReadOnly, "POST", TYPES, "text/plain", "{", forbidden()),
        (
            CallerKind::Scoped,
            "PUT",
            "/api/v1/internal/contenttype/no_such",
            "text/plain",
            "{",
            not_found(),
        ),
        (
            CallerKind::Scoped,
            "PUT",
            "/api/v1/internal/contenttype/post",
            "text/plain",
            "{",
            forbidden(),
        ),
        (
            CallerKind::ReadWrite,
            "PUT",
            "/api/v1/internal/contenttype/no_such",
            "text/plain",
            "{",
            not_found(),
        ),
        (
            CallerKind::ReadWrite,
            "PUT",
            "/api/v1/internal/contenttype/post",
            "text/plain",
            "{",
            wrong_media_type(),
        ),
        (
            CallerKind::ReadWrite,
            "PUT",
            "/api/v1/internal/contenttype/_media",
            "application/json",
            "{}",
            forbidden(),
        ),
    ];
    for (caller, method, path, content_type, body, wanted) in cases {
        let mut headers = vec![("content-type", content_type)];
        headers.extend(app.key(caller).map(|key| ("x-auth-token", key)));
        let reply = app.send(method, path, &headers, body.to_owned()).await;
        assert_eq!(reply.status_and_body(), wanted, "{caller:?} {method} {path}");
    }
}

/// The size limit of a body is a setting of the server.
#[tokio::test]
async fn body_over_the_limit_returns_413() {
    let config = cms_server::ServerConfig { body_limit: 1000, ..Default::default() };
    let app = TestApp::with(&config);
    let key = app.key(CallerKind::ReadWrite).unwrap();
    let headers = [("x-auth-token", key), ("content-type", "application/json")];
    let body = |length: usize| format!(r#"{{"title":"{}"}}"#, "x".repeat(length - 12));
    assert_eq!(app.send("POST", POSTS, &headers, body(1000)).await.status, 200);
    let refused = (413, generic(413, "Request Entity Too Large"));
    assert_eq!(app.send("POST", POSTS, &headers, body(1001)).await.status_and_body(), refused);

    // A chunked body has no declared length.
    for (length, status) in [(1000, 200), (1001, 413)] {
        let text = body(length);
        let chunks = text.as_bytes().chunks(100).map(<[u8]>::to_vec).collect::<Vec<_>>();
        let reply = app.send("POST", POSTS, &headers, Body::new(Chunks(chunks.into()))).await;
        assert_eq!(reply.status, status);
        if status == 413 {
            assert_eq!(reply.status_and_body(), refused);
        }
    }
}

/// A chunked body of unknown length.
struct Chunks(std::collections::VecDeque<Vec<u8>>);

impl hyper::body::Body for Chunks {
    type Data = axum::body::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<hyper::body::Frame<Self::Data>, Self::Error>>> {
        std::task::Poll::Ready(self.0.pop_front().map(|c| Ok(hyper::body::Frame::data(c.into()))))
    }
}

/// Errors as a list of reasons, and responses without a body.
#[tokio::test]
async fn response_without_a_body_or_with_a_list_of_errors() {
    let app = TestApp::new();
    let empty = |reply: Reply, status| {
        assert_eq!((reply.status, reply.bytes.len()), (status, 0));
        assert_eq!(reply.header("content-type"), None);
    };
    let in_use = app.delete("/api/v1/internal/contenttype/post").await;
    let reasons = json!({ "errors": [
        "This content type definition is used by Api Key: scoped",
        "Content Type has objects, you can't remove it!",
    ] });
    assert_eq!(in_use.status_and_body(), (400, reasons));
    empty(app.delete(ONE).await, 204);
    assert_eq!(app.delete(ONE).await.status_and_body(), not_found());
    let author = "/api/v1/internal/contenttype/author";
    empty(app.request("POST", &format!("{author}/purge"), &Value::Null).await, 204);
    empty(app.delete(author).await, 200);
    let flag = json!({ "deleteSchema": "yes" });
    let purge = app.request("POST", "/api/v1/internal/contenttype/post/purge", &flag).await;
    let message = json!({ "deleteSchema": ["String value found, but a boolean is required"] });
    assert_eq!(purge.status_and_body(), (400, message));
}

#[tokio::test]
async fn unknown_resource_is_not_found_before_its_body_is_validated() {
    let app = TestApp::new();
    for (method, path, body) in [
        ("PUT", "/api/v1/internal/key/none", json!({ "name": 5 })),
        ("POST", "/api/v1/internal/key/none/rotate", json!({ "graceHours": 999 })),
        ("POST", "/api/v1/internal/webhook/none/replay", json!({ "ids": 5 })),
        ("POST", "/api/v1/trash/999/restore", json!({ "id": 5 })),
    ] {
        let reply = app.send_as(CallerKind::Admin, method, path, &body).await;
        assert_eq!(reply.status_and_body(), not_found(), "{method} {path}");
    }
}
