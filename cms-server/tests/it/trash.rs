//! The trash over HTTP.

use cms_core::{Caller, wire::trash::EmptyTrashRequest};
use serde_json::{Value, json};

use crate::support::{
    CallerKind, TestApp, error, forbidden, listed, malformed, minute, no_content, not_found,
    object, shown, wrong_media_type,
};

const ONE: &str = "/api/v1/content/post/one";
const TRASH: &str = "/api/v1/trash";

/// An app with the object `post/one` in the trash, deleted by the read-write key; and its entry.
async fn app() -> (TestApp, String) {
    let app = TestApp::new();
    drop(app.core.cms.objects().delete(&Caller::local(), "post", "one"));
    app.core.cms.trash().empty(&Caller::local(), &EmptyTrashRequest::default()).unwrap();
    app.create("post", &json!({ "id": "one", "title": "One" })).await;
    app.wait_a_minute();
    assert_eq!(app.delete(ONE).await.status_and_body(), no_content());
    let list = app.get(TRASH).await.json();
    let entry = list["data"][0]["entry"].as_str().unwrap().to_owned();
    (app, entry)
}

async fn item(app: &TestApp, entry: &str) -> Value {
    let key = app.get("/api/auth-context").await.json()["user"]["id"].clone();
    json!({
        "entry": entry, "contentType": "post", "id": "one", "objectTitle": "", "version": 1,
        "deletedAt": "2026-01-02T03:05:05.000000+0000",
        "expiresAt": "2026-03-03T03:05:05.000000+0000",
        "by": { "kind": "key", "id": key, "name": "read-write" }, "idTaken": false,
    })
}

#[tokio::test]
async fn deletions_are_listed_and_returned_with_the_object() {
    let (app, entry) = app().await;
    let mut item = item(&app, &entry).await;
    let reply = app.get(&format!("{TRASH}?odd=1")).await;
    assert_eq!(reply.header("x-deprecated-query-params"), Some("odd"));
    assert_eq!(reply.status_and_body(), (200, listed(&[item.clone()])));
    for query in
        ["content_type[]=post", "q=ONE", "deletedAfter=2026-01-02", "deletedBefore=2027-01-01"]
    {
        assert_eq!(app.get(&format!("{TRASH}?{query}")).await.json(), listed(&[item.clone()]));
    }
    for query in ["content_type[]=author", "q=two", "by=nobody", "deletedBefore=2026-01-01"] {
        assert_eq!(app.get(&format!("{TRASH}?{query}")).await.json(), listed(&[]), "{query}");
    }
    let wrong = app.get(&format!("{TRASH}?deletedAfter=soon")).await;
    assert_eq!(wrong.status_and_body(), error("deletedAfter", "Wrong date format"));

    let deleted =
        shown("post", "one", &json!({ "deletedAt": minute(1) }), &json!({ "title": "One" }));
    item["object"] = deleted;
    let path = format!("{TRASH}/{entry}");
    assert_eq!(app.get(&path).await.status_and_body(), (200, item));
    assert_eq!(app.get(&format!("{TRASH}/99999")).await.status_and_body(), not_found());
    for path in [TRASH, &path] {
        let reply = app.get_as(CallerKind::ReadOnly, path).await;
        assert_eq!(reply.status_and_body(), forbidden(), "{path}");
    }
    let public = [("x-visibility", "public")];
    let as_public = |path| app.get_with(&public, CallerKind::ReadWrite, path);
    assert_eq!(as_public(TRASH).await.status_and_body(), (200, listed(&[])));
    assert_eq!(as_public(&path).await.status_and_body(), not_found());
}

#[tokio::test]
async fn deletion_is_restored_or_removed() {
    let (app, entry) = app().await;
    let path = format!("{TRASH}/{entry}/restore");
    let errors = json!({
        "id": ["Integer value found, but a string is required"],
        "other": ["The property other is not defined and the definition does not allow additional properties"],
    });
    let body = json!({ "id": 5, "other": 1 });
    assert_eq!(app.request("POST", &path, &body).await.status_and_body(), (400, errors));
    let key = app.key(CallerKind::ReadWrite).unwrap().to_owned();
    let headers = [("x-auth-token", key.as_str()), ("content-type", "application/json")];
    assert_eq!(app.send("POST", &path, &headers, "{").await.status_and_body(), malformed());
    let headers = [("x-auth-token", key.as_str()), ("content-type", "text/plain")];
    assert_eq!(app.send("POST", &path, &headers, "x").await.status_and_body(), wrong_media_type());

    let since = app.get("/api/v1/changes").await.json()["next"].clone();
    let since = since.as_str().unwrap();
    app.wait_a_minute();
    let restored =
        shown("post", "one", &json!({ "updatedAt": minute(2) }), &json!({ "title": "One" }));
    assert_eq!(app.post(&path).await, (200, restored.clone()));
    assert_eq!(app.get(ONE).await.json(), restored);
    assert_eq!(app.post(&path).await, not_found());
    let changes = app.get(&format!("/api/v1/changes?since={since}")).await.json();
    let actions: Vec<&Value> =
        changes["data"].as_array().unwrap().iter().map(|change| &change["action"]).collect();
    assert_eq!(actions, ["create"]);

    app.delete(ONE).await;
    let path = format!("{TRASH}/{entry}");
    assert_eq!(app.delete(&path).await.status_and_body(), no_content());
    assert_eq!(app.delete(&path).await.status_and_body(), not_found());
    let removed = app.get("/api/v1/content/post/removed").await;
    assert_eq!(removed.json(), json!(["one"]));
    let found = app.get(&format!("/api/v1/changes?since={since}")).await.json();
    assert_eq!(found["data"].as_array().unwrap().len(), 2, "create and delete");
    for (caller, actions) in [
        (CallerKind::ReadWrite, &["trash.remove", "delete", "restore", "delete", "create"][..]),
        (CallerKind::ReadOnly, &["delete", "restore", "delete", "create"]),
    ] {
        let reply = app.get_as(caller, "/api/v1/activity?id=one&limit=5");
        let reply = reply.await.json();
        let found: Vec<&str> = reply["data"]
            .as_array()
            .unwrap()
            .iter()
            .take(actions.len())
            .map(|entry| entry["action"].as_str().unwrap())
            .collect();
        assert_eq!(found, actions);
    }
}

#[tokio::test]
async fn trash_is_emptied_by_an_admin() {
    let (app, _) = app().await;
    let path = "/api/v1/trash/empty";
    let empty = async |body: Value| {
        app.send_as(CallerKind::Admin, "POST", path, &body).await.status_and_body()
    };
    assert_eq!(app.request("POST", path, &json!({})).await.status_and_body(), forbidden());
    let wrong = json!({ "contentTypes": "post", "deletedBefore": "soon" });
    let errors = json!({
        "contentTypes": ["String value found, but an array is required"],
        "deletedBefore": ["Wrong date format"],
    });
    assert_eq!(empty(wrong).await, (400, errors));
    let removed = |count: u64| (200, json!({ "removedCount": count, "more": false }));
    assert_eq!(empty(json!({ "contentTypes": ["author"] })).await, removed(0));
    assert_eq!(empty(json!({ "deletedBefore": minute(0) })).await, removed(0));
    assert_eq!(empty(Value::Null).await, removed(1));
    assert_eq!(app.get(TRASH).await.json(), listed(&[]));
    assert!(object(&app.get(ONE).await.json()).contains_key("code"));
}
