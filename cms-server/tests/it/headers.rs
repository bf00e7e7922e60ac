//! Headers of requests and responses: views (docs/reference/publishing.md#visibility-headers), browsers
//! (docs/reference/http.md#browsers), request ids, compression.

use serde_json::{Value, json};

use crate::support::{Role, TestApp, definition};

const POSTS: &str = "/api/v1/content/post";
const ONE: &str = "/api/v1/content/post/one";
const TYPES: &str = "/api/v1/internal/contenttype";

/// Browsers send preflight requests without a key, and may read every response.
#[tokio::test]
async fn browsers_may_send_requests() {
    let app = TestApp::new();
    let exposed = Some("x-deprecated-query-params, x-deprecated-payload, ETag");
    for path in [ONE, POSTS, "/nowhere", "/healthz"] {
        let headers = [("origin", "https://a.example"), ("access-control-request-method", "PATCH")];
        let response = app.send("OPTIONS", path, &headers, "").await;
        assert_eq!((response.status, response.bytes.len()), (204, 0), "{path}");
        let allowed = [
            response.header("access-control-allow-methods").unwrap(),
            response.header("access-control-allow-headers").unwrap(),
        ];
        let expected = [
            "GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS",
            "X-AUTH-TOKEN, X-MODE, X-VISIBILITY, Content-Type, Accept, If-Match, If-None-Match, \
             Idempotency-Key, Last-Event-ID",
        ];
        assert_eq!(allowed, expected, "{path}");
    }
    for role in Role::ALL {
        // `send` checks Access-Control-Allow-Origin of every response.
        let response = app.request_as(role, "GET", ONE, &Value::Null).await;
        assert_eq!(response.header("access-control-expose-headers"), exposed);
    }
}

/// Header values are case-insensitive; unknown ones are ignored.
#[tokio::test]
async fn views_are_selected_by_headers() {
    let app = TestApp::new();
    let mut payload = definition("page");
    payload.insert("draftPublic".to_owned(), json!(true));
    app.request("POST", TYPES, &json!(payload)).await.json();
    let draft = json!({ "id": "d", "title": "Draft" });
    app.request("POST", "/api/v1/content/page", &draft).await.json();
    let key = ("x-auth-token", app.key(Role::ReadOnly).unwrap());
    // header -> objects in the list, status of the single one
    let cases = [
        (None, 0, 200),
        (Some(("X-MODE", "preview")), 1, 200),
        (Some(("x-mode", "PREVIEW")), 1, 200),
        (Some(("x-mode", "other")), 0, 200),
        (Some(("X-Visibility", "Public")), 0, 404),
        (Some(("x-visibility", "all")), 0, 200),
    ];
    for (header, count, status) in cases {
        let headers: Vec<_> = [key].into_iter().chain(header).collect();
        let list = app.send("GET", "/api/v1/content/page", &headers, "").await.json();
        let single = app.send("GET", "/api/v1/content/page/d", &headers, "").await.status;
        assert_eq!((&list["count"], single), (&json!(count), status), "{header:?}");
    }
    // A second header, added by a proxy, does not disable the first one.
    let twice = [key, ("x-visibility", "none"), ("x-visibility", "public")];
    assert_eq!(app.send("GET", "/api/v1/content/page/d", &twice, "").await.status, 404);
}

/// Refusals before the body is read name ignored parameters, too.
#[tokio::test]
async fn refusals_name_ignored_parameters() {
    let app = TestApp::new();
    let batch = |name: &str| format!("/api/v1/content/{name}/batch-publish?hydrate=1");
    let (writer, reader) = (app.key(Role::ReadWrite).unwrap(), app.key(Role::ReadOnly).unwrap());
    let cases = [(writer, "nosuch", 404), (reader, "post", 403), (writer, "post", 415)];
    for (key, name, status) in cases {
        let response = app.send("POST", &batch(name), &[("x-auth-token", key)], "[]").await;
        assert_eq!(response.status, status, "{name}");
        assert_eq!(response.header("x-deprecated-query-params"), Some("hydrate"), "{status}");
    }
}

/// The request id is that of the client if it is harmless, else a new one.
#[tokio::test]
async fn responses_have_a_request_id() {
    let app = TestApp::new();
    let long = "x".repeat(65);
    for (sent, kept) in
        [("abc-1_2.3", true), ("a b", false), ("", false), ("é", false), (&*long, false)]
    {
        let response = app.send("GET", "/healthz", &[("x-request-id", sent)], "").await;
        assert_eq!(response.header("x-request-id") == Some(sent), kept, "{sent}");
    }
    let first = app.get("/healthz").await;
    assert_ne!(first.header("x-request-id"), app.get("/healthz").await.header("x-request-id"));
}

/// Large responses are compressed if the client accepts it, small ones never.
#[tokio::test]
async fn responses_are_compressed() {
    let app = TestApp::new();
    let text = "lorem ipsum ".repeat(500);
    let body = json!({ "id": "long", "title": text });
    app.request("POST", POSTS, &body).await.json();
    let key = ("x-auth-token", app.key(Role::ReadOnly).unwrap());
    let cases =
        [("gzip", Some("gzip")), ("gzip, br", Some("br")), ("identity", None), ("zstd", None)];
    for (accepted, coding) in cases {
        let headers = [key, ("accept-encoding", accepted)];
        let response = app.send("GET", "/api/v1/content/post/long", &headers, "").await;
        assert_eq!(response.header("content-encoding"), coding, "{accepted}");
        assert_eq!(response.header("vary"), Some("accept-encoding"));
        assert_eq!(response.header("content-type"), Some("application/json"));
        assert_eq!(response.bytes.len() < 2000, coding.is_some(), "{accepted}");
        let small = app.send("GET", ONE, &headers, "").await;
        assert_eq!(small.header("content-encoding"), None);
    }
}
