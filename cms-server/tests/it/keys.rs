//! Keys: header and query, permissions, and management.

use serde_json::{Value, json};

use crate::support::{CallerKind, TestApp, forbidden, not_found, unauthorized};

const ONE: &str = "/api/v1/content/post/one";

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
            assert_eq!(reply.both(), unauthorized());
        }
        assert_eq!(reply.header("x-deprecated-query-params"), None);
    }
    let write = app.key(CallerKind::ReadWrite).unwrap();
    let path = format!("{ONE}?auth_token={write}");
    let json = [("content-type", "application/json")];
    assert_eq!(app.send("PATCH", &path, &json, r#"{"price":2}"#).await.status, 200);
}

/// The key of the caller.
#[tokio::test]
async fn auth_context_describes_the_key() {
    let app = TestApp::new();
    let rule =
        json!({ "ctd": "post", "create": true, "read": true, "update": true, "delete": true });
    for (caller, kind, rules) in [
        (CallerKind::ReadOnly, "read_only", json!([])),
        (CallerKind::ReadWrite, "read_write", json!([])),
        (CallerKind::Scoped, "scoped", json!([rule])),
    ] {
        let mut context =
            app.send_as(caller, "GET", "/api/auth-context", &Value::Null).await.json();
        let name = context["apiKey"]["name"].clone();
        for part in ["organization", "space", "user"] {
            let id = context[part]["id"].take();
            assert_eq!(id.as_str().unwrap().len(), 36, "{part}");
        }
        let wanted = json!({
            "organization": { "id": null, "name": "default" },
            "space": { "id": null, "name": "default" },
            "user": { "id": null, "username": name, "roles": ["ROLE_HEADLESS_ADMIN"] },
            "apiKey": { "name": name, "type": kind, "rules": rules },
        });
        assert_eq!(context, wanted);
    }
}

/// Keys are created, listed without their token, and refused after they are revoked.
#[tokio::test]
async fn keys_are_managed() {
    let app = TestApp::new();
    let keys = "/api/v1/internal/key";
    let rule = json!({ "ctd": "post", "read": true });
    let new = json!({ "name": "web", "kind": "scoped", "rules": [rule] });
    let mut made = app.send_as(CallerKind::Admin, "POST", keys, &new).await.json();
    let token = made["key"].as_str().unwrap().to_owned();
    made.as_object_mut().unwrap().remove("key");
    let headers = [("x-auth-token", &*token)];
    assert_eq!(app.send("GET", ONE, &headers, "").await.status, 200);
    assert_eq!(app.send("DELETE", ONE, &headers, "").await.both(), forbidden());

    let list = app.send_as(CallerKind::Admin, "GET", keys, &Value::Null).await;
    assert!(!String::from_utf8_lossy(&list.bytes).contains(&token));
    let list = list.json();
    let last = list["data"].as_array().unwrap().iter().find(|k| k["id"] == made["id"]).unwrap();
    assert_eq!((&last["name"], &last["kind"]), (&json!("web"), &json!("scoped")));
    assert_eq!(list["count"], list["total_count"]);

    let path = format!("{keys}/{}", made["id"].as_str().unwrap());
    assert_eq!(app.send_as(CallerKind::Admin, "DELETE", &path, &Value::Null).await.status, 204);
    assert_eq!(app.send("GET", ONE, &headers, "").await.both(), unauthorized());
    assert_eq!(
        app.send_as(CallerKind::Admin, "DELETE", &path, &Value::Null).await.both(),
        not_found()
    );
    for wrong in
        [json!({}), json!({ "name": "x", "kind": "king" }), json!({ "name": 1, "kind": "admin" })]
    {
        let reply = app.send_as(CallerKind::Admin, "POST", keys, &wrong).await;
        assert_eq!(reply.status, 400, "{wrong}");
    }
}
