//! Sign-in by OpenID Connect, with an issuer that also sends invalid responses.

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use cms_core::{
    Caller, OpenIdRules,
    wire::user::{Role, UserListRequest},
};
use cms_server::{OpenIdConfig, ServerConfig};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use crate::{
    issuer::Issuer,
    support::{Reply, TestApp, object},
};

const START: &str = "/api/v1/session/openid";
const OWN_PAGE: (&str, &str) = ("x-cms-request", "1");

/// An app whose users sign in at an issuer.
struct OpenIdApp {
    app: TestApp,
    issuer: Issuer,
}

/// Changes the claims of a token.
type Change = fn(&mut Value);

/// A sign-in that has begun.
struct Started {
    cookie: String,
    /// The parameters of the URL of the issuer.
    sent: BTreeMap<String, String>,
}

impl OpenIdApp {
    async fn new(rules: OpenIdRules) -> Self {
        let issuer = Issuer::start().await;
        let app = TestApp::with(&config(&issuer.url, rules));
        Self { app, issuer }
    }

    /// An app whose issuer has one user, who has a password.
    async fn with_user(email: &str, role: &str) -> Self {
        let openid = Self::new(OpenIdRules::default()).await;
        openid.create_user(email, role, true);
        openid
    }

    fn create_user(&self, email: &str, role: &str, has_password: bool) -> String {
        let mut new = json!({ "email": email, "name": "Ada Moor", "role": role });
        if has_password {
            new["password"] = json!("a good password");
        }
        let users = self.app.core.cms.users();
        users.create(&Caller::local(), &object(&new), "http://x").unwrap().user.id
    }

    async fn start(&self, query: &str) -> Started {
        let reply = self.app.send("GET", &format!("{START}{query}"), &[], "").await;
        assert_eq!(reply.status, 302);
        let (url, query) = reply.header("location").unwrap().split_once('?').unwrap();
        assert_eq!(url, format!("{}/authorize", self.issuer.url));
        let decoded = |text: &str| percent_decode_str(text).decode_utf8().unwrap().into_owned();
        let sent = query.split('&').map(|pair| pair.split_once('=').unwrap());
        let sent = sent.map(|(name, value)| (name.to_owned(), decoded(value))).collect();
        let set = reply.header("set-cookie").unwrap();
        Started { cookie: set.split(';').next().unwrap().to_owned(), sent }
    }

    /// The claims of a valid token for a sign-in.
    fn claims(&self, started: &Started) -> Value {
        let now = self.app.core.cms.config().clock.now().seconds();
        json!({
            "iss": self.issuer.url, "aud": "cms", "sub": "person-1", "nonce": started.sent["nonce"],
            "iat": now, "exp": now + 60, "email": "ada@example.com", "email_verified": true,
        })
    }

    async fn callback(&self, started: &Started, query: &str) -> Reply {
        let path = format!("{START}/callback?state={}{query}", started.sent["state"]);
        self.app.send("GET", &path, &[("cookie", &started.cookie)], "").await
    }

    /// Signs in with changed claims; returns where the browser goes.
    async fn sign_in(&self, change: impl FnOnce(&mut Value)) -> String {
        let started = self.start("").await;
        let mut claims = self.claims(&started);
        change(&mut claims);
        self.issuer.respond_with(&self.issuer.sign(&claims));
        location(&self.callback(&started, "&code=c").await)
    }

    fn user(&self, id: &str) -> Value {
        json!(self.app.core.cms.users().get(&Caller::local(), id).unwrap())
    }
}

pub(crate) fn config(issuer: &str, rules: OpenIdRules) -> ServerConfig {
    let openid = OpenIdConfig {
        issuer: issuer.to_owned(),
        client_id: "cms".to_owned(),
        client_secret: Some("a secret".to_owned()),
        label: "Example SSO".to_owned(),
        rules,
    };
    ServerConfig { openid: Some(openid), ..ServerConfig::default() }
}

fn location(reply: &Reply) -> String {
    assert_eq!((reply.status, reply.bytes.len()), (302, 0));
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    reply.header("location").unwrap().to_owned()
}

fn error(name: &str) -> String {
    format!("/admin/sign-in#error={name}")
}

#[tokio::test]
async fn openid_is_not_found_unless_it_is_configured() {
    let app = TestApp::new();
    for path in [START, "/api/v1/session/openid/callback?code=c&state=s"] {
        let reply = app.send("GET", path, &[], "").await;
        assert_eq!(reply.status_and_body(), (404, json!({ "code": 404, "message": "Not found" })));
    }
    let app = TestApp::with(&config("https://id.example.com", OpenIdRules::default()));
    let openid = json!({ "label": "Example SSO", "url": "/api/v1/session/openid" });
    assert_eq!(
        app.send("GET", "/api/v1/session/methods", &[], "").await.status_and_body(),
        (200, json!({ "password": true, "openId": openid, "setup": true }))
    );
}

#[tokio::test]
async fn start_redirects_to_the_issuer_with_state_nonce_and_pkce() {
    let openid = OpenIdApp::new(OpenIdRules::default()).await;
    let reply = openid.app.send("GET", START, &[("host", "cms.test:81")], "").await;
    let cookie = reply.header("set-cookie").unwrap();
    let (value, attributes) = cookie.split_once(';').unwrap();
    assert_eq!(attributes, " HttpOnly; SameSite=Lax; Path=/; Max-Age=600");
    assert_eq!(value.strip_prefix("cms_openid=").map(str::len), Some(43));
    let started = openid.start("").await;
    let mut sent = started.sent;
    for name in ["state", "nonce", "code_challenge"] {
        assert_eq!(sent.remove(name).map(|value| value.len()), Some(43), "{name}");
    }
    let wanted = [
        ("client_id", "cms"),
        ("code_challenge_method", "S256"),
        ("redirect_uri", "http://localhost/api/v1/session/openid/callback"),
        ("response_type", "code"),
        ("scope", "openid email profile"),
    ];
    let sent: Vec<_> = sent.iter().map(|(name, value)| (&**name, &**value)).collect();
    let sent: Vec<_> =
        sent.into_iter().map(|(name, value)| (name, value.replace('+', " "))).collect();
    assert_eq!(sent, wanted.map(|(name, value)| (name, value.to_owned())));
    assert_eq!(openid.issuer.discoveries(), 1, "the discovery document is cached");
}

#[tokio::test]
async fn sign_in_links_the_user_and_opens_a_session() {
    let openid = OpenIdApp::with_user("Ada@example.com", "editor").await;
    let started = openid.start("?return=/admin/post%3Fa%3D%C3%A4%0Ab%23c").await;
    openid.issuer.respond_with(&openid.issuer.sign(&openid.claims(&started)));
    let reply = openid.callback(&started, "&code=c").await;
    assert_eq!(location(&reply), "/admin/post?a=%C3%A4%0Ab#c");
    let cookies: Vec<_> =
        reply.headers.get_all("set-cookie").iter().map(|value| value.to_str().unwrap()).collect();
    let [session, removal] = cookies[..] else { panic!("{cookies:?}") };
    assert_eq!(removal, "cms_openid=; HttpOnly; SameSite=Lax; Path=/; Max-Age=0");
    let (session, attributes) = session.split_once(';').unwrap();
    assert_eq!(attributes, " HttpOnly; SameSite=Strict; Path=/; Max-Age=7776000");
    let current =
        openid.app.send("GET", "/api/v1/session", &[("cookie", session)], "").await.json();
    assert_eq!(current["user"]["email"], "Ada@example.com");
    let id = current["user"]["id"].as_str().unwrap();
    assert_eq!(openid.user(id)["openId"], true);

    // The link identifies the user, whatever the e-mail address.
    assert_eq!(
        openid.sign_in(|claims| claims["email"] = json!("moor@example.com")).await,
        "/admin"
    );
    assert_eq!(openid.sign_in(|claims| claims["sub"] = json!("person-2")).await, "/admin");
    // Passwords keep working.
    let body = json!({ "email": "ada@example.com", "password": "a good password" }).to_string();
    let headers = [OWN_PAGE, ("content-type", "application/json")];
    assert_eq!(openid.app.send("POST", "/api/v1/session", &headers, body).await.status, 200);
}

#[tokio::test]
async fn cookie_over_https_has_the_host_prefix() {
    let issuer = Issuer::start().await;
    let config = ServerConfig {
        public_url: Some("https://cms.example.com".to_owned()),
        ..config(&issuer.url, OpenIdRules::default())
    };
    let openid = OpenIdApp { app: TestApp::with(&config), issuer };
    let started = openid.start("").await;
    assert!(started.cookie.starts_with("__Host-cms_openid="));
    let callback = "https://cms.example.com/api/v1/session/openid/callback";
    assert_eq!(started.sent["redirect_uri"], callback);
}

#[tokio::test]
async fn id_token_is_verified() {
    let openid = OpenIdApp::with_user("ada@example.com", "editor").await;
    let changes: [(&str, Change); 10] = [
        ("issuer", |claims| claims["iss"] = json!("https://id.example.com")),
        ("audience", |claims| claims["aud"] = json!("another")),
        ("further audience", |claims| claims["aud"] = json!(["cms", "another"])),
        ("token of another client", |claims| {
            claims["aud"] = json!(["cms", "another"]);
            claims["azp"] = json!("another");
        }),
        ("nonce", |claims| claims["nonce"] = json!("another")),
        ("no nonce", |claims| drop(claims.as_object_mut().unwrap().remove("nonce"))),
        ("expired", |claims| claims["exp"] = claims["iat"].clone()),
        ("no expiry", |claims| drop(claims.as_object_mut().unwrap().remove("exp"))),
        ("empty subject", |claims| claims["sub"] = json!("")),
        ("no subject", |claims| drop(claims.as_object_mut().unwrap().remove("sub"))),
    ];
    for (name, change) in changes {
        assert_eq!(openid.sign_in(change).await, error("openid_token"), "{name}");
    }
    let started = openid.start("").await;
    let claims = openid.claims(&started);
    let signed = openid.issuer.sign(&claims);
    let (text, signature) = signed.rsplit_once('.').unwrap();
    let payload = URL_SAFE_NO_PAD.encode(claims.to_string());
    let header = |header: Value| URL_SAFE_NO_PAD.encode(header.to_string());
    let other = openid.issuer.sign(&json!({ "sub": "person-2" }));
    for (name, token) in [
        ("no signature", format!("{}.{payload}.", header(json!({ "alg": "none" })))),
        ("removed signature", format!("{text}.")),
        ("signature of another token", format!("{text}.{}", other.rsplit('.').next().unwrap())),
        (
            "claims of another token",
            format!("{}.{payload}.{signature}", header(json!({ "alg": "HS256" }))),
        ),
        ("no token", "x".to_owned()),
    ] {
        let started = openid.start("").await;
        let token =
            token.replace(&payload, &URL_SAFE_NO_PAD.encode(openid.claims(&started).to_string()));
        openid.issuer.respond_with(&token);
        let reply = openid.callback(&started, "&code=c").await;
        assert_eq!(location(&reply), error("openid_token"), "{name}");
        assert!(reply.header("set-cookie").is_none(), "{name}");
    }
    let started = openid.start("").await;
    let body = json!({ "access_token": "a", "token_type": "Bearer" });
    openid.issuer.respond(Some((200, body)));
    assert_eq!(location(&openid.callback(&started, "&code=c").await), error("openid_token"));
    assert_eq!(openid.sign_in(|_| {}).await, "/admin");
    let is_for_several = |claims: &mut Value| {
        claims["aud"] = json!(["another", "cms"]);
        claims["azp"] = json!("cms");
    };
    assert_eq!(openid.sign_in(is_for_several).await, "/admin");
}

#[tokio::test]
async fn state_belongs_to_one_browser_for_ten_minutes_and_is_used_once() {
    let openid = OpenIdApp::with_user("ada@example.com", "editor").await;
    let (started, other) = (openid.start("").await, openid.start("").await);
    openid.issuer.respond_with(&openid.issuer.sign(&openid.claims(&started)));
    let state = error("openid_state");
    let in_other = Started { cookie: other.cookie.clone(), sent: started.sent.clone() };
    assert_eq!(location(&openid.callback(&in_other, "&code=c").await), state, "another browser");
    let without = Started { cookie: "x=1".to_owned(), sent: started.sent.clone() };
    assert_eq!(location(&openid.callback(&without, "&code=c").await), state, "no cookie");
    let path = format!("{START}/callback?code=c");
    let reply = openid.app.send("GET", &path, &[("cookie", &started.cookie)], "").await;
    assert_eq!(location(&reply), state, "no state");

    assert_eq!(location(&openid.callback(&started, "&code=c").await), "/admin");
    assert_eq!(location(&openid.callback(&started, "&code=c").await), state, "used");

    openid.app.core.clock.advance(600);
    assert_eq!(location(&openid.callback(&other, "&code=c").await), state, "expired");
    let started = openid.start("").await;
    openid.app.core.clock.advance(599);
    openid.issuer.respond_with(&openid.issuer.sign(&openid.claims(&started)));
    assert_eq!(location(&openid.callback(&started, "&code=c").await), "/admin");
}

#[tokio::test]
async fn errors_of_the_issuer_are_shown() {
    let openid = OpenIdApp::with_user("ada@example.com", "editor").await;
    let started = openid.start("").await;
    let denied = "&error=access_denied&error_description=no";
    assert_eq!(location(&openid.callback(&started, denied).await), error("openid_denied"));
    let reply = openid.callback(&started, "&code=c").await;
    assert_eq!(location(&reply), error("openid_state"), "the state was used");
    for (status, body) in
        [(400, json!({ "error": "invalid_grant" })), (500, json!("oops")), (200, json!([]))]
    {
        let started = openid.start("").await;
        openid.issuer.respond(Some((status, body)));
        let reply = openid.callback(&started, "&code=c").await;
        assert_eq!(location(&reply), error("openid_unavailable"), "{status}");
    }
    let reply = openid.callback(&openid.start("").await, "").await;
    assert_eq!(location(&reply), error("openid_unavailable"), "no code");
}

#[tokio::test]
async fn issuer_that_does_not_respond_is_unavailable() {
    let app = TestApp::with(&config("http://127.0.0.1:9", OpenIdRules::default()));
    let reply = app.send("GET", START, &[], "").await;
    assert_eq!(location(&reply), error("openid_unavailable"));
    assert!(reply.header("set-cookie").is_none());

    let openid = OpenIdApp::with_user("ada@example.com", "editor").await;
    let started = openid.start("").await;
    openid.issuer.respond(None);
    // The clock jumps to the timeout when nothing else happens.
    tokio::time::pause();
    assert_eq!(location(&openid.callback(&started, "&code=c").await), error("openid_unavailable"));
    tokio::time::resume();

    let issuer = Issuer::start().await;
    let app = TestApp::with(&config(&format!("{}/", issuer.url), OpenIdRules::default()));
    let reply = app.send("GET", START, &[], "").await;
    assert_eq!(location(&reply), error("openid_unavailable"), "the document names another issuer");
}

#[tokio::test]
async fn new_keys_of_the_issuer_are_read() {
    let openid = OpenIdApp::with_user("ada@example.com", "editor").await;
    assert_eq!(openid.sign_in(|_| {}).await, "/admin");
    openid.issuer.rotate_key("second");
    tokio::time::pause();
    tokio::time::advance(std::time::Duration::from_secs(11)).await;
    tokio::time::resume();
    assert_eq!(openid.sign_in(|_| {}).await, "/admin");
    assert_eq!(openid.issuer.discoveries(), 2);
    tokio::time::pause();
    tokio::time::advance(std::time::Duration::from_hours(1)).await;
    tokio::time::resume();
    assert_eq!(openid.sign_in(|_| {}).await, "/admin");
    assert_eq!(openid.issuer.discoveries(), 3);
}

#[tokio::test]
async fn person_without_a_user_or_an_email_address_is_refused() {
    let rules =
        OpenIdRules { allowed_domains: vec!["example.com".to_owned()], ..Default::default() };
    let openid = OpenIdApp::new(rules).await;
    let id = openid.create_user("ada@example.com", "editor", true);
    assert_eq!(openid.sign_in(|c| c["email_verified"] = json!(false)).await, error("openid_email"));
    assert_eq!(openid.sign_in(|c| c["email"] = json!(null)).await, error("openid_email"));
    assert_eq!(
        openid.sign_in(|c| c["email"] = json!("ada@example.org")).await,
        error("openid_domain")
    );
    assert_eq!(
        openid.sign_in(|c| c["email"] = json!("ben@example.com")).await,
        error("openid_user")
    );
    assert_eq!(openid.user(&id)["openId"], false);
    let disabled = object(&json!({ "disabled": true }));
    openid.app.core.cms.users().update(&Caller::local(), &id, &disabled).unwrap();
    assert_eq!(openid.sign_in(|_| {}).await, error("openid_disabled"));
    assert_eq!(openid.user(&id)["openId"], false);
}

#[tokio::test]
async fn new_users_get_the_mapped_role() {
    let rules = OpenIdRules {
        default_role: Some(Role::Viewer),
        role_claim: Some("access.roles".to_owned()),
        role_map: vec![("chiefs".to_owned(), Role::Admin), ("desk".to_owned(), Role::Editor)],
        ..Default::default()
    };
    let openid = OpenIdApp::new(rules).await;
    let roles =
        |roles: Value| move |claims: &mut Value| claims["access"] = json!({ "roles": roles });
    let shown = || {
        let users = openid.app.core.cms.users();
        let users = json!(users.list(&Caller::local(), &UserListRequest::default()).unwrap().data);
        let user = &users[0];
        json!([user["email"], user["name"], user["role"], user["rules"], user["hasPassword"]])
    };
    assert_eq!(openid.sign_in(roles(json!(["others"]))).await, "/admin");
    assert_eq!(shown(), json!(["ada@example.com", "ada", "viewer", [], false]));
    assert_eq!(openid.sign_in(roles(json!(["desk"]))).await, "/admin");
    assert_eq!(shown(), json!(["ada@example.com", "ada", "editor", [], false]));
    // Without a match the role stays.
    assert_eq!(openid.sign_in(roles(json!([]))).await, "/admin");
    assert_eq!(shown(), json!(["ada@example.com", "ada", "editor", [], false]));
    assert_eq!(openid.sign_in(roles(json!(["desk", "chiefs"]))).await, "/admin");
    assert_eq!(shown(), json!(["ada@example.com", "ada", "admin", [], false]));
    // The last admin keeps the role.
    assert_eq!(openid.sign_in(roles(json!(["desk"]))).await, "/admin");
    assert_eq!(shown(), json!(["ada@example.com", "ada", "admin", [], false]));
    openid.create_user("ben@example.com", "admin", true);
    assert_eq!(openid.sign_in(roles(json!(["desk"]))).await, "/admin");
    assert_eq!(shown(), json!(["ada@example.com", "ada", "editor", [], false]));
}
