//! The activity log over HTTP.

use serde_json::{Value, json};

use crate::support::{CallerKind, TestApp, error};

const ACTIVITY: &str = "/api/v1/activity";

async fn get(app: &TestApp, caller: CallerKind, query: &str) -> Value {
    let path = format!("{ACTIVITY}?{query}");
    let reply = app.get_with(&[("x-mode", "preview")], caller, &path);
    let (status, body) = reply.await.status_and_body();
    assert_eq!(status, 200, "{query}");
    body
}

#[tokio::test]
async fn activity_is_listed_in_pages() {
    let app = TestApp::new();
    let key = app.get("/api/auth-context").await.json()["user"]["id"].clone();
    app.create("post", &json!({ "id": "two", "title": "Two" })).await;
    app.request("PATCH", "/api/v1/content/post/two", &json!({ "price": 1 })).await;
    app.delete("/api/v1/content/post/two").await;
    let first = get(&app, CallerKind::ReadWrite, "id=two&limit=2&odd=1").await;
    let seq = first["data"][0]["seq"].as_i64().unwrap();
    let by = json!({ "kind": "key", "id": key, "name": "read-write" });
    let entry = |rows_before: i64, action: &str, version: i64, more: Value| {
        let mut entry = json!({
            "seq": seq - rows_before, "at": "2026-01-02T03:04:05.000000+0000", "action": action,
            "contentType": "post", "id": "two", "version": version, "objectTitle": "", "by": by,
        });
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        entry
    };
    let deleted = entry(0, "delete", 2, json!({}));
    let updated = entry(1, "update", 2, json!({ "properties": ["price"] }));
    let created = entry(2, "create", 1, json!({ "properties": ["title"] }));
    let next = (seq - 1).to_string();
    assert_eq!(first, json!({ "data": [deleted, updated], "next": next, "more": true }));
    let second = get(&app, CallerKind::ReadWrite, &format!("id=two&limit=2&before={next}")).await;
    assert_eq!(second, json!({ "data": [created], "next": null, "more": false }));

    let found = get(&app, CallerKind::Admin, "content_type[]=post&action[]=delete").await;
    assert_eq!(found, json!({ "data": [deleted], "next": null, "more": false }));
    for wrong in ["before=", "before=x", "before=-1"] {
        let reply = app.get(&format!("{ACTIVITY}?{wrong}")).await;
        assert_eq!(reply.status_and_body(), error("before", "This value is not valid."));
    }
    let reply = app.get(&format!("{ACTIVITY}?odd=1")).await;
    assert_eq!(reply.header("x-deprecated-query-params"), Some("odd"));
}

#[tokio::test]
async fn activity_is_listed_by_time() {
    let app = TestApp::new();
    app.create("post", &json!({ "id": "two", "title": "Two" })).await;
    for minute in 0..5 {
        app.wait_a_minute();
        app.request("PATCH", "/api/v1/content/post/two", &json!({ "price": minute })).await;
    }
    let versions = async |query: &str| -> Vec<i64> {
        let found = get(&app, CallerKind::Admin, query).await;
        let entries = found["data"].as_array().unwrap().iter();
        entries.map(|entry| entry["version"].as_i64().unwrap()).collect()
    };
    // Version n was saved n minutes after 03:03:05.
    let table = [
        ("from=2026-01-02T03:06:05Z", vec![6, 5, 4, 3]),
        ("from=2026-01-02T04:06:05.000001%2b01:00", vec![6, 5, 4]),
        ("to=2026-01-02T03:06:05Z", vec![2, 1]),
        ("from=2026-01-02T03:05:00&to=2026-01-02T03:07:05", vec![3, 2]),
        ("from=2026-01-02T03:05:00&to=2026-01-02T03:07:05&limit=1", vec![3]),
        ("from=2026-01-02&to=2026-01-03&limit=2", vec![6, 5]),
        ("from=2026-01-03", vec![]),
        ("to=2026-01-02", vec![]),
        ("from=2026-01-02T03:07:05Z&to=2026-01-02T03:06:05Z", vec![]),
    ];
    for (times, wanted) in table {
        assert_eq!(versions(&format!("id=two&{times}")).await, wanted, "{times}");
    }
    assert_eq!(versions("from=2026-01-02T03:07:05Z&action[]=update").await, [6, 5, 4]);
    let first = get(&app, CallerKind::Admin, "id=two&from=2026-01-02T03:05:00&limit=4").await;
    let next = first["next"].as_str().unwrap();
    let next_page = format!("id=two&from=2026-01-02T03:05:00&before={next}");
    assert_eq!(versions(&next_page).await, [2]);
    for wrong in ["from=", "from=soon", "from=2026-02-30"] {
        let reply = app.get(&format!("{ACTIVITY}?{wrong}&to=2026-01-02")).await;
        assert_eq!(reply.status_and_body(), error("from", "This value is not valid."));
    }
    let reply = app.get(&format!("{ACTIVITY}?to=2026-01-02T24:00")).await;
    assert_eq!(reply.status_and_body(), error("to", "This value is not valid."));
}

/// Entries follow the rules of the change feed: types that the key reads, and the visibility
/// headers.
#[tokio::test]
async fn activity_is_visible_like_changes() {
    let app = TestApp::with_type("page", &json!({ "draftPublic": true }));
    app.create("page", &json!({ "id": "a", "title": "A" })).await;
    app.create("author", &json!({ "id": "a", "title": "A" })).await;
    let types = |body: &Value| -> Vec<String> {
        let entries = body["data"].as_array().unwrap().iter();
        entries.map(|entry| entry["contentType"].as_str().unwrap().to_owned()).collect()
    };
    let of_a = get(&app, CallerKind::ReadOnly, "id=a").await;
    assert_eq!(types(&of_a), ["author", "page"]);
    let path = format!("{ACTIVITY}?id=a");
    let published = app.get_as(CallerKind::ReadOnly, &path).await;
    assert_eq!(types(&published.json()), ["author"]);
    let scoped = get(&app, CallerKind::Scoped, "").await;
    assert_eq!(types(&scoped), ["post", "post"]);
    assert_eq!(get(&app, CallerKind::Stranger, "").await["data"], json!([]));
    let forbidden = get(&app, CallerKind::Scoped, "content_type[]=author").await;
    assert_eq!(forbidden, json!({ "data": [], "next": null, "more": false }));
}
