//! `POST /api/v1/content/{name}/validate`: the response of a write, without the write.

use serde_json::{Value, json};

use crate::support::{
    CallerKind, TestApp, error, forbidden, generic, links, malformed, no_content, not_found,
    wrong_media_type,
};

const POSTS: &str = "/api/v1/content/post";
const VALIDATE: &str = "/api/v1/content/post/validate";

/// Each validation is compared with the write that it stands for.
#[tokio::test]
async fn validation_has_the_errors_of_the_write() {
    let app = TestApp::with_type("page", &json!({}));
    let related = json!({ "title": "T", "related": links(&["post/none"]) });
    let huge = json!({ "id": "one", "title": "x".repeat(1_100_000) });
    let one = json!({ "id": "one", "title": "T" });
    let cases = [
        ("POST", "page", "", json!({ "title": 5, "color": 1 })),
        ("POST", "page", "", related.clone()),
        ("POST", "post", "", one.clone()),
        ("POST", "post", "", json!({ "id": "", "title": "T" })),
        ("POST", "post", "", huge.clone()),
        ("POST", "none", "", one.clone()),
        ("PUT", "post", "one", json!({ "price": 5 })),
        ("PUT", "post", "one", json!({ "id": "two", "title": "T" })),
        ("PUT", "post", "none", json!({ "title": "T" })),
        ("PUT", "post", "none", huge.clone()),
        ("PUT", "post", "one", huge),
        ("PATCH", "post", "one", json!({ "title": "" })),
        ("PATCH", "post", "ONE", json!({ "price": "5" })),
        ("PATCH", "post", "none", json!({})),
    ];
    for (method, name, id, body) in cases {
        let query = match method {
            "POST" => String::new(),
            "PUT" => format!("?id={id}"),
            _ => format!("?id={id}&patch=true"),
        };
        let path = format!("/api/v1/content/{name}/validate{query}");
        let validated = app.request("POST", &path, &body).await.status_and_body();
        let written = format!("/api/v1/content/{name}/{id}");
        let written =
            app.request(method, written.trim_end_matches('/'), &body).await.status_and_body();
        assert_ne!(written.0, 200, "{path}");
        assert_eq!(validated, written, "{path}");
    }
}

#[tokio::test]
async fn validation_writes_nothing() {
    let app = TestApp::new();
    let before = app.get("/api/v1/changes").await.bytes;
    for (path, body) in [
        (VALIDATE.to_owned(), json!({ "title": "New" })),
        (VALIDATE.to_owned(), json!({ "id": "new", "title": "New", "internal": 5 })),
        (format!("{VALIDATE}?id=one"), json!({ "title": "Other" })),
        (format!("{VALIDATE}?id=one&patch=1"), json!({ "price": 7 })),
        (format!("{VALIDATE}?id="), json!({ "title": "New" })),
    ] {
        assert_eq!(
            app.request("POST", &path, &body).await.status_and_body(),
            no_content(),
            "{path}"
        );
    }
    assert_eq!(app.get("/api/v1/changes").await.bytes, before);
    assert_eq!(app.get(POSTS).await.json()["total_count"], 1);
}

#[tokio::test]
async fn validation_checks_request_and_rights() {
    let app = TestApp::new();
    let patch = format!("{VALIDATE}?patch=true");
    let required = error("id", "The property id is required");
    assert_eq!(app.request("POST", &patch, &json!({})).await.status_and_body(), required);
    for body in [json!([]), json!("x")] {
        assert_eq!(app.request("POST", VALIDATE, &body).await.status_and_body(), malformed());
    }
    let key = ("x-auth-token", app.key(CallerKind::ReadWrite).unwrap());
    let text = [key, ("content-type", "text/plain")];
    assert_eq!(app.send("POST", VALIDATE, &text, "{}").await.status_and_body(), wrong_media_type());
    let update = format!("{VALIDATE}?id=one");
    let title = json!({ "title": "T" });
    for (caller, path, expected) in [
        (CallerKind::ReadOnly, VALIDATE, forbidden()),
        (CallerKind::ReadOnly, update.as_str(), forbidden()),
        (CallerKind::Stranger, VALIDATE, forbidden()),
        (CallerKind::Scoped, VALIDATE, no_content()),
        (CallerKind::Scoped, update.as_str(), no_content()),
    ] {
        assert_eq!(
            app.send_as(caller, "POST", path, &title).await.status_and_body(),
            expected,
            "{path}"
        );
    }
    let etag = app.get("/api/v1/content/post/one").await.header("etag").unwrap().to_owned();
    for (tag, expected) in
        [(etag.as_str(), no_content()), ("\"x\"", (412, generic(412, "Precondition Failed")))]
    {
        let headers = [("if-match", tag)];
        let reply =
            app.send_as_with(&headers, CallerKind::ReadWrite, "POST", &update, &title).await;
        assert_eq!(reply.status_and_body(), expected, "{tag}");
    }
    // An object outside the view of the request.
    app.create_type("draft", &json!({ "draftPublic": true }));
    app.create("draft", &json!({ "id": "d", "title": "T" })).await;
    let public = [("x-visibility", "public")];
    let path = "/api/v1/content/draft/validate?id=d";
    let reply = app.send_as_with(&public, CallerKind::ReadWrite, "POST", path, &title).await;
    assert_eq!(reply.status_and_body(), not_found());
    // With other methods, `validate` is the id of an object.
    assert_eq!(app.get(VALIDATE).await.status_and_body(), not_found());
    app.create("post", &json!({ "id": "validate", "title": "T" })).await;
    let found = app.request("GET", VALIDATE, &Value::Null).await;
    assert_eq!(found.json()["id"], "validate");
}
