//! Entity tags, conditional requests and idempotency keys over HTTP.

use serde_json::{Value, json};

use crate::support::{CallerKind, Reply, TestApp, generic, links, not_found};

const POSTS: &str = "/api/v1/content/post";
const ONE: &str = "/api/v1/content/post/one";

async fn get(app: &TestApp, path: &str, headers: &[(&str, &str)]) -> Reply {
    app.get_with(headers, CallerKind::ReadWrite, path).await
}

fn tag(reply: &Reply) -> String {
    reply.header("etag").unwrap().to_owned()
}

/// A client with the current response gets a 304, and a change alters the tag, in every content coding.
#[tokio::test]
async fn cached_response_returns_304() {
    let app = TestApp::with_type("page", &json!({}));
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
                        .send_as_with(&headers, CallerKind::ReadWrite, method, path, &Value::Null)
                        .await;
                    assert_eq!((known.status, known.bytes.len()), (304, 0), "{path} {header}");
                    assert_eq!(known.header("etag"), Some(etag.as_str()));
                    assert_eq!(
                        known.header("vary"),
                        Some("x-auth-token, cookie, x-mode, x-visibility, accept-encoding")
                    );
                    assert_eq!(known.header("content-type"), None);
                }
            }
            tags.push(etag);
        }
        // Different bytes have different tags.
        assert!(tags[0] != tags[1] && tags[1] != tags[2] && tags[0] != tags[2], "{tags:?}");
    }
    let before: Vec<String> = get_tags(&app, &paths).await;
    // Changes a linked object, which is part of hydrated responses only.
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

/// The tags of plain, hydrated and compressed reads and of writes identify the same state.
#[tokio::test]
async fn etag_of_any_response_works_in_if_match() {
    let app = TestApp::new();
    let patch = async |etag: &str, price: u32| {
        let headers = [("if-match", etag)];
        app.send_as_with(&headers, CallerKind::ReadWrite, "PATCH", ONE, &json!({ "price": price }))
            .await
    };
    let failed = (412, generic(412, "Precondition Failed"));
    let mut etag = tag(&get(&app, ONE, &[]).await);
    for price in 0..3 {
        let stale = etag.clone();
        let reply = patch(&etag, price).await;
        assert_eq!(reply.status, 200);
        etag = tag(&reply);
        assert_eq!(etag, tag(&get(&app, ONE, &[]).await));
        assert_eq!(patch(&stale, 9).await.status_and_body(), failed);
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
        assert_eq!(patch(never, 8).await.status_and_body(), failed, "{never}");
    }
    // Checks that precede the condition, and requests that change no single object.
    let stale = [("if-match", "\"x\"")];
    let send = async |method: &str, path: &str, body: Value| {
        app.send_as_with(&stale, CallerKind::ReadWrite, method, path, &body).await
    };
    let gone = format!("{POSTS}/gone");
    assert_eq!(send("DELETE", &gone, Value::Null).await.status_and_body(), not_found());
    assert_eq!(send("DELETE", ONE, Value::Null).await.status_and_body(), failed);
    assert_eq!(
        send("POST", &format!("{ONE}/publish"), Value::Null).await.status_and_body(),
        failed
    );
    assert_eq!(send("PATCH", ONE, json!([])).await.status, 400);
    assert_eq!(send("POST", POSTS, json!({ "title": "A" })).await.status, 200);
    assert_eq!(send("GET", ONE, Value::Null).await.status, 200);
    let fresh = [("if-match", "*")];
    let deleted =
        app.send_as_with(&fresh, CallerKind::ReadWrite, "DELETE", ONE, &Value::Null).await;
    assert_eq!(deleted.status, 204);
}

/// A request counts as a repetition if key, caller, path, query and body are the same.
#[tokio::test]
async fn idempotency_key_prevents_a_second_effect() {
    let app = TestApp::new();
    let post = async |caller: CallerKind, key: &str, path: &str, body: &Value| {
        app.send_as_with(&[("idempotency-key", key)], caller, "POST", path, body).await
    };
    let new = json!({ "title": "New" });
    let first = post(CallerKind::ReadWrite, "k-1", POSTS, &new).await;
    let again = post(CallerKind::ReadWrite, "\"k-1\"", POSTS, &new).await;
    assert_eq!(first.status, 200);
    assert_eq!((first.status_and_body(), tag(&first)), (again.status_and_body(), tag(&again)));
    let reused = (422, generic(422, "Idempotency-Key is already used"));
    assert_eq!(
        post(CallerKind::ReadWrite, "k-1", POSTS, &json!({ "title": "B" })).await.status_and_body(),
        reused
    );
    let batch = format!("{POSTS}/batch");
    assert_eq!(
        post(CallerKind::ReadWrite, "k-1", &batch, &json!([new])).await.status_and_body(),
        reused
    );
    // Permissions are checked first, and each caller has separate idempotency keys.
    assert_eq!(post(CallerKind::Stranger, "k-1", POSTS, &new).await.status, 403);
    assert_ne!(post(CallerKind::Scoped, "k-1", POSTS, &new).await.json()["id"], first.json()["id"]);
    for update in ["true", "false"] {
        // The query is part of the request.
        let status = post(
            CallerKind::Admin,
            "k-2",
            &format!("{batch}?updateExisting={update}"),
            &json!([new]),
        )
        .await
        .status;
        assert_eq!(status, if update == "true" { 200 } else { 422 });
    }
    // Other requests ignore the header.
    let deletion = format!("{POSTS}/batch-delete");
    let long = "x".repeat(256);
    assert_eq!(post(CallerKind::Admin, &long, &deletion, &json!([])).await.status, 200);
    let invalid = (400, generic(400, "Invalid Idempotency-Key"));
    for wrong in ["", "\"\"", &"x".repeat(256)] {
        assert_eq!(
            post(CallerKind::ReadWrite, wrong, POSTS, &new).await.status_and_body(),
            invalid,
            "{wrong}"
        );
    }
    let list = get(&app, POSTS, &[]).await.json();
    // The initial object, and one object each of the first request, the scoped key and the batch.
    assert_eq!(list["total_count"], 4);
}
