//! Keys: where they stand in a request, what they say of themselves, how they are managed
//! (contract 1.2, 1.13, 10.1).

use serde_json::{Value, json};

use crate::support::{TestApp, Who, forbidden, not_found, unauthorized};

const ONE: &str = "/api/v1/content/post/one";

/// 1.2: header or query; the header decides.
#[tokio::test]
async fn keys_are_read_from_header_or_query() {
    let app = TestApp::new();
    let good = app.key(Who::ReadOnly).unwrap();
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
    let write = app.key(Who::ReadWrite).unwrap();
    let path = format!("{ONE}?auth_token={write}");
    let json = [("content-type", "application/json")];
    assert_eq!(app.send("PATCH", &path, &json, r#"{"price":2}"#).await.status, 200);
}

/// 1.13: which key this is.
#[tokio::test]
async fn key_can_be_checked() {
    let app = TestApp::new();
    let rule =
        json!({ "ctd": "post", "create": true, "read": true, "update": true, "delete": true });
    for (who, kind, rules) in [
        (Who::ReadOnly, "read_only", json!([])),
        (Who::ReadWrite, "read_write", json!([])),
        (Who::Scoped, "scoped", json!([rule])),
    ] {
        let mut context = app.ask(who, "GET", "/api/auth-context", &Value::Null).await.json();
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

/// 10.1: keys are made, listed without their token, and refused once they are revoked.
#[tokio::test]
async fn keys_are_managed() {
    let app = TestApp::new();
    let keys = "/api/v1/internal/key";
    let rule = json!({ "ctd": "post", "read": true });
    let new = json!({ "name": "web", "kind": "scoped", "rules": [rule] });
    let mut made = app.ask(Who::Admin, "POST", keys, &new).await.json();
    let token = made["key"].as_str().unwrap().to_owned();
    made.as_object_mut().unwrap().remove("key");
    let headers = [("x-auth-token", &*token)];
    assert_eq!(app.send("GET", ONE, &headers, "").await.status, 200);
    assert_eq!(app.send("DELETE", ONE, &headers, "").await.both(), forbidden());

    let list = app.ask(Who::Admin, "GET", keys, &Value::Null).await;
    assert!(!String::from_utf8_lossy(&list.bytes).contains(&token));
    let list = list.json();
    let last = list["data"].as_array().unwrap().iter().find(|k| k["id"] == made["id"]).unwrap();
    assert_eq!((&last["name"], &last["kind"]), (&json!("web"), &json!("scoped")));
    assert_eq!(list["count"], list["total_count"]);

    let path = format!("{keys}/{}", made["id"].as_str().unwrap());
    assert_eq!(app.ask(Who::Admin, "DELETE", &path, &Value::Null).await.status, 204);
    assert_eq!(app.send("GET", ONE, &headers, "").await.both(), unauthorized());
    assert_eq!(app.ask(Who::Admin, "DELETE", &path, &Value::Null).await.both(), not_found());
    for wrong in
        [json!({}), json!({ "name": "x", "kind": "king" }), json!({ "name": 1, "kind": "admin" })]
    {
        let reply = app.ask(Who::Admin, "POST", keys, &wrong).await;
        assert_eq!(reply.status, 400, "{wrong}");
    }
}
