//! Tags, conditions and repeated requests over HTTP.

use serde_json::{Value, json};

use crate::support::{Reply, TestApp, Who, generic, links, not_found};

const POSTS: &str = "/api/v1/content/post";
const ONE: &str = "/api/v1/content/post/one";

async fn get(app: &TestApp, path: &str, headers: &[(&str, &str)]) -> Reply {
    app.ask_with(headers, Who::ReadWrite, "GET", path, &Value::Null).await
}

fn tag(reply: &Reply) -> String {
    reply.header("etag").unwrap().to_owned()
}

/// What a client has is not sent again; what changed is, in every form of the answer.
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
                    let known =
                        app.ask_with(&headers, Who::ReadWrite, method, path, &Value::Null).await;
                    assert_eq!((known.status, known.bytes.len()), (304, 0), "{path} {header}");
                    assert_eq!(known.header("etag"), Some(etag.as_str()));
                    assert_eq!(known.header("vary"), Some("accept-encoding"));
                    assert_eq!(known.header("content-type"), None);
                }
            }
            tags.push(etag);
        }
        // Other bytes have another tag.
        assert!(tags[0] != tags[1] && tags[1] != tags[2] && tags[0] != tags[2], "{tags:?}");
    }
    let before: Vec<String> = get_tags(&app, &paths).await;
    // What only hydration shows.
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

/// The tag of a read, of a hydrated read, of a compressed one and of a write all name the state.
#[tokio::test]
async fn etag_of_any_response_is_a_valid_condition() {
    let app = TestApp::new();
    let patch = async |etag: &str, price: u32| {
        let headers = [("if-match", etag)];
        app.ask_with(&headers, Who::ReadWrite, "PATCH", ONE, &json!({ "price": price })).await
    };
    let failed = (412, generic(412, "Precondition Failed"));
    let mut etag = tag(&get(&app, ONE, &[]).await);
    for price in 0..3 {
        let stale = etag.clone();
        let reply = patch(&etag, price).await;
        assert_eq!(reply.status, 200);
        etag = tag(&reply);
        assert_eq!(etag, tag(&get(&app, ONE, &[]).await));
        assert_eq!(patch(&stale, 9).await.both(), failed);
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
        assert_eq!(patch(never, 8).await.both(), failed, "{never}");
    }
    // Checks that come before, and calls about no single object.
    let stale = [("if-match", "\"x\"")];
    let ask = async |method: &str, path: &str, body: Value| {
        app.ask_with(&stale, Who::ReadWrite, method, path, &body).await
    };
    let gone = format!("{POSTS}/gone");
    assert_eq!(ask("DELETE", &gone, Value::Null).await.both(), not_found());
    assert_eq!(ask("DELETE", ONE, Value::Null).await.both(), failed);
    assert_eq!(ask("POST", &format!("{ONE}/publish"), Value::Null).await.both(), failed);
    assert_eq!(ask("PATCH", ONE, json!([])).await.status, 400);
    assert_eq!(ask("POST", POSTS, json!({ "title": "A" })).await.status, 200);
    assert_eq!(ask("GET", ONE, Value::Null).await.status, 200);
    let fresh = [("if-match", "*")];
    let deleted = app.ask_with(&fresh, Who::ReadWrite, "DELETE", ONE, &Value::Null).await;
    assert_eq!(deleted.status, 204);
}

/// The same request with the same key is the same request; anything else is not.
#[tokio::test]
async fn repeated_requests_have_one_effect() {
    let app = TestApp::new();
    let post = async |who: Who, key: &str, path: &str, body: &Value| {
        app.ask_with(&[("idempotency-key", key)], who, "POST", path, body).await
    };
    let new = json!({ "title": "New" });
    let first = post(Who::ReadWrite, "k-1", POSTS, &new).await;
    let again = post(Who::ReadWrite, "\"k-1\"", POSTS, &new).await;
    assert_eq!(first.status, 200);
    assert_eq!((first.both(), tag(&first)), (again.both(), tag(&again)));
    let reused = (422, generic(422, "Idempotency-Key is already used"));
    assert_eq!(post(Who::ReadWrite, "k-1", POSTS, &json!({ "title": "B" })).await.both(), reused);
    let batch = format!("{POSTS}/batch");
    assert_eq!(post(Who::ReadWrite, "k-1", &batch, &json!([new])).await.both(), reused);
    // Rights come first, and others have keys of their own.
    assert_eq!(post(Who::Stranger, "k-1", POSTS, &new).await.status, 403);
    assert_ne!(post(Who::Scoped, "k-1", POSTS, &new).await.json()["id"], first.json()["id"]);
    for update in ["true", "false"] {
        // The query is part of the request.
        let status =
            post(Who::Admin, "k-2", &format!("{batch}?updateExisting={update}"), &json!([new]))
                .await
                .status;
        assert_eq!(status, if update == "true" { 200 } else { 422 });
    }
    let invalid = (400, generic(400, "Invalid Idempotency-Key"));
    for wrong in ["", "\"\"", &"x".repeat(256)] {
        assert_eq!(post(Who::ReadWrite, wrong, POSTS, &new).await.both(), invalid, "{wrong}");
    }
    let list = get(&app, POSTS, &[]).await.json();
    // The one from the start, the first, that of the scoped key, and that of the batch.
    assert_eq!(list["total_count"], 4);
}
