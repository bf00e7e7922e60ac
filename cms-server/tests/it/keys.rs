//! Keys: header and query, permissions, and management.

use serde_json::{Value, json};

use crate::support::{CallerKind, TestApp, error, forbidden, not_found, unauthorized};

const ONE: &str = "/api/v1/content/post/one";
const KEYS: &str = "/api/v1/internal/key";

/// The key in the header or the query; the header takes precedence.
#[tokio::test]
async fn keys_come_in_a_header_or_in_the_query() {
    let app = TestApp::new();
    let good = app.key(CallerKind::ReadOnly).unwrap();
    let cases: [(Option<&str>, &str, u16); 7] = [
        (Some(good), "", 200),
        (None, good, 200),
        (Some(good), "wrong", 200),
        (Some("wrong"), good, 401),
        (Some(""), good, 401),
        (None, "", 401),
        (Some("wrong"), "", 401),
    ];
    for (header, query, status) in cases {
        let headers: Vec<_> = header.map(|key| ("x-auth-token", key)).into_iter().collect();
        let path = format!("{ONE}?auth_token={query}");
        let reply = app.send("GET", &path, &headers, "").await;
        assert_eq!(reply.status, status, "{header:?} {query}");
        if status == 401 {
            assert_eq!(reply.status_and_body(), unauthorized());
        }
        assert_eq!(reply.header("x-deprecated-query-params"), None);
    }
    let write = app.key(CallerKind::ReadWrite).unwrap();
    let path = format!("{ONE}?auth_token={write}");
    let json = [("content-type", "application/json")];
    assert_eq!(app.send("PATCH", &path, &json, r#"{"price":2}"#).await.status, 200);
}

/// Keys are created, listed without their token, and refused after they are revoked.
#[tokio::test]
async fn keys_are_managed() {
    let app = TestApp::new();
    let keys = "/api/v1/internal/key";
    let rule = json!({ "ctd": "post", "read": true });
    let new = json!({ "name": "web", "kind": "scoped", "rules": [rule] });
    let mut created = app.send_as(CallerKind::Admin, "POST", keys, &new).await.json();
    let token = created["key"].as_str().unwrap().to_owned();
    created.as_object_mut().unwrap().remove("key");
    let headers = [("x-auth-token", &*token)];
    assert_eq!(app.send("GET", ONE, &headers, "").await.status, 200);
    assert_eq!(app.send("DELETE", ONE, &headers, "").await.status_and_body(), forbidden());

    let list = app.get_as(CallerKind::Admin, keys).await;
    assert!(!String::from_utf8_lossy(&list.bytes).contains(&token));
    let list = list.json();
    let last = list["data"].as_array().unwrap().iter().find(|k| k["id"] == created["id"]).unwrap();
    assert_eq!((&last["name"], &last["kind"]), (&json!("web"), &json!("scoped")));
    assert_eq!(list["count"], list["total_count"]);

    let path = format!("{keys}/{}", created["id"].as_str().unwrap());
    assert_eq!(app.delete_as(CallerKind::Admin, &path).await.status, 204);
    assert_eq!(app.send("GET", ONE, &headers, "").await.status_and_body(), unauthorized());
    assert_eq!(app.delete_as(CallerKind::Admin, &path).await.status_and_body(), not_found());
    for wrong in
        [json!({}), json!({ "name": "x", "kind": "king" }), json!({ "name": 1, "kind": "admin" })]
    {
        let reply = app.send_as(CallerKind::Admin, "POST", keys, &wrong).await;
        assert_eq!(reply.status, 400, "{wrong}");
    }
}

/// Creates a scoped key; returns its item and its token.
async fn new_key(app: &TestApp) -> (Value, String) {
    let rule = json!({ "ctd": "post", "read": true });
    let new = json!({ "name": "web", "kind": "scoped", "rules": [rule] });
    let mut item = app.send_as(CallerKind::Admin, "POST", KEYS, &new).await.json();
    let token = item.as_object_mut().unwrap().remove("key").unwrap();
    (item, token.as_str().unwrap().to_owned())
}

async fn status(app: &TestApp, method: &str, token: &str) -> u16 {
    let headers = [("x-auth-token", token), ("content-type", "application/json")];
    app.send(method, ONE, &headers, r#"{"price":2}"#).await.status
}

#[tokio::test]
async fn key_update_applies_from_the_next_request() {
    let app = TestApp::new();
    let (mut item, token) = new_key(&app).await;
    let path = format!("{KEYS}/{}", item["id"].as_str().unwrap());
    let put = |body: Value| {
        let (app, path) = (&app, &path);
        async move { app.send_as(CallerKind::Admin, "PUT", path, &body).await }
    };
    assert_eq!(put(json!({})).await.status_and_body(), (200, item.clone()));
    assert_eq!(status(&app, "PATCH", &token).await, 403);
    let rules =
        json!([{ "ctd": "post", "create": false, "read": true, "update": true, "delete": false }]);
    item["rules"] = rules.clone();
    assert_eq!(put(json!({ "rules": rules })).await.status_and_body(), (200, item.clone()));
    assert_eq!(status(&app, "PATCH", &token).await, 200);
    item["name"] = json!("shop");
    // The members of an item that cannot change are ignored.
    let reply = put(item.clone()).await;
    let ignored = reply.header("x-deprecated-payload").map(str::to_owned);
    assert_eq!(ignored.as_deref(), Some("id,createdAt,lastUsedAt,previousValidUntil"));
    item["lastUsedAt"] = reply.json()["lastUsedAt"].clone();
    assert_eq!(reply.status_and_body(), (200, item));

    let used = "This value is already used";
    let kind = "This key exists with another kind";
    let unknown =
        "The property token is not defined and the definition does not allow additional properties";
    let all = json!({
        "name": ["Must be at least 1 characters long"],
        "token": [unknown],
        "rules[0].ctd": ["This value is not valid."],
        "rules[1].ctd": ["Integer value found, but a string is required"],
    });
    for (body, wanted) in [
        (json!({ "name": "admin" }), error("name", used)),
        (json!({ "name": "" }), error("name", "Must be at least 1 characters long")),
        (json!({ "name": 1 }), error("name", "Integer value found, but a string is required")),
        (json!({ "kind": "admin" }), error("kind", kind)),
        (json!({ "rules": [] }), error("rules", "There must be a minimum of 1 items in the array")),
        (json!({ "token": "x" }), error("token", unknown)),
        (
            json!({ "kind": "admin", "name": "admin" }),
            (400, json!({ "kind": [kind], "name": [used] })),
        ),
        (json!({ "name": "", "token": 1, "rules": [{ "ctd": "Post" }, { "ctd": 1 }] }), (400, all)),
    ] {
        assert_eq!(put(body.clone()).await.status_and_body(), wanted, "{body}");
    }
    assert_eq!(app.delete_as(CallerKind::Admin, &path).await.status, 204);
    assert_eq!(put(json!({})).await.status_and_body(), not_found());
    let path = format!("{KEYS}/none");
    assert_eq!(
        app.send_as(CallerKind::Admin, "PUT", &path, &json!({})).await.status_and_body(),
        not_found()
    );
}

#[tokio::test]
async fn key_rotation_accepts_the_old_token_for_a_while() {
    let app = TestApp::new();
    let (item, first) = new_key(&app).await;
    let path = format!("{KEYS}/{}/rotate", item["id"].as_str().unwrap());
    let rotate = |body: Value| {
        let (app, path) = (&app, &path);
        async move { app.send_as(CallerKind::Admin, "POST", path, &body).await.status_and_body() }
    };
    let until = "2026-01-03T03:04:05.000000+0000";
    let (code, mut rotated) = rotate(json!({ "graceHours": 24 })).await;
    let second = rotated.as_object_mut().unwrap().remove("key").unwrap();
    let second = second.as_str().unwrap();
    let mut wanted = item.clone();
    wanted["previousValidUntil"] = json!(until);
    assert_eq!((code, rotated), (200, wanted));
    let list = app.get_as(CallerKind::Admin, KEYS).await.json();
    let listed = list["data"].as_array().unwrap().iter().find(|key| key["id"] == item["id"]);
    assert_eq!(listed.unwrap()["previousValidUntil"], until);
    app.core.clock.advance(24 * 3600 - 1);
    assert_eq!((status(&app, "GET", &first).await, status(&app, "GET", second).await), (200, 200));
    app.core.clock.advance(1);
    assert_eq!((status(&app, "GET", &first).await, status(&app, "GET", second).await), (401, 200));
    let list = app.get_as(CallerKind::Admin, KEYS).await.json();
    let listed = list["data"].as_array().unwrap().iter().find(|key| key["id"] == item["id"]);
    assert_eq!(listed.unwrap()["previousValidUntil"], Value::Null);

    // A second rotation ends the grace period of the first; a rotation without a body has none.
    let third = rotate(json!({ "graceHours": 168 })).await.1["key"].as_str().unwrap().to_owned();
    let (_, last) = rotate(Value::Null).await;
    assert_eq!(last["previousValidUntil"], Value::Null);
    for (token, wanted) in [(second, 401), (&third, 401), (last["key"].as_str().unwrap(), 200)] {
        assert_eq!(status(&app, "GET", token).await, wanted);
    }
    for (body, message) in [
        (json!({ "graceHours": -1 }), "Must have a minimum value of 0"),
        (json!({ "graceHours": 169 }), "Must have a maximum value of 168"),
        (json!({ "graceHours": u64::MAX }), "Must have a maximum value of 168"),
        (json!({ "graceHours": 1.5 }), "Double value found, but an integer is required"),
    ] {
        assert_eq!(rotate(body.clone()).await, error("graceHours", message), "{body}");
    }
    let path = format!("{KEYS}/none/rotate");
    let reply = app.send_as(CallerKind::Admin, "POST", &path, &Value::Null).await;
    assert_eq!(reply.status_and_body(), not_found());
}
