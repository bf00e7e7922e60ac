//! Users: management by admins, the last admin, and types that rules name.

use std::{sync::Arc, thread};

use cms_core::{Caller, Error};
use serde_json::{Value, json};

use crate::support::{
    CallerKind, TestApp, error, forbidden, no_content, not_found, object, refused,
};

const USERS: &str = "/api/v1/internal/user";
const START: &str = "2026-01-02T03:04:05.000000+0000";
const LAST_ADMIN: &str =
    "The last enabled user with role admin cannot be deleted, disabled or given another role";

async fn send(app: &TestApp, method: &str, path: &str, body: &Value) -> (u16, Value) {
    app.send_as(CallerKind::Admin, method, path, body).await.status_and_body()
}

/// Creates a user; returns the path.
async fn created(app: &TestApp, user: &Value) -> String {
    let (status, body) = send(app, "POST", USERS, user).await;
    assert_eq!(status, 200, "{body}");
    format!("{USERS}/{}", body["id"].as_str().unwrap())
}

#[tokio::test]
async fn users_are_managed() {
    let app = TestApp::new();
    let rule =
        json!({ "ctd": "post", "create": true, "read": true, "update": false, "delete": false });
    let new = json!({
        "email": " Ada@Example.com ", "name": "Ada Moor", "role": "custom",
        "rules": [{ "ctd": "post", "create": true, "read": true }],
    });
    let (status, mut body) = send(&app, "POST", USERS, &new).await;
    let link = body.as_object_mut().unwrap().remove("link").unwrap();
    let id = body["id"].as_str().unwrap().to_owned();
    let expires = "2026-01-05T03:04:05.000000+0000";
    let mut user = json!({
        "id": id, "email": "Ada@Example.com", "name": "Ada Moor", "role": "custom", "rules": [rule],
        "mayPublish": false, "disabled": false, "hasPassword": false, "openId": false,
        "pendingLink": { "kind": "invitation", "expiresAt": expires },
        "createdAt": START, "lastSeenAt": null,
    });
    assert_eq!((status, &body), (200, &user));
    let code = link["code"].as_str().unwrap();
    assert_eq!(code.len(), 43);
    let url = format!("http://localhost/admin/sign-in#code={code}");
    assert_eq!(
        link,
        json!({ "kind": "invitation", "url": url, "code": code, "expiresAt": expires })
    );

    let one = format!("{USERS}/{id}");
    assert_eq!(send(&app, "GET", &one, &Value::Null).await, (200, user.clone()));
    // A client sends back what it read.
    let reply = app
        .send_as(
            CallerKind::Admin,
            "PUT",
            &one,
            &json!({ "name": "Ada", "id": "x", "openId": true }),
        )
        .await;
    assert_eq!(reply.header("x-deprecated-payload"), Some("id,openId"));
    user["name"] = json!("Ada");
    assert_eq!(reply.status_and_body(), (200, user.clone()));
    user["role"] = json!("editor");
    user["rules"] = json!([]);
    user["mayPublish"] = json!(true);
    assert_eq!(send(&app, "PUT", &one, &json!({ "role": "editor" })).await, (200, user.clone()));

    // Nobody could use the invitation.
    let mut disabled = new.clone();
    disabled["email"] = json!("eve@example.com");
    disabled["disabled"] = json!(true);
    let refused = json!({ "errors": ["The user is disabled"] });
    assert_eq!(send(&app, "POST", USERS, &disabled).await, (400, refused));

    let other = json!({
        "email": "ben@example.com", "name": "ben", "role": "viewer", "password": "a good password",
    });
    let (status, ben) = send(&app, "POST", USERS, &other).await;
    assert_eq!((status, &ben["hasPassword"], ben.get("link")), (200, &json!(true), None));
    let list = async |query: &str| {
        let list = send(&app, "GET", &format!("{USERS}?{query}"), &Value::Null).await.1;
        let names = list["data"].as_array().unwrap().iter().map(|user| user["name"].clone());
        (list["total_count"].clone(), names.collect::<Value>())
    };
    assert_eq!(list("").await, (json!(2), json!(["Ada", "ben"])));
    assert_eq!(list("order_direction=desc&limit=1").await, (json!(2), json!(["ben"])));
    assert_eq!(list("q=EXAMPLE&role=viewer").await, (json!(1), json!(["ben"])));
    assert_eq!(list("disabled=1").await, (json!(0), json!([])));

    assert_eq!(send(&app, "DELETE", &one, &Value::Null).await, no_content());
    assert_eq!(send(&app, "GET", &one, &Value::Null).await, not_found());
    assert_eq!(send(&app, "PUT", &one, &json!({})).await, not_found());
    assert_eq!(send(&app, "DELETE", &one, &Value::Null).await, not_found());
    assert_eq!(send(&app, "POST", &format!("{one}/link"), &Value::Null).await, not_found());
    // The address is free again, for another user.
    assert_ne!(created(&app, &new).await, one);
}

#[tokio::test]
async fn user_payload_reports_all_errors() {
    let app = TestApp::new();
    let ada = json!({ "email": "ada@example.com", "name": "Ada", "role": "author" });
    let ada = created(&app, &ada).await;
    let new = json!({
        "email": "ADA@example.COM", "name": "", "role": "custom", "password": "short", "id": "x",
        "mayPublish": 1,
    });
    let wanted = json!({
        "id": ["The property id is not defined and the definition does not allow additional properties"],
        "name": ["Must be at least 1 characters long"],
        "mayPublish": ["Integer value found, but a boolean is required"],
        "rules": ["There must be a minimum of 1 items in the array"],
        "password": ["Must be at least 12 characters long"],
        "email": ["This value is already used"],
    });
    assert_eq!(send(&app, "POST", USERS, &new).await, (400, wanted));
    let changes = json!({ "password": "a good password", "role": "custom", "email": "x" });
    let wanted = json!({
        "password": ["The property password is not defined and the definition does not allow additional properties"],
        "rules": ["There must be a minimum of 1 items in the array"],
        "email": ["This value is not valid."],
    });
    assert_eq!(send(&app, "PUT", &ada, &changes).await, (400, wanted));
    // The address of the user itself, in another letter case, is no conflict.
    assert_eq!(send(&app, "PUT", &ada, &json!({ "email": "Ada@example.com" })).await.0, 200);
    let kind = r#"Does not have a value in the enumeration ["invitation","reset"]"#;
    let link = format!("{ada}/link");
    assert_eq!(send(&app, "POST", &link, &json!({ "kind": "setup" })).await, error("kind", kind));
}

#[tokio::test]
async fn link_kind_follows_the_password() {
    let app = TestApp::new();
    let new = json!({ "email": "ada@example.com", "name": "Ada", "role": "author" });
    let ada = created(&app, &new).await;
    let ben = json!({
        "email": "ben@example.com", "name": "Ben", "role": "author", "password": "a good password",
    });
    let ben = created(&app, &ben).await;
    for (user, body, kind, expires) in [
        (&ada, Value::Null, "invitation", "2026-01-05T03:04:05.000000+0000"),
        (&ada, json!({ "kind": "reset" }), "invitation", "2026-01-05T03:04:05.000000+0000"),
        (&ben, json!({}), "reset", "2026-01-02T04:04:05.000000+0000"),
        (&ben, json!({ "kind": "invitation" }), "invitation", "2026-01-05T03:04:05.000000+0000"),
    ] {
        let (status, link) = send(&app, "POST", &format!("{user}/link"), &body).await;
        assert_eq!(
            (status, &link["kind"], &link["expiresAt"]),
            (200, &json!(kind), &json!(expires))
        );
        let pending = &send(&app, "GET", user, &Value::Null).await.1["pendingLink"];
        assert_eq!(*pending, json!({ "kind": kind, "expiresAt": expires }));
    }
    assert_eq!(send(&app, "PUT", &ben, &json!({ "disabled": true })).await.0, 200);
    let link = send(&app, "POST", &format!("{ben}/link"), &Value::Null).await;
    assert_eq!(link, refused("The user is disabled"));
    assert_eq!(send(&app, "GET", &ben, &Value::Null).await.1["pendingLink"], Value::Null);
}

#[tokio::test]
async fn last_admin_cannot_be_deleted_disabled_or_demoted() {
    let app = TestApp::new();
    let admin = |email: &str| json!({ "email": email, "name": "A", "role": "admin", "password": "a good password" });
    let first = created(&app, &admin("a@example.com")).await;
    // An invited admin cannot sign in yet.
    let invited = json!({ "email": "i@example.com", "name": "I", "role": "admin" });
    let invited = created(&app, &invited).await;
    for (method, body) in [
        ("DELETE", Value::Null),
        ("PUT", json!({ "disabled": true })),
        ("PUT", json!({ "role": "developer" })),
    ] {
        assert_eq!(send(&app, method, &first, &body).await, refused(LAST_ADMIN), "{body}");
    }
    assert_eq!(send(&app, "PUT", &first, &json!({ "name": "B" })).await.0, 200);
    assert_eq!(send(&app, "DELETE", &invited, &Value::Null).await, no_content());
    let second = created(&app, &admin("b@example.com")).await;
    assert_eq!(send(&app, "PUT", &first, &json!({ "disabled": true })).await.0, 200);
    assert_eq!(send(&app, "DELETE", &second, &Value::Null).await, refused(LAST_ADMIN));
    assert_eq!(send(&app, "DELETE", &first, &Value::Null).await, no_content());
}

/// Each of two concurrent requests alone would leave the other admin.
#[tokio::test]
async fn last_admin_stays_when_two_are_demoted_concurrently() {
    for _ in 0..10 {
        let app = TestApp::new();
        let mut ids = Vec::new();
        for email in ["a@example.com", "b@example.com"] {
            let new = json!({
                "email": email, "name": "A", "role": "admin", "password": "a good password",
            });
            let local = Caller::local();
            let user = app.core.cms.users().create(&local, &object(&new), "http://h").unwrap();
            ids.push(user.user.id);
        }
        let demoted = ids.into_iter().map(|id| {
            let cms = Arc::clone(&app.core.cms);
            let role = object(&json!({ "role": "viewer" }));
            thread::spawn(move || cms.users().update(&Caller::local(), &id, &role))
        });
        let demoted: Vec<_> =
            demoted.collect::<Vec<_>>().into_iter().map(|t| t.join().unwrap()).collect();
        assert_eq!(demoted.iter().filter(|result| result.is_ok()).count(), 1);
        assert!(demoted.iter().any(|result| matches!(result, Err(Error::Rejected(_)))));
    }
}

#[tokio::test]
async fn type_in_the_rules_of_a_user_is_not_deleted() {
    let app = TestApp::new();
    let custom = |email: &str, name: &str| json!({ "email": email, "name": "A", "role": "custom", "rules": [{ "ctd": name, "read": true }] });
    let user = created(&app, &custom("a@example.com", "author")).await;
    created(&app, &custom("b@example.com", "*")).await;
    let path = "/api/v1/internal/contenttype/author";
    let reply = send(&app, "DELETE", path, &Value::Null).await;
    assert_eq!(reply, refused("This content type definition is used by User: a@example.com"));
    assert_eq!(send(&app, "PUT", &user, &json!({ "role": "viewer" })).await.0, 200);
    assert_eq!(send(&app, "DELETE", path, &Value::Null).await.0, 200);
}

/// The next request no longer has the rights of the previous role.
#[tokio::test]
async fn changed_role_applies_from_the_next_request() {
    let app = TestApp::new();
    let post = "/api/v1/content/post";
    let editor = CallerKind::User(cms_core::wire::user::Role::Editor);
    let send_post = async || {
        app.send_as(editor, "POST", post, &json!({ "title": "A" })).await.status_and_body()
    };
    assert_eq!(send_post().await.0, 200);
    let session = app.get_as(editor, "/api/v1/session").await.json();
    let user = format!("{USERS}/{}", session["user"]["id"].as_str().unwrap());
    assert_eq!(send(&app, "PUT", &user, &json!({ "role": "viewer" })).await.0, 200);
    assert_eq!(send_post().await, forbidden());
    let rules = json!({ "role": "custom", "rules": [{ "ctd": "post", "create": true }] });
    assert_eq!(send(&app, "PUT", &user, &rules).await.0, 200);
    assert_eq!(send_post().await.0, 200);
    assert_eq!(app.get_as(editor, post).await.status_and_body(), forbidden());
    assert_eq!(send(&app, "PUT", &user, &json!({ "disabled": true })).await.0, 200);
    assert_eq!(send_post().await.0, 401);
    // The sessions that ended stay ended.
    assert_eq!(send(&app, "PUT", &user, &json!({ "disabled": false })).await.0, 200);
    assert_eq!(send_post().await.0, 401);
}
