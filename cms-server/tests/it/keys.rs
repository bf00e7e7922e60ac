//! Keys in requests (docs/reference/http.md#authentication), their check
//! (docs/reference/http.md#check-a-key) and management (docs/reference/keys.md#management-endpoints).

use serde_json::{Value, json};

use crate::support::{Role, TestApp, forbidden, not_found, unauthorized};

const ONE: &str = "/api/v1/content/post/one";

/// The header takes precedence over the query.
#[tokio::test]
async fn keys_are_read_from_header_or_query() {
    let app = TestApp::new();
    let good = app.key(Role::ReadOnly).unwrap();
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
        let response = app.send("GET", &path, &headers, "").await;
        assert_eq!(response.status, status, "{header:?} {query}");
        if status == 401 {
            assert_eq!(response.parts(), unauthorized());
        }
        assert_eq!(response.header("x-deprecated-query-params"), None);
    }
    let write = app.key(Role::ReadWrite).unwrap();
    let path = format!("{ONE}?auth_token={write}");
    let json = [("content-type", "application/json")];
    assert_eq!(app.send("PATCH", &path, &json, r#"{"price":2}"#).await.status, 200);
}

/// The check returns the properties of the key.
#[tokio::test]
async fn key_can_be_checked() {
    let app = TestApp::new();
    let rule =
        json!({ "ctd": "post", "create": true, "read": true, "update": true, "delete": true });
    for (role, kind, rules) in [
        (Role::ReadOnly, "read_only", json!([])),
        (Role::ReadWrite, "read_write", json!([])),
        (Role::Scoped, "scoped", json!([rule])),
    ] {
        let mut context =
            app.request_as(role, "GET", "/api/auth-context", &Value::Null).await.json();
        let name = context["apiKey"]["name"].clone();
        for part in ["organization", "space", "user"] {
            let id = context[part]["id"].take();
            assert_eq!(id.as_str().unwrap().len(), 36, "{part}");
        }
        let expected = json!({
            "organization": { "id": null, "name": "default" },
            "space": { "id": null, "name": "default" },
            "user": { "id": null, "username": name, "roles": ["ROLE_HEADLESS_ADMIN"] },
            "apiKey": { "name": name, "type": kind, "rules": rules },
        });
        assert_eq!(context, expected);
    }
}

/// Keys are created, listed without their token, and refused after they were revoked.
#[tokio::test]
async fn keys_are_managed() {
    let app = TestApp::new();
    let keys = "/api/v1/internal/key";
    let rule = json!({ "ctd": "post", "read": true });
    let new = json!({ "name": "web", "kind": "scoped", "rules": [rule] });
    let mut created = app.request_as(Role::Admin, "POST", keys, &new).await.json();
    let token = created["key"].as_str().unwrap().to_owned();
    created.as_object_mut().unwrap().remove("key");
    let headers = [("x-auth-token", &*token)];
    assert_eq!(app.send("GET", ONE, &headers, "").await.status, 200);
    assert_eq!(app.send("DELETE", ONE, &headers, "").await.parts(), forbidden());

    let list = app.request_as(Role::Admin, "GET", keys, &Value::Null).await;
    assert!(!String::from_utf8_lossy(&list.bytes).contains(&token));
    let list = list.json();
    let last = list["data"].as_array().unwrap().iter().find(|k| k["id"] == created["id"]).unwrap();
    assert_eq!((&last["name"], &last["kind"]), (&json!("web"), &json!("scoped")));
    assert_eq!(list["count"], list["total_count"]);

    let path = format!("{keys}/{}", created["id"].as_str().unwrap());
    assert_eq!(app.request_as(Role::Admin, "DELETE", &path, &Value::Null).await.status, 204);
    assert_eq!(app.send("GET", ONE, &headers, "").await.parts(), unauthorized());
    assert_eq!(
        app.request_as(Role::Admin, "DELETE", &path, &Value::Null).await.parts(),
        not_found()
    );
    for wrong in
        [json!({}), json!({ "name": "x", "kind": "king" }), json!({ "name": 1, "kind": "admin" })]
    {
        let response = app.request_as(Role::Admin, "POST", keys, &wrong).await;
        assert_eq!(response.status, 400, "{wrong}");
    }
}
