//! `ETags`, conditional and idempotent requests over HTTP.

use serde_json::{Value, json};

use crate::support::{Response, Role, TestApp, error_body, links, not_found};

const POSTS: &str = "/api/v1/content/post";
const ONE: &str = "/api/v1/content/post/one";

async fn get(app: &TestApp, path: &str, headers: &[(&str, &str)]) -> Response {
    app.request_with(headers, Role::ReadWrite, "GET", path, &Value::Null).await
}

fn tag(response: &Response) -> String {
    response.header("etag").unwrap().to_owned()
}

/// Unchanged responses are not sent again; changed ones are, with every compression.
#[tokio::test]
async fn unchanged_response_is_not_sent_again() {
    let app = TestApp::new();
    app.create_type("page", &json!({}));
    let long = json!({ "id": "two", "title": "x".repeat(2000), "related": links(&["post/one"]) });
    app.create("page", &long).await;
    let two = "/api/v1/content/page/two";
    let paths = [
        two.to_owned(),
        format!("{two}?hydrate=1"),
        format!("{two}?hydrate=2"),
        "/api/v1/content/page".to_owned(),
        "/api/v1/content/page?hydrate=1&limit=5".to_owned(),
        format!("{two}/version"),
        format!("{two}/version/1"),
    ];
    for path in &paths {
        let mut tags = Vec::new();
        for coding in ["identity", "gzip", "br"] {
            let accepting = ("accept-encoding", coding);
            let first = get(&app, path, &[accepting]).await;
            let etag = tag(&first);
            assert_eq!(first.header("cache-control"), Some("private, no-cache"));
            for header in
                [etag.clone(), format!("\"other\", {etag}"), format!("W/{etag}"), "*".into()]
            {
                for method in ["GET", "HEAD"] {
                    let headers = [accepting, ("if-none-match", header.as_str())];
                    let known = app
                        .request_with(&headers, Role::ReadWrite, method, path, &Value::Null)
                        .await;
                    assert_eq!((known.status, known.bytes.len()), (304, 0), "{path} {header}");
                    assert_eq!(known.header("etag"), Some(etag.as_str()));
                    assert_eq!(known.header("vary"), Some("accept-encoding"));
                    assert_eq!(known.header("content-type"), None);
                }
            }
            tags.push(etag);
        }
        // Other bytes have another ETag.
        assert!(tags[0] != tags[1] && tags[1] != tags[2] && tags[0] != tags[2], "{tags:?}");
    }
    let before: Vec<String> = get_tags(&app, &paths).await;
    // A change that only the hydrated response contains.
    app.request("PATCH", ONE, &json!({ "price": 1 })).await;
    let after = get_tags(&app, &paths).await;
    let changed: Vec<bool> = before.iter().zip(&after).map(|(a, b)| a != b).collect();
    assert_eq!(changed, [false, true, true, false, true, false, false]);
    app.request("PATCH", two, &json!({ "price": 1 })).await;
    let last = get_tags(&app, &paths).await;
    let changed: Vec<bool> = after.iter().zip(&last).map(|(a, b)| a != b).collect();
    assert_eq!(changed, [true, true, true, true, true, true, false]);
}

async fn get_tags(app: &TestApp, paths: &[String]) -> Vec<String> {
    let mut tags = Vec::new();
    for path in paths {
        tags.push(tag(&get(app, path, &[]).await));
    }
    tags
}

/// The `ETags` of plain, hydrated and compressed reads and of writes are valid conditions.
#[tokio::test]
async fn etag_of_any_response_is_a_valid_condition() {
    let app = TestApp::new();
    let patch = async |etag: &str, price: u32| {
        let headers = [("if-match", etag)];
        app.request_with(&headers, Role::ReadWrite, "PATCH", ONE, &json!({ "price": price })).await
    };
    let failed = (412, error_body(412, "Precondition Failed"));
    let mut etag = tag(&get(&app, ONE, &[]).await);
    for price in 0..3 {
        let stale = etag.clone();
        let response = patch(&etag, price).await;
        assert_eq!(response.status, 200);
        etag = tag(&response);
        assert_eq!(etag, tag(&get(&app, ONE, &[]).await));
        assert_eq!(patch(&stale, 9).await.parts(), failed);
    }
    assert_eq!(
        patch(&tag(&get(&app, &format!("{ONE}?hydrate=1"), &[]).await), 5).await.status,
        200
    );
    app.request("PATCH", ONE, &json!({ "title": "x".repeat(2000) })).await;
    let packed = tag(&get(&app, ONE, &[("accept-encoding", "gzip")]).await);
    assert!(packed.ends_with("-gzip\""), "{packed}");
    assert_eq!(patch(&packed, 6).await.status, 200);
    assert_eq!(patch("*", 7).await.status, 200);
    for never in ["", "\"x\"", "x", "W/\"0000000000000000\""] {
        assert_eq!(patch(never, 8).await.parts(), failed, "{never}");
    }
    // Earlier checks, and requests that are not about one object.
    let stale = [("if-match", "\"x\"")];
    let send = async |method: &str, path: &str, body: Value| {
        app.request_with(&stale, Role::ReadWrite, method, path, &body).await
    };
    let gone = format!("{POSTS}/gone");
    assert_eq!(send("DELETE", &gone, Value::Null).await.parts(), not_found());
    assert_eq!(send("DELETE", ONE, Value::Null).await.parts(), failed);
    assert_eq!(send("POST", &format!("{ONE}/publish"), Value::Null).await.parts(), failed);
    assert_eq!(send("PATCH", ONE, json!([])).await.status, 400);
    assert_eq!(send("POST", POSTS, json!({ "title": "A" })).await.status, 200);
    assert_eq!(send("GET", ONE, Value::Null).await.status, 200);
    let fresh = [("if-match", "*")];
    let deleted = app.request_with(&fresh, Role::ReadWrite, "DELETE", ONE, &Value::Null).await;
    assert_eq!(deleted.status, 204);
}

/// The same request with the same idempotency key is executed once; any other one is refused.
#[tokio::test]
async fn repeated_requests_have_one_effect() {
    let app = TestApp::new();
    let post = async |role: Role, key: &str, path: &str, body: &Value| {
        app.request_with(&[("idempotency-key", key)], role, "POST", path, body).await
    };
    let new = json!({ "title": "New" });
    let first = post(Role::ReadWrite, "k-1", POSTS, &new).await;
    let again = post(Role::ReadWrite, "\"k-1\"", POSTS, &new).await;
    assert_eq!(first.status, 200);
    assert_eq!((first.parts(), tag(&first)), (again.parts(), tag(&again)));
    let reused = (422, error_body(422, "Idempotency-Key is already used"));
    assert_eq!(post(Role::ReadWrite, "k-1", POSTS, &json!({ "title": "B" })).await.parts(), reused);
    let batch = format!("{POSTS}/batch");
    assert_eq!(post(Role::ReadWrite, "k-1", &batch, &json!([new])).await.parts(), reused);
    // Rights are checked first, and each caller has separate idempotency keys.
    assert_eq!(post(Role::Unrelated, "k-1", POSTS, &new).await.status, 403);
    assert_ne!(post(Role::Scoped, "k-1", POSTS, &new).await.json()["id"], first.json()["id"]);
    for update in ["true", "false"] {
        // The query is part of the request.
        let status =
            post(Role::Admin, "k-2", &format!("{batch}?updateExisting={update}"), &json!([new]))
                .await
                .status;
        assert_eq!(status, if update == "true" { 200 } else { 422 });
    }
    let invalid = (400, error_body(400, "Invalid Idempotency-Key"));
    for wrong in ["", "\"\"", &"x".repeat(256)] {
        assert_eq!(post(Role::ReadWrite, wrong, POSTS, &new).await.parts(), invalid, "{wrong}");
    }
    let list = get(&app, POSTS, &[]).await.json();
    // The initial one, the first, that of the scoped key, and that of the batch.
    assert_eq!(list["total_count"], 4);
}
