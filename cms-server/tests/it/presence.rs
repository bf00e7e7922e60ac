//! Presence over HTTP.

use serde_json::{Value, json};

use crate::support::{CallerKind, TestApp, error, forbidden, malformed, no_content, not_found};

const PRESENCE: &str = "/api/v1/presence";
const OF_POSTS: &str = "/api/v1/presence?content_type=post";
const OF_ONE: &str = "/api/v1/presence?content_type=post&id=ONE";

async fn put(app: &TestApp, caller: CallerKind, body: &Value) -> (u16, Value) {
    app.send_as(caller, "PUT", PRESENCE, body).await.status_and_body()
}

async fn tabs(app: &TestApp, path: &str) -> Vec<String> {
    let list = app.get(path).await.json();
    let data = list["data"].as_array().unwrap().iter();
    data.map(|presence| presence["tab"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn presence_is_listed_until_it_ends() {
    let app = TestApp::new();
    app.create("post", &json!({ "id": "two", "title": "Two" })).await;
    let first = json!({ "tab": "a", "contentType": "post", "id": "One", "property": "title" });
    assert_eq!(put(&app, CallerKind::Admin, &first).await, no_content());
    app.core.clock.advance(30);
    let second = json!({ "tab": "b", "contentType": "post", "id": "two" });
    assert_eq!(put(&app, CallerKind::Scoped, &second).await, no_content());
    let keys = app.get_as(CallerKind::Admin, "/api/v1/internal/key").await;
    let keys = keys.json();
    let id = |name: &str| {
        let key = keys["data"].as_array().unwrap().iter().find(|key| key["name"] == name);
        key.unwrap()["id"].clone()
    };
    let one = json!({
        "tab": "a", "contentType": "post", "id": "one", "property": "title",
        "by": { "kind": "key", "id": id("admin"), "name": "admin" },
        "at": "2026-01-02T03:04:05.000000+0000",
    });
    let two = json!({
        "tab": "b", "contentType": "post", "id": "two", "property": null,
        "by": { "kind": "key", "id": id("scoped"), "name": "scoped" },
        "at": "2026-01-02T03:04:35.000000+0000",
    });
    assert_eq!(app.get(OF_ONE).await.status_and_body(), (200, json!({ "data": [one] })));
    assert_eq!(app.get(OF_POSTS).await.status_and_body(), (200, json!({ "data": [one, two] })));
    app.core.clock.advance(15);
    assert_eq!(tabs(&app, OF_POSTS).await, ["b"]);
    // Another caller cannot end the presence.
    let tab = format!("{PRESENCE}/b");
    assert_eq!(app.delete(&tab).await.status_and_body(), no_content());
    assert_eq!(tabs(&app, OF_POSTS).await, ["b"]);
    let ended = app.delete_as(CallerKind::Scoped, &tab).await;
    assert_eq!(ended.status_and_body(), no_content());
    assert_eq!(app.get(OF_POSTS).await.status_and_body(), (200, json!({ "data": [] })));
}

#[tokio::test]
async fn presence_errors() {
    let app = TestApp::new();
    let rw = CallerKind::ReadWrite;
    let tab = json!({ "tab": "a", "contentType": "post", "id": "one" });
    let with = |name: &str, value: Value| {
        let mut changed = tab.clone();
        changed[name] = value;
        changed
    };
    let pattern = "Does not match the regex pattern ^[A-Za-z0-9_-]{1,64}$";
    assert_eq!(put(&app, rw, &with("tab", json!("a b"))).await, error("tab", pattern));
    // The object is checked before the other members.
    for (kind, content_type, id, wanted) in [
        (rw, json!("post"), json!("none"), not_found()),
        (rw, json!("none"), json!("one"), not_found()),
        (CallerKind::Stranger, json!("post"), json!("one"), forbidden()),
        (
            rw,
            json!("post"),
            json!(5),
            (
                400,
                json!({
                    "tab": [pattern], "id": ["Integer value found, but a string is required"],
                }),
            ),
        ),
    ] {
        let body = json!({ "tab": "a b", "contentType": content_type, "id": id });
        assert_eq!(put(&app, kind, &body).await, wanted, "{body}");
    }
    assert_eq!(put(&app, rw, &with("id", json!("none"))).await, not_found());
    assert_eq!(put(&app, rw, &with("contentType", json!("none"))).await, not_found());
    assert_eq!(put(&app, rw, &json!([])).await, malformed());
    assert_eq!(put(&app, CallerKind::Stranger, &tab).await, forbidden());
    let required = "The property content_type is required";
    assert_eq!(app.get(PRESENCE).await.status_and_body(), error("content_type", required));
    assert_eq!(app.get(&OF_POSTS.replace("post", "none")).await.status_and_body(), not_found());
    assert_eq!(app.get(&OF_ONE.replace("ONE", "none")).await.status_and_body(), not_found());
    for number in 0..20 {
        assert_eq!(put(&app, rw, &with("tab", json!(number.to_string()))).await, no_content());
    }
    assert_eq!(put(&app, rw, &with("tab", json!("20"))).await, forbidden());
    assert_eq!(put(&app, CallerKind::Admin, &tab).await, no_content());
}

/// Objects outside the view of a request have no presence for it.
#[tokio::test]
async fn presence_follows_visibility() {
    let app = TestApp::with_type("page", &json!({ "draftPublic": true }));
    app.create("page", &json!({ "id": "draft", "title": "Draft" })).await;
    let tab = json!({ "tab": "a", "contentType": "page", "id": "draft" });
    let public = [("x-visibility", "public")];
    let send = async |method: &str, path: &str, body: &Value| {
        app.send_as_with(&public, CallerKind::ReadWrite, method, path, body).await.status_and_body()
    };
    assert_eq!(send("PUT", PRESENCE, &tab).await, not_found());
    assert_eq!(put(&app, CallerKind::ReadWrite, &tab).await, no_content());
    let of_pages = "/api/v1/presence?content_type=page";
    assert_eq!(tabs(&app, of_pages).await, ["a"]);
    assert_eq!(send("GET", of_pages, &Value::Null).await, (200, json!({ "data": [] })));
    assert_eq!(send("GET", &format!("{of_pages}&id=draft"), &Value::Null).await, not_found());
}
