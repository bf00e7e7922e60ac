//! Settings of users, which need a session.

use cms_core::{Caller, wire::user::UserListRequest};
use serde_json::{Value, json};

use crate::{
    sessions::{create_user, signed_in},
    support::{CallerKind, Reply, TestApp, forbidden, generic, malformed, object, unauthorized},
};

const SETTINGS: &str = "/api/v1/session/settings";

/// Creates a viewer and signs in; returns the header with the cookie.
async fn sign_in(app: &TestApp, email: &str) -> String {
    create_user(app, email, "viewer");
    signed_in(app, email).await
}

async fn send(
    app: &TestApp,
    cookie: &str,
    method: &str,
    headers: &[(&str, &str)],
    body: String,
) -> Reply {
    let mut all =
        vec![("cookie", cookie), ("x-cms-request", "1"), ("content-type", "application/json")];
    all.extend(headers);
    app.send(method, SETTINGS, &all, body).await
}

#[tokio::test]
async fn settings_of_a_user_are_replaced() {
    let app = TestApp::new();
    let ada = sign_in(&app, "ada@example.com").await;
    let ben = sign_in(&app, "ben@example.com").await;
    let first = send(&app, &ada, "GET", &[], String::new()).await;
    assert_eq!(first.status_and_body(), (200, json!({})));
    let none = first.header("etag").unwrap().to_owned();
    let settings = json!({ "language": "de", "columns": { "post": ["title"] } });
    let put = send(&app, &ada, "PUT", &[("if-match", &none)], settings.to_string()).await;
    assert_eq!(put.status_and_body(), (200, settings.clone()));
    let read = send(&app, &ada, "GET", &[], String::new()).await;
    assert_eq!(read.status_and_body(), (200, settings));
    assert_eq!(read.header("etag"), put.header("etag"));
    let stale = send(&app, &ada, "PUT", &[("if-match", &none)], "{}".to_owned()).await;
    assert_eq!(stale.status_and_body(), (412, generic(412, "Precondition Failed")));
    // Each user has their own.
    assert_eq!(
        send(&app, &ben, "GET", &[], String::new()).await.status_and_body(),
        (200, json!({}))
    );
    assert_eq!(send(&app, &ada, "PUT", &[], "[]".to_owned()).await.status_and_body(), malformed());
    let largest = json!({ "a": "x".repeat(64 * 1024 - 8) }).to_string();
    assert_eq!(largest.len(), 64 * 1024);
    let stored = send(&app, &ada, "PUT", &[], largest.clone()).await;
    assert_eq!(stored.status, 200);
    let large = send(&app, &ada, "PUT", &[], largest + " ").await;
    assert_eq!(large.status_and_body(), (413, generic(413, "Request Entity Too Large")));
}

#[tokio::test]
async fn settings_need_a_session() {
    let app = TestApp::new();
    for (caller, expected) in
        [(CallerKind::Anonymous, unauthorized()), (CallerKind::Admin, forbidden())]
    {
        let get = app.get_as(caller, SETTINGS).await;
        assert_eq!(get.status_and_body(), expected, "{caller:?}");
        let put = app.send_as(caller, "PUT", SETTINGS, &json!({})).await;
        assert_eq!(put.status_and_body(), expected, "{caller:?}");
    }
}

/// A preview token ends with its user, and follows their role.
#[tokio::test]
async fn preview_token_of_a_user_follows_the_user() {
    let app = TestApp::new();
    let cookie = sign_in(&app, "ada@example.com").await;
    let (cms, local) = (&app.core.cms, Caller::local());
    let id = cms.users().list(&local, &UserListRequest::default()).unwrap().data[0].id.clone();
    let update = |change: Value| {
        cms.users().update(&local, &id, &object(&change)).unwrap();
    };
    let create = async || {
        let headers = [
            ("cookie", cookie.as_str()),
            ("x-cms-request", "1"),
            ("content-type", "application/json"),
        ];
        let body = json!({ "contentType": "post", "id": "one" }).to_string();
        app.send("POST", "/api/v1/preview", &headers, body).await
    };
    let read = async |token: &str, path: &str| {
        app.send("GET", path, &[("x-auth-token", token)], "").await.status
    };
    assert_eq!(create().await.status_and_body(), forbidden(), "a viewer");
    update(json!({ "role": "editor" }));
    let token = create().await.json()["token"].as_str().unwrap().to_owned();
    let [posts, hooks] = ["/api/v1/content/post", "/api/v1/content/_webhooks"];
    assert_eq!((read(&token, posts).await, read(&token, hooks).await), (200, 403));
    update(json!({ "role": "developer" }));
    assert_eq!((read(&token, posts).await, read(&token, hooks).await), (200, 200));
    update(json!({ "disabled": true }));
    assert_eq!(read(&token, posts).await, 401);
    update(json!({ "disabled": false }));
    assert_eq!(read(&token, posts).await, 401);
}
