//! Headers of requests and responses: views, browsers, request ids, compression.

use serde_json::json;

use crate::support::{CallerKind, TestApp, definition};

const POSTS: &str = "/api/v1/content/post";
const ONE: &str = "/api/v1/content/post/one";
const TYPES: &str = "/api/v1/internal/contenttype";

/// Browsers send a preflight request without a key, and read every response.
#[tokio::test]
async fn cors_headers_allow_browsers() {
    let app = TestApp::new();
    let exposed = Some("x-deprecated-query-params, x-deprecated-payload, ETag");
    for path in [ONE, POSTS, "/nowhere", "/healthz"] {
        let headers = [("origin", "https://a.example"), ("access-control-request-method", "PATCH")];
        let reply = app.send("OPTIONS", path, &headers, "").await;
        assert_eq!((reply.status, reply.bytes.len()), (204, 0), "{path}");
        let allowed = [
            reply.header("access-control-allow-methods").unwrap(),
            reply.header("access-control-allow-headers").unwrap(),
        ];
        let wanted = [
            "GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS",
            "X-AUTH-TOKEN, X-MODE, X-VISIBILITY, Content-Type, Accept, If-Match, If-None-Match, \
             Idempotency-Key, Last-Event-ID",
        ];
        assert_eq!(allowed, wanted, "{path}");
    }
    for caller in CallerKind::ALL {
        // `send` checks Access-Control-Allow-Origin of every response.
        let reply = app.get_as(caller, ONE).await;
        assert_eq!(reply.header("access-control-expose-headers"), exposed);
    }
}

/// Header values are compared without case; other values are ignored.
#[tokio::test]
async fn view_is_selected_by_headers() {
    let app = TestApp::new();
    let mut payload = definition("page");
    payload.insert("draftPublic".to_owned(), json!(true));
    app.request("POST", TYPES, &json!(payload)).await.json();
    let draft = json!({ "id": "d", "title": "Draft" });
    app.request("POST", "/api/v1/content/page", &draft).await.json();
    let key = ("x-auth-token", app.key(CallerKind::ReadOnly).unwrap());
    // header, objects in the list, status of the single object
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
    // A proxy may add a second header of the same name.
    let twice = [key, ("x-visibility", "none"), ("x-visibility", "public")];
    assert_eq!(app.send("GET", "/api/v1/content/page/d", &twice, "").await.status, 404);
}

/// An error before the body is read has the list of ignored parameters too.
#[tokio::test]
async fn error_lists_ignored_parameters() {
    let app = TestApp::new();
    let batch = |name: &str| format!("/api/v1/content/{name}/batch-publish?hydrate=1");
    let (writer, reader) =
        (app.key(CallerKind::ReadWrite).unwrap(), app.key(CallerKind::ReadOnly).unwrap());
    let cases = [(writer, "nosuch", 404), (reader, "post", 403), (writer, "post", 415)];
    for (key, name, status) in cases {
        let reply = app.send("POST", &batch(name), &[("x-auth-token", key)], "[]").await;
        assert_eq!(reply.status, status, "{name}");
        assert_eq!(reply.header("x-deprecated-query-params"), Some("hydrate"), "{status}");
    }
}

/// A request keeps its own id if that is harmless, and otherwise gets a new one.
#[tokio::test]
async fn response_has_a_request_id() {
    let app = TestApp::new();
    let long = "x".repeat(65);
    for (sent, kept) in
        [("abc-1_2.3", true), ("a b", false), ("", false), ("é", false), (&*long, false)]
    {
        let reply = app.send("GET", "/healthz", &[("x-request-id", sent)], "").await;
        assert_eq!(reply.header("x-request-id") == Some(sent), kept, "{sent}");
    }
    let first = app.get("/healthz").await;
    assert_ne!(first.header("x-request-id"), app.get("/healthz").await.header("x-request-id"));
}

/// Large responses are compressed for clients that accept it, small ones never.
#[tokio::test]
async fn response_is_compressed() {
    let app = TestApp::new();
    let text = "lorem ipsum ".repeat(500);
    let body = json!({ "id": "long", "title": text });
    app.request("POST", POSTS, &body).await.json();
    let key = ("x-auth-token", app.key(CallerKind::ReadOnly).unwrap());
    let cases =
        [("gzip", Some("gzip")), ("gzip, br", Some("br")), ("identity", None), ("zstd", None)];
    for (accepted, coding) in cases {
        let headers = [key, ("accept-encoding", accepted)];
        let reply = app.send("GET", "/api/v1/content/post/long", &headers, "").await;
        assert_eq!(reply.header("content-encoding"), coding, "{accepted}");
        assert_eq!(
            reply.header("vary"),
            Some("x-auth-token, cookie, x-mode, x-visibility, accept-encoding")
        );
        assert_eq!(reply.header("content-type"), Some("application/json"));
        assert_eq!(reply.bytes.len() < 2000, coding.is_some(), "{accepted}");
        let small = app.send("GET", ONE, &headers, "").await;
        assert_eq!(small.header("content-encoding"), None);
    }
}

/// Otherwise a browser would use a response that it cached for a signed-in user without the session.
#[tokio::test]
async fn responses_for_a_caller_vary_by_key_and_cookie() {
    let app = TestApp::new();
    let key = ("x-auth-token", app.key(CallerKind::ReadOnly).unwrap());
    for path in [ONE, "/api/v1/session", "/api/v1/internal/user", "/api/unknown", "/metrics"] {
        for headers in [&[][..], &[key], &[("cookie", "cms_session=x")]] {
            let reply = app.send("GET", path, headers, "").await;
            assert_eq!(
                reply.header("vary"),
                Some("x-auth-token, cookie, x-mode, x-visibility"),
                "{path} {headers:?}"
            );
        }
    }
    assert_eq!(app.get("/healthz").await.header("vary"), None);
}
