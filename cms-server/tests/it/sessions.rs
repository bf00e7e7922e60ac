//! Sign-in, cookies, links, passwords, and requests from other sites.

use cms_core::{Caller, wire::user::Role};
use cms_server::ServerConfig;
use serde_json::{Value, json};

use crate::support::{
    CallerKind, Reply, TestApp, error, forbidden, malformed, no_content, not_found, object,
    refused, unauthorized, wrong_media_type,
};

const SESSION: &str = "/api/v1/session";
const PASSWORD: &str = "a good password";
const JSON: (&str, &str) = ("content-type", "application/json");
const OWN_PAGE: (&str, &str) = ("x-cms-request", "1");
const DAY: i64 = 86_400;

/// Sends a request of a page of this server, with a cookie unless the cookie is empty.
async fn send(app: &TestApp, method: &str, path: &str, cookie: &str, body: &Value) -> Reply {
    let mut headers = vec![OWN_PAGE, JSON];
    if !cookie.is_empty() {
        headers.push(("cookie", cookie));
    }
    let text = if body.is_null() { String::new() } else { body.to_string() };
    app.send(method, path, &headers, text).await
}

async fn sign_in(app: &TestApp, body: &Value) -> Reply {
    send(app, "POST", SESSION, "", body).await
}

/// Creates a user with a password; returns the id.
pub(crate) fn create_user(app: &TestApp, email: &str, role: &str) -> String {
    let new = json!({ "email": email, "name": "Ada Moor", "role": role, "password": PASSWORD });
    let created = app.core.cms.users().create(&Caller::local(), &object(&new), "http://localhost");
    created.unwrap().user.id
}

fn credentials(email: &str) -> Value {
    json!({ "email": email, "password": PASSWORD })
}

/// The cookie that a response sets, as a client sends it back.
fn cookie(reply: &Reply) -> String {
    assert_eq!(reply.status, 200, "{:?}", reply.json());
    reply.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
}

/// Signs a user in; returns the cookie.
pub(crate) async fn signed_in(app: &TestApp, email: &str) -> String {
    cookie(&sign_in(app, &credentials(email)).await)
}

/// Creates a link for a user; returns the code.
fn code(app: &TestApp, id: &str) -> String {
    let users = app.core.cms.users();
    users.create_link(&Caller::local(), id, &object(&json!({})), "http://localhost").unwrap().code
}

fn removed(name: &str) -> String {
    format!("{name}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0")
}

#[tokio::test]
async fn sign_in_returns_the_session_and_sets_a_cookie() {
    let app = TestApp::new();
    assert_eq!(
        app.send("GET", "/api/v1/session/methods", &[], "").await.status_and_body(),
        (200, json!({ "password": true, "openId": null, "setup": true }))
    );
    let id = create_user(&app, "Ada@example.com", "editor");
    let reply = sign_in(&app, &credentials(" ada@EXAMPLE.com")).await;
    let space = app.core.cms.auth_context(&Caller::local()).unwrap();
    let mut body = reply.json();
    let session = body["session"]["id"].take();
    let start = "2026-01-02T03:04:05.000000+0000";
    let set = reply.header("set-cookie").unwrap();
    let (pair, attributes) = set.split_once(';').unwrap();
    // The session is added to the response of `auth-context`, which has its own test.
    let mut wanted = send(&app, "GET", "/api/auth-context", pair, &Value::Null).await.json();
    let caller = json!({
        "organization": { "id": space.organization.id, "name": "default" },
        "space": { "id": space.space.id, "name": "default" },
        "user": {
            "id": id, "username": "Ada Moor", "roles": ["ROLE_HEADLESS_EDITOR"],
            "email": "Ada@example.com", "role": "editor",
        },
        "apiKey": null,
    });
    for (member, value) in caller.as_object().unwrap() {
        assert_eq!(wanted[member], *value, "{member}");
    }
    wanted["session"] = json!({
        "id": null,
        "createdAt": start,
        "lastSeenAt": start,
        "expiresAt": "2026-01-16T03:04:05.000000+0000",
        "endsAt": "2026-04-02T03:04:05.000000+0000",
    });
    assert_eq!((reply.status, body), (200, wanted.clone()));
    assert_eq!(attributes, " HttpOnly; SameSite=Strict; Path=/; Max-Age=7776000");
    let value = pair.strip_prefix("cms_session=").unwrap();
    assert_eq!(value.len(), 43);
    assert!(!String::from_utf8_lossy(&reply.bytes).contains(value));
    app.wait_a_minute();
    let mut current = send(&app, "GET", SESSION, pair, &Value::Null).await.json();
    assert_eq!(current["session"]["id"].take(), session);
    wanted["session"]["lastSeenAt"] = json!("2026-01-02T03:05:05.000000+0000");
    wanted["session"]["expiresAt"] = json!("2026-01-16T03:05:05.000000+0000");
    assert_eq!(current, wanted);
    let methods = app.send("GET", "/api/v1/session/methods", &[], "").await.json();
    assert_eq!(methods["setup"], false);
}

/// Session fixation: a value that the client had before never becomes valid.
#[tokio::test]
async fn sign_in_always_creates_a_new_cookie() {
    let app = TestApp::new();
    create_user(&app, "ada@example.com", "editor");
    let planted = "cms_session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let first = send(&app, "POST", SESSION, planted, &credentials("ada@example.com")).await;
    let first = cookie(&first);
    let second = send(&app, "POST", SESSION, &first, &credentials("ada@example.com")).await;
    let second = cookie(&second);
    assert!(first != planted && second != first);
    for (cookie, status) in [(planted, 401), (&*first, 200), (&*second, 200)] {
        assert_eq!(send(&app, "GET", SESSION, cookie, &Value::Null).await.status, status);
    }
}

#[tokio::test]
async fn failed_sign_in_does_not_reveal_the_reason() {
    let app = TestApp::new();
    create_user(&app, "ada@example.com", "editor");
    let ben = create_user(&app, "ben@example.com", "editor");
    let disabled = object(&json!({ "disabled": true }));
    app.core.cms.users().update(&Caller::local(), &ben, &disabled).unwrap();
    let new = object(&json!({ "email": "cy@example.com", "name": "Cy", "role": "viewer" }));
    app.core.cms.users().create(&Caller::local(), &new, "http://localhost").unwrap();
    let wrong = json!({ "email": "ada@example.com", "password": "a wrong password" });
    for body in [
        wrong,
        credentials("nobody@example.com"),
        credentials("ben@example.com"),
        credentials("cy@example.com"),
        json!({ "email": "", "password": "" }),
    ] {
        let reply = sign_in(&app, &body).await;
        assert_eq!(reply.status_and_body(), unauthorized(), "{body}");
        assert_eq!(reply.header("set-cookie"), None);
    }
}

#[tokio::test]
async fn sign_in_body_is_validated() {
    let app = TestApp::new();
    let undeclared = |name: &str| {
        format!(
            "The property {name} is not defined and the definition does not allow additional properties"
        )
    };
    for (body, wanted) in [
        (
            json!({}),
            json!({ "email": ["The property email is required"], "password": ["The property password is required"] }),
        ),
        (json!({ "password": "x" }), json!({ "email": ["The property email is required"] })),
        (
            json!({ "email": 1, "password": "x", "remember": true }),
            json!({
                "email": ["Integer value found, but a string is required"],
                "remember": [undeclared("remember")],
            }),
        ),
        (
            json!({ "code": 1 }),
            json!({ "code": ["Integer value found, but a string is required"] }),
        ),
        // The code is checked first.
        (
            json!({ "code": "x", "password": "x", "other": 1 }),
            json!({ "code": ["This link has expired or was already used"] }),
        ),
    ] {
        assert_eq!(sign_in(&app, &body).await.status_and_body(), (400, wanted), "{body}");
    }
    let headers = [OWN_PAGE, JSON];
    for path in [SESSION, "/api/v1/session/code"] {
        assert_eq!(app.send("POST", path, &headers, "{").await.status_and_body(), malformed());
        assert_eq!(app.send("POST", path, &headers, "").await.status_and_body(), malformed());
        assert_eq!(
            app.send("POST", path, &[OWN_PAGE], "{}").await.status_and_body(),
            wrong_media_type()
        );
        let long = json!({ "email": "x".repeat(16 * 1024), "password": "x" });
        assert_eq!(app.send("POST", path, &headers, long.to_string()).await.status, 413);
    }
    // A key in the request is ignored.
    create_user(&app, "ada@example.com", "editor");
    let headers = [OWN_PAGE, JSON, ("x-auth-token", "wrong")];
    let body = credentials("ada@example.com").to_string();
    assert_eq!(app.send("POST", SESSION, &headers, body).await.status, 200);
}

#[tokio::test]
async fn invitation_sets_the_password_once() {
    let app = TestApp::new();
    let new = object(&json!({ "email": "ada@example.com", "name": "Ada", "role": "viewer" }));
    let created = app.core.cms.users().create(&Caller::local(), &new, "http://localhost").unwrap();
    let code = created.link.unwrap().code;
    let body = json!({ "code": code });
    let info = json!({
        "kind": "invitation", "email": "ada@example.com", "name": "Ada",
        "expiresAt": "2026-01-05T03:04:05.000000+0000",
    });
    for _ in 0..2 {
        let reply = send(&app, "POST", "/api/v1/session/code", "", &body).await;
        assert_eq!(reply.status_and_body(), (200, info.clone()));
    }
    // A password that is refused leaves the code valid.
    let undeclared =
        "The property email is not defined and the definition does not allow additional properties";
    for (members, errors) in [
        (json!({}), json!({ "password": ["The property password is required"] })),
        (
            json!({ "password": "Ada@example.com", "email": "x@example.com" }),
            json!({
                "email": [undeclared],
                "password": ["The password must not be the e-mail address"],
            }),
        ),
        (
            json!({ "password": "PASSWORD1234" }),
            json!({ "password": ["This password is too common"] }),
        ),
    ] {
        let mut members = members;
        members["code"] = json!(code);
        assert_eq!(sign_in(&app, &members).await.status_and_body(), (400, errors));
    }
    let right = json!({ "code": code, "password": PASSWORD });
    let cookie = cookie(&sign_in(&app, &right).await);
    assert_eq!(send(&app, "GET", SESSION, &cookie, &Value::Null).await.status, 200);
    let used = error("code", "This link has expired or was already used");
    assert_eq!(sign_in(&app, &right).await.status_and_body(), used);
    assert_eq!(send(&app, "POST", "/api/v1/session/code", "", &body).await.status_and_body(), used);
    signed_in(&app, "ada@example.com").await;
}

#[tokio::test]
async fn reset_link_ends_the_other_sessions_and_expires() {
    let app = TestApp::new();
    let id = create_user(&app, "ada@example.com", "viewer");
    let before = signed_in(&app, "ada@example.com").await;
    let replaced = code(&app, &id);
    let valid = code(&app, &id);
    let used = error("code", "This link has expired or was already used");
    let body = |code: &str| json!({ "code": code, "password": "another password" });
    assert_eq!(sign_in(&app, &body(&replaced)).await.status_and_body(), used);
    app.core.clock.advance(3599);
    let after = cookie(&sign_in(&app, &body(&valid)).await);
    assert_eq!(send(&app, "GET", SESSION, &before, &Value::Null).await.status, 401);
    assert_eq!(send(&app, "GET", SESSION, &after, &Value::Null).await.status, 200);
    assert_eq!(sign_in(&app, &credentials("ada@example.com")).await.status, 401);
    let expired = code(&app, &id);
    app.core.clock.advance(3600);
    assert_eq!(sign_in(&app, &body(&expired)).await.status_and_body(), used);
    // A disabled user has no link.
    let open = code(&app, &id);
    for disabled in [true, false] {
        let change = object(&json!({ "disabled": disabled }));
        app.core.cms.users().update(&Caller::local(), &id, &change).unwrap();
        assert_eq!(sign_in(&app, &body(&open)).await.status_and_body(), used);
    }
}

#[tokio::test]
async fn set_up_link_creates_the_first_admin() {
    let app = TestApp::new();
    let sessions = app.core.cms.sessions();
    let replaced = sessions.new_set_up_link("https://cms.example.com").unwrap().unwrap();
    let link = sessions.new_set_up_link("https://cms.example.com/").unwrap().unwrap();
    assert_eq!(link.url, format!("https://cms.example.com/admin/sign-in#code={}", link.code));
    let info = send(&app, "POST", "/api/v1/session/code", "", &json!({ "code": link.code })).await;
    let expires = "2026-01-03T03:04:05.000000+0000";
    assert_eq!(
        info.status_and_body(),
        (200, json!({ "kind": "setup", "email": "", "name": "", "expiresAt": expires }))
    );
    let body = |code: &str| json!({ "code": code, "email": "ada@example.com", "name": "Ada", "password": PASSWORD });
    let used = error("code", "This link has expired or was already used");
    assert_eq!(sign_in(&app, &body(&replaced.code)).await.status_and_body(), used);
    let errors = json!({
        "email": ["This value is not valid."],
        "name": ["The property name is required"],
        "password": ["Must be at least 12 characters long"],
        "role": ["The property role is not defined and the definition does not allow additional properties"],
    });
    let wrong = json!({ "code": link.code, "email": "ada", "password": "short", "role": "admin" });
    assert_eq!(sign_in(&app, &wrong).await.status_and_body(), (400, errors));
    let reply = sign_in(&app, &body(&link.code)).await;
    assert_eq!((reply.status, &reply.json()["user"]["role"]), (200, &json!("admin")));
    assert_eq!(sign_in(&app, &body(&link.code)).await.status_and_body(), used);
    assert!(app.core.cms.sessions().new_set_up_link("http://localhost").unwrap().is_none());
}

/// The set-up link is not valid once a user exists, however the user was created.
#[tokio::test]
async fn set_up_link_ends_with_the_first_user() {
    let app = TestApp::new();
    let link = app.core.cms.sessions().new_set_up_link("http://localhost").unwrap().unwrap();
    create_user(&app, "ada@example.com", "viewer");
    let body =
        json!({ "code": link.code, "email": "b@example.com", "name": "B", "password": PASSWORD });
    let used = error("code", "This link has expired or was already used");
    assert_eq!(sign_in(&app, &body).await.status_and_body(), used);
    let (email, password) = ("x@example.com", PASSWORD);
    app.core.cms.sessions().create_first_admin(email, password).unwrap();
    assert_eq!(sign_in(&app, &credentials(email)).await.status, 401);
}

/// The server refuses requests of a page if another user has signed in in another tab of the browser.
#[tokio::test]
async fn request_in_the_name_of_another_user_is_refused() {
    let app = TestApp::new();
    create_user(&app, "ada@example.com", "editor");
    create_user(&app, "ben@example.com", "editor");
    let id = async |cookie: &str| {
        let headers = [("cookie", cookie)];
        let session = app.send("GET", "/api/v1/session", &headers, "").await.json();
        session["user"]["id"].as_str().unwrap().to_owned()
    };
    let (ada, ben) =
        (signed_in(&app, "ada@example.com").await, signed_in(&app, "ben@example.com").await);
    let (ada_id, ben_id) = (id(&ada).await, id(&ben).await);
    for (method, path, body) in [
        ("POST", "/api/v1/content/post", r#"{"title":"A"}"#),
        ("GET", "/api/v1/content/post/one", ""),
        ("GET", "/api/v1/changes", ""),
        ("DELETE", "/api/v1/session", ""),
    ] {
        let send = |user| {
            let headers = [OWN_PAGE, JSON, ("cookie", &*ben), ("x-cms-user", user)];
            let app = &app;
            async move {
                let reply = app.send(method, path, &headers, body).await;
                assert!(reply.status != 401 || reply.header("set-cookie").is_none());
                reply.status
            }
        };
        assert_eq!(send(&ada_id).await, 401, "{method} {path}");
        assert_eq!(send("").await, 401, "{method} {path}");
        assert!(matches!(send(&ben_id).await, 200 | 204), "{method} {path}");
    }
    // A key is not bound to a page.
    let key = app.key(CallerKind::ReadOnly).unwrap();
    let headers = [("x-auth-token", key), ("x-cms-user", &*ada_id)];
    assert_eq!(app.send("GET", "/api/v1/content/post/one", &headers, "").await.status, 200);
}

#[tokio::test]
async fn changes_by_cookie_need_a_page_of_this_server() {
    let app = TestApp::new();
    create_user(&app, "ada@example.com", "editor");
    let cookie = signed_in(&app, "ada@example.com").await;
    let refused = (403, json!({ "code": 403, "message": "Cross-site request refused" }));
    let post = "/api/v1/content/post";
    let site = |site| ("sec-fetch-site", site);
    let session = ("cookie", &*cookie);
    for (headers, is_allowed) in [
        (&[][..], false),
        (&[OWN_PAGE], true),
        (&[("x-cms-request", "0")], false),
        (&[OWN_PAGE, site("same-origin")], true),
        (&[OWN_PAGE, site("same-site")], false),
        (&[OWN_PAGE, site("cross-site")], false),
        (&[OWN_PAGE, site("none")], false),
        (&[site("same-origin")], false),
    ] {
        let headers = [headers, &[JSON, session]].concat();
        let body = r#"{"title":"A"}"#;
        let reply = app.send("POST", post, &headers, body).await;
        assert_eq!(reply.status == 200, is_allowed, "{headers:?}");
        if !is_allowed {
            assert_eq!(reply.status_and_body(), refused);
            // The origin is checked before the rest of the request.
            let unknown = app.send("PUT", "/api/v1/content/nothing/x", &headers, "{").await;
            assert_eq!(unknown.status_and_body(), refused);
            let graphql = app.send("POST", "/api/graphql", &headers, r#"{"query":"{a}"}"#).await;
            assert_eq!(graphql.status, 403);
            assert_eq!(graphql.json()["errors"][0]["extensions"]["code"], "FORBIDDEN");
        }
        assert_eq!(app.send("GET", post, &headers, "").await.status, 200);
        // Another site does not have the key, so a request with a key is allowed.
        let key = ("x-auth-token", app.key(CallerKind::ReadWrite).unwrap());
        let with_key = [&headers[..], &[key]].concat();
        assert_eq!(app.send("POST", post, &with_key, body).await.status, 200);
        // 401 and 405 come first.
        assert_eq!(app.send("PATCH", post, &headers, body).await.status, 405);
        let anonymous: Vec<_> =
            headers.iter().copied().filter(|(name, _)| *name != "cookie").collect();
        assert_eq!(app.send("POST", post, &anonymous, body).await.status, 401);
        // A sign-in needs no cookie.
        let sign_in = credentials("ada@example.com").to_string();
        let reply = app.send("POST", SESSION, &anonymous, sign_in).await;
        assert_eq!(reply.status == 200, is_allowed);
        let code = app.send("POST", "/api/v1/session/code", &anonymous, r#"{"code":"x"}"#).await;
        assert_eq!(code.status, if is_allowed { 400 } else { 403 });
    }
}

#[tokio::test]
async fn cookie_follows_the_scheme() {
    let url = |url: &str| ServerConfig { public_url: Some(url.to_owned()), ..Default::default() };
    let proxy = || ServerConfig { trust_proxy: true, ..Default::default() };
    let by_proxy = [("x-forwarded-proto", "https")];
    for (config, headers, is_https) in [
        (ServerConfig::default(), &[][..], false),
        (ServerConfig::default(), &by_proxy, false),
        (url("https://cms.example.com"), &[], true),
        (url("http://cms.example.com"), &by_proxy, false),
        (proxy(), &[], false),
        (proxy(), &by_proxy, true),
    ] {
        let app = TestApp::with(&config);
        create_user(&app, "ada@example.com", "editor");
        let headers = [headers, &[OWN_PAGE, JSON]].concat();
        let body = credentials("ada@example.com").to_string();
        let reply = app.send("POST", SESSION, &headers, body).await;
        let set = reply.header("set-cookie").unwrap();
        let name = if is_https { "__Host-cms_session" } else { "cms_session" };
        let value = set.split(['=', ';']).nth(1).unwrap();
        let secure = if is_https { "; Secure" } else { "" };
        let attributes = "HttpOnly; SameSite=Strict; Path=/; Max-Age=7776000";
        assert_eq!(set, format!("{name}={value}; {attributes}{secure}"));
        // Only the cookie name of the scheme is used.
        for other in ["cms_session", "__Host-cms_session"] {
            let cookie = format!("{other}={value}");
            let headers = [&headers[..], &[("cookie", &*cookie)]].concat();
            let status = app.send("GET", SESSION, &headers, "").await.status;
            assert_eq!(status == 200, other == name, "{other}");
            if status == 200 {
                let ended = app.send("DELETE", SESSION, &headers, "").await;
                let removal = format!("{}{secure}", removed(name));
                assert_eq!((ended.status, ended.header("set-cookie")), (204, Some(&*removal)));
            }
        }
    }
}

#[tokio::test]
async fn ended_session_is_refused_and_its_cookie_removed() {
    let app = TestApp::new();
    create_user(&app, "ada@example.com", "editor");
    let cookie = signed_in(&app, "ada@example.com").await;
    let removal = removed("cms_session");
    let post = "/api/v1/content/post";
    let end = async |cookie: &str| {
        let reply = send(&app, "DELETE", SESSION, cookie, &Value::Null).await;
        assert_eq!((reply.status, reply.header("set-cookie")), (204, Some(&*removal)));
    };
    end(&cookie).await;
    for (method, path) in [
        ("GET", post),
        ("POST", post),
        ("PATCH", post),
        ("GET", "/api/v1/changes"),
        ("GET", "/api/graphql?query=%7Ba%7D"),
        ("GET", SESSION),
    ] {
        let reply = send(&app, method, path, &cookie, &Value::Null).await;
        assert_eq!((reply.status, reply.header("set-cookie")), (401, Some(&*removal)), "{path}");
    }
    // Nothing to remove without a cookie.
    assert_eq!(send(&app, "GET", post, "", &Value::Null).await.header("set-cookie"), None);
    end(&cookie).await;
    end("").await;
    // A key is used instead of the cookie, even when the key is wrong.
    let other = signed_in(&app, "ada@example.com").await;
    let read_only = app.key(CallerKind::ReadOnly).unwrap();
    for (key, status) in [(read_only, 403), ("wrong", 401), ("", 401)] {
        let headers = [("cookie", &*other), ("x-auth-token", key), OWN_PAGE];
        let reply = app.send("DELETE", SESSION, &headers, "").await;
        assert_eq!((reply.status, reply.header("set-cookie")), (status, None), "{key}");
        let path = format!("{SESSION}?auth_token={key}");
        let reply = app.send("GET", &path, &[("cookie", &other)], "").await;
        assert_eq!((reply.status, reply.header("set-cookie")), (status, None), "{key}");
    }
    assert_eq!(send(&app, "GET", SESSION, &other, &Value::Null).await.status, 200);
}

#[tokio::test]
async fn session_ends_by_time() {
    let app = TestApp::new();
    create_user(&app, "ada@example.com", "editor");
    let get = async |cookie: &str| send(&app, "GET", SESSION, cookie, &Value::Null).await.status;
    let idle = signed_in(&app, "ada@example.com").await;
    let used = signed_in(&app, "ada@example.com").await;
    // Clean-ups record when sessions were used, and remove ended sessions.
    for _ in 0..8 {
        app.core.run_for(11 * DAY);
        assert_eq!(get(&used).await, 200);
    }
    assert_eq!(get(&idle).await, 401);
    app.core.run_for(2 * DAY);
    assert_eq!(get(&used).await, 401);
    let new = signed_in(&app, "ada@example.com").await;
    app.core.clock.advance(14 * DAY - 1);
    assert_eq!(get(&new).await, 200);
    app.core.clock.advance(14 * DAY);
    assert_eq!(get(&new).await, 401);
}

#[tokio::test]
async fn own_sessions_are_listed_and_ended() {
    let app = TestApp::new();
    create_user(&app, "ada@example.com", "viewer");
    create_user(&app, "ben@example.com", "viewer");
    let headers = [OWN_PAGE, JSON, ("user-agent", "Browser/1 \u{e9}")];
    let body = credentials("ada@example.com").to_string();
    let first = cookie(&app.send("POST", SESSION, &headers, body).await);
    app.wait_a_minute();
    let second = signed_in(&app, "ada@example.com").await;
    let ben = signed_in(&app, "ben@example.com").await;
    let all = "/api/v1/sessions";
    let list = async |cookie: &str| send(&app, "GET", all, cookie, &Value::Null).await.json();
    let mut listed = list(&second).await;
    let ids = [0, 1].map(|index: usize| listed["data"][index]["id"].take());
    let (start, later) = ("2026-01-02T03:04:05.000000+0000", "2026-01-02T03:05:05.000000+0000");
    let wanted = json!({
        "total_count": 2, "total_pages": 1, "current_page": 1, "count": 2,
        "data": [
            {
                "id": null, "current": true, "createdAt": later, "lastSeenAt": later,
                "expiresAt": "2026-01-16T03:05:05.000000+0000",
                "endsAt": "2026-04-02T03:05:05.000000+0000", "address": "", "userAgent": "",
            },
            {
                "id": null, "current": false, "createdAt": start, "lastSeenAt": start,
                "expiresAt": "2026-01-16T03:04:05.000000+0000",
                "endsAt": "2026-04-02T03:04:05.000000+0000", "address": "",
                "userAgent": "Browser/1 \u{e9}",
            },
        ],
    });
    assert_eq!(listed, wanted);
    // The session that was used last is first.
    app.wait_a_minute();
    assert_eq!(list(&first).await["data"][0]["id"], ids[1]);
    let one = format!("{all}/{}", ids[1].as_str().unwrap());
    assert_eq!(send(&app, "DELETE", &one, &ben, &Value::Null).await.status_and_body(), not_found());
    assert_eq!(
        send(&app, "DELETE", &one, &second, &Value::Null).await.status_and_body(),
        no_content()
    );
    assert_eq!(send(&app, "GET", SESSION, &first, &Value::Null).await.status, 401);
    assert_eq!(
        send(&app, "DELETE", &one, &second, &Value::Null).await.status_and_body(),
        not_found()
    );
    let third = signed_in(&app, "ada@example.com").await;
    assert_eq!(
        send(&app, "DELETE", all, &second, &Value::Null).await.status_and_body(),
        no_content()
    );
    assert_eq!(send(&app, "GET", SESSION, &third, &Value::Null).await.status, 401);
    assert_eq!(list(&second).await["total_count"], 1);
    assert_eq!(list(&ben).await["total_count"], 1);
    // An admin sees and ends them too.
    let user = list_user(&app, "ada").await;
    let sessions = format!("/api/v1/internal/user/{user}/session");
    let seen = app.get_as(CallerKind::Admin, &sessions).await.json();
    assert_eq!((&seen["total_count"], &seen["data"][0]["current"]), (&json!(1), &json!(false)));
    let ended = app.delete_as(CallerKind::Admin, &sessions).await;
    assert_eq!(ended.status_and_body(), no_content());
    assert_eq!(send(&app, "GET", SESSION, &second, &Value::Null).await.status, 401);
}

async fn list_user(app: &TestApp, q: &str) -> String {
    let path = format!("/api/v1/internal/user?q={q}");
    let list = app.get_as(CallerKind::Admin, &path).await.json();
    list["data"][0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn own_password_is_changed() {
    let app = TestApp::new();
    create_user(&app, "ada@example.com", "viewer");
    let (other, cookie) =
        (signed_in(&app, "ada@example.com").await, signed_in(&app, "ada@example.com").await);
    let change = async |current: &str, new: &str| {
        let body = json!({ "currentPassword": current, "newPassword": new });
        send(&app, "PUT", "/api/v1/session/password", &cookie, &body).await.status_and_body()
    };
    let errors = json!({
        "currentPassword": ["This value is not valid."],
        "newPassword": ["Must be at least 12 characters long"],
    });
    assert_eq!(change("wrong", "short").await, (400, errors));
    let common = error("newPassword", "This password is too common");
    assert_eq!(change(PASSWORD, "passwordpassword").await, common);
    let missing = send(&app, "PUT", "/api/v1/session/password", &cookie, &json!({ "x": 1 })).await;
    let undeclared =
        "The property x is not defined and the definition does not allow additional properties";
    let errors = json!({
        "currentPassword": ["The property currentPassword is required"],
        "newPassword": ["The property newPassword is required"],
        "x": [undeclared],
    });
    assert_eq!(missing.status_and_body(), (400, errors));
    assert_eq!(change(PASSWORD, "another password").await, no_content());
    assert_eq!(send(&app, "GET", SESSION, &other, &Value::Null).await.status, 401);
    assert_eq!(send(&app, "GET", SESSION, &cookie, &Value::Null).await.status, 200);
    assert_eq!(sign_in(&app, &credentials("ada@example.com")).await.status, 401);
    let without = CallerKind::User(Role::Viewer);
    let body = json!({ "currentPassword": "x", "newPassword": PASSWORD });
    let reply = app.send_as(without, "PUT", "/api/v1/session/password", &body).await;
    assert_eq!(reply.status_and_body(), refused("This user has no password"));
    let reply = app.send_as(CallerKind::Admin, "PUT", "/api/v1/session/password", &body).await;
    assert_eq!(reply.status_and_body(), forbidden());
}
