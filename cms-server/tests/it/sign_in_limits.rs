//! Limits on failed sign-ins, and the rate limit of users.

use cms_core::Caller;
use cms_server::{Rate, ReloadableSettings, ServerConfig};
use serde_json::{Value, json};

use crate::support::{Reply, TestApp, object};

const SESSION: &str = "/api/v1/session";
const PASSWORD: &str = "a good password";

fn app(reloadable: ReloadableSettings) -> TestApp {
    let app = TestApp::with(&ServerConfig { trust_proxy: true, reloadable, ..Default::default() });
    for email in ["ada@example.com", "ben@example.com"] {
        let new = json!({ "email": email, "name": "A", "role": "viewer", "password": PASSWORD });
        app.core.cms.users().create(&Caller::local(), &object(&new), "http://localhost").unwrap();
    }
    app
}

async fn send(app: &TestApp, address: &str, path: &str, body: &str) -> Reply {
    let headers = [
        ("x-cms-request", "1"),
        ("content-type", "application/json"),
        ("x-forwarded-for", address),
    ];
    app.send("POST", path, &headers, body.to_owned()).await
}

async fn sign_in(app: &TestApp, address: &str, email: &str, password: &str) -> u16 {
    let body = json!({ "email": email, "password": password }).to_string();
    send(app, address, SESSION, &body).await.status
}

#[tokio::test(start_paused = true)]
async fn failed_sign_ins_are_limited() {
    let app = app(ReloadableSettings::default());
    let (ada, here) = ("ada@example.com", "192.0.2.1");
    let headers = [("x-cms-request", "1"), ("content-type", "application/json")];
    let body = json!({ "email": ada, "password": PASSWORD }).to_string();
    let session = app.send("POST", SESSION, &headers, body.clone()).await;
    let cookie = session.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    for _ in 0..10 {
        assert_eq!(sign_in(&app, here, "ADA@example.com ", "wrong").await, 401);
    }
    // The correct password is refused, too.
    let refused = send(&app, here, SESSION, &body).await;
    let message = json!({ "code": 429, "message": "Too Many Requests" });
    assert_eq!(
        (refused.status_and_body(), refused.header("retry-after")),
        ((429, message.clone()), Some("900"))
    );
    // Validation comes first, and a body that is not valid is no attempt.
    assert_eq!(send(&app, here, SESSION, "{}").await.status, 400);
    // Neither other users, nor other clients, nor sessions, nor links are affected.
    assert_eq!(sign_in(&app, here, "ben@example.com", PASSWORD).await, 200);
    assert_eq!(sign_in(&app, "192.0.2.2", ada, PASSWORD).await, 200);
    assert_eq!(app.send("GET", SESSION, &[("cookie", &cookie)], "").await.status, 200);
    let id = session.json()["user"]["id"].as_str().unwrap().to_owned();
    let users = app.core.cms.users();
    let link = users.create_link(&Caller::local(), &id, &object(&json!({})), "http://localhost");
    let code = json!({ "code": link.unwrap().code, "password": PASSWORD }).to_string();
    assert_eq!(send(&app, here, SESSION, &code).await.status, 200);
    // A sign-in clears the failures of its user.
    assert_eq!(sign_in(&app, here, ada, PASSWORD).await, 200);
    // Unknown addresses are limited in the same way.
    for _ in 0..10 {
        assert_eq!(sign_in(&app, here, "nobody@example.com", "wrong").await, 401);
    }
    assert_eq!(sign_in(&app, here, "nobody@example.com", "wrong").await, 429);
    // Wrong codes count for the client address, too: it has 20 failed attempts, and its limit is 50.
    for _ in 0..15 {
        for path in [SESSION, "/api/v1/session/code"] {
            assert_eq!(send(&app, here, path, r#"{"code":"wrong"}"#).await.status, 400);
        }
    }
    for (path, body) in [(SESSION, &*body), ("/api/v1/session/code", "{"), (SESSION, "{")] {
        let refused = send(&app, here, path, body).await;
        assert_eq!(
            (refused.status_and_body(), refused.header("retry-after")),
            ((429, message.clone()), Some("900"))
        );
    }
    tokio::time::advance(std::time::Duration::from_mins(15)).await;
    assert_eq!(sign_in(&app, here, ada, PASSWORD).await, 200);
}

#[tokio::test(start_paused = true)]
async fn wrong_current_password_counts_as_a_failed_sign_in() {
    let app = app(ReloadableSettings::default());
    let here = "192.0.2.1";
    let body = json!({ "email": "ada@example.com", "password": PASSWORD }).to_string();
    let session = send(&app, here, SESSION, &body).await;
    let cookie = session.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let headers = [
        ("x-cms-request", "1"),
        ("content-type", "application/json"),
        ("x-forwarded-for", here),
        ("cookie", &cookie),
    ];
    let change = async |current: &str, new: &str| {
        let body = json!({ "currentPassword": current, "newPassword": new }).to_string();
        app.send("PUT", "/api/v1/session/password", &headers, body).await.status
    };
    // A new password that is refused says nothing about the current one.
    for _ in 0..11 {
        assert_eq!(change(PASSWORD, "short").await, 400);
    }
    for _ in 0..10 {
        assert_eq!(change("wrong", "another password").await, 400);
    }
    assert_eq!(change(PASSWORD, "another password").await, 429);
    assert_eq!(sign_in(&app, here, "ada@example.com", PASSWORD).await, 429);
    assert_eq!(app.send("GET", SESSION, &headers, "").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn sessions_of_a_user_count_as_one_key() {
    let rate = Some(Rate { per_second: 1, burst: 3 });
    let app = app(ReloadableSettings { key_rate: rate, ..ReloadableSettings::default() });
    let mut cookies = Vec::new();
    for email in ["ada@example.com", "ada@example.com", "ben@example.com"] {
        let body = json!({ "email": email, "password": PASSWORD }).to_string();
        let session = send(&app, "192.0.2.1", SESSION, &body).await;
        cookies.push(session.header("set-cookie").unwrap().split(';').next().unwrap().to_owned());
    }
    let get = async |cookie: &str| {
        app.send("GET", "/api/v1/content/post", &[("cookie", cookie)], "").await
    };
    for (index, status) in [(0, 200), (1, 200), (0, 200), (1, 429), (0, 429), (2, 200)] {
        let reply = get(&cookies[index]).await;
        assert_eq!(reply.status, status, "{index}");
        if status == 429 {
            assert_eq!(reply.header("retry-after"), Some("1"));
            assert_eq!(reply.json()["message"], Value::from("Too Many Requests"));
        }
    }
}
