//! Preview tokens over HTTP: what they read, what they refuse, and when they end.

use cms_core::{
    Caller,
    wire::{key::KeyKind, user::Role},
};
use cms_server::{ROUTES, ServerConfig};
use serde_json::{Value, json};

use crate::{
    coverage,
    support::{CallerKind, Reply, TestApp, definition, error, forbidden, malformed, unauthorized},
};

const PREVIEW: &str = "/api/v1/preview";

/// The routes that accept preview tokens.
const ALLOWED: [(&str, &str); 15] = [
    ("GET", "/api/auth-context"),
    ("GET", "/api/v1/internal/contenttype"),
    ("GET", "/api/v1/internal/contenttype/{name}"),
    ("GET", "/api/v1/content/{name}"),
    ("GET", "/api/v1/content/{name}/{id}"),
    ("GET", "/api/v1/content/{name}/{id}/incoming"),
    ("GET", "/api/v1/workflow"),
    ("GET", "/api/v1/search"),
    ("GET", "/api/v1/changes"),
    ("GET", "/api/graphql"),
    ("POST", "/api/graphql"),
    ("GET", "/api/graphql/schema"),
    ("GET", "/api/v2/graphql"),
    ("POST", "/api/v2/graphql"),
    ("GET", "/api/v2/graphql/schema"),
];

async fn create(app: &TestApp, caller: CallerKind, content_type: &str, id: &str) -> Reply {
    let body = json!({ "contentType": content_type, "id": id });
    app.send_as(caller, "POST", PREVIEW, &body).await
}

async fn token_of(app: &TestApp, caller: CallerKind) -> String {
    let reply = create(app, caller, "post", "one").await;
    assert_eq!(reply.status, 200);
    reply.json()["token"].as_str().unwrap().to_owned()
}

async fn get(app: &TestApp, token: &str, path: &str) -> Reply {
    app.send("GET", path, &[("x-auth-token", token)], "").await
}

/// Creates a Draft & Public type with this preview URL, and its draft `a`.
async fn create_draft(app: &TestApp, url: &str) {
    app.create_type("page", &json!({ "draftPublic": true }));
    let page = "/api/v1/internal/contenttype/page";
    let mut definition = app.get(page).await.json();
    definition["metaDefinition"]["admin"] = json!({ "previewUrl": url });
    assert_eq!(app.request("PUT", page, &definition).await.status, 200);
    app.create("page", &json!({ "id": "a", "title": "A b/c", "price": 2.5 })).await;
}

#[tokio::test]
async fn token_reads_drafts_for_an_hour() {
    let app = TestApp::new();
    create_draft(&app, "").await;
    let reply = create(&app, CallerKind::ReadWrite, "page", "A").await;
    let created = reply.json();
    let token = created["token"].as_str().unwrap().to_owned();
    assert!(token.starts_with("pv_") && token.len() == 46, "{token}");
    let expected = json!({
        "token": token, "url": null, "embeddable": false,
        "expiresAt": "2026-01-02T04:04:05.000000+0000",
    });
    assert_eq!(reply.status_and_body(), (200, expected));

    let pages = "/api/v1/content/page";
    assert_eq!(app.get(pages).await.json()["total_count"], 0, "a key needs X-MODE");
    assert_eq!(get(&app, &token, pages).await.json()["total_count"], 1);
    let by_query = app.send("GET", &format!("{pages}?auth_token={token}"), &[], "").await;
    assert_eq!(by_query.json()["data"][0]["id"], "a");
    let public = [("x-auth-token", token.as_str()), ("x-visibility", "public")];
    assert_eq!(app.send("GET", pages, &public, "").await.json()["total_count"], 0);
    let found = get(&app, &token, "/api/v1/search?q=*&content_type[]=page").await.json();
    assert_eq!(found["total_count"], 1);
    let context = get(&app, &token, "/api/auth-context").await.json();
    assert_eq!(
        (&context["apiKey"], &context["user"]["username"]),
        (&Value::Null, &json!("read-write"))
    );

    // The front end that has the token does not learn who the user is.
    let by_user = create(&app, CallerKind::User(Role::Editor), "page", "A").await.json();
    let by_user = by_user["token"].as_str().unwrap();
    let context = get(&app, by_user, "/api/auth-context").await.json();
    assert_eq!(context["by"], json!({ "kind": "user", "id": null, "name": "" }));
    let user = &context["user"];
    assert_eq!((&user["username"], user.get("email")), (&json!(""), None), "{user}");
    assert_eq!(user["role"], "editor");

    app.core.clock.advance(3599);
    assert_eq!(get(&app, &token, pages).await.status, 200);
    app.core.clock.advance(1);
    assert_eq!(get(&app, &token, pages).await.status_and_body(), unauthorized());
    app.core.cms.clean_up().unwrap();
    assert_eq!(get(&app, &token, pages).await.status_and_body(), unauthorized());
}

#[tokio::test]
async fn token_has_the_rights_of_its_creator_at_the_time() {
    let app = TestApp::new();
    let key = app.core.create_key("site", KeyKind::Scoped, &[("post", "r")]);
    let headers = [("x-auth-token", key.key.as_str()), ("content-type", "application/json")];
    let create = async |content_type: &str| {
        let body = json!({ "contentType": content_type, "id": "one" }).to_string();
        app.send("POST", PREVIEW, &headers, body).await
    };
    assert_eq!(create("author").await.status_and_body(), forbidden());
    let token = create("post").await.json()["token"].as_str().unwrap().to_owned();
    let [posts, authors] = ["/api/v1/content/post", "/api/v1/content/author"];
    assert_eq!(get(&app, &token, posts).await.status, 200);
    assert_eq!(get(&app, &token, authors).await.status_and_body(), forbidden());
    let path = format!("/api/v1/internal/key/{}", key.item.id);
    let rules = json!({ "rules": [{ "ctd": "author", "read": true }] });
    let changed = app.send_as(CallerKind::Admin, "PUT", &path, &rules).await;
    assert_eq!(changed.status, 200, "{:?}", changed.json());
    assert_eq!(get(&app, &token, posts).await.status_and_body(), forbidden());
    assert_eq!(get(&app, &token, authors).await.status, 200);
    app.delete_as(CallerKind::Admin, &path).await;
    assert_eq!(get(&app, &token, authors).await.status_and_body(), unauthorized());
}

/// Every route except the listed ones refuses preview tokens, even those of an admin key.
#[tokio::test]
async fn token_is_accepted_by_the_listed_routes_only() {
    // An app accepts a limited number of jobs, which each preparation creates.
    for rows in coverage::rows().chunks(10) {
        let app = TestApp::new();
        let token = token_of(&app, CallerKind::Admin).await;
        for row in rows {
            let path = coverage::prepare(&app, row.path);
            let mut headers = vec![("x-auth-token", token.as_str()), ("x-cms-request", "1")];
            let body = if row.body.is_null() { String::new() } else { row.body.to_string() };
            if !body.is_empty() {
                headers.push(("content-type", "application/json"));
            }
            let status = app.send(row.method, &path, &headers, body).await.status;
            let is_unauthenticated = ROUTES.iter().any(|route| {
                route.is_unauthenticated() && route.path == row.route && route.method == row.method
            });
            if ALLOWED.contains(&(row.method, row.route)) {
                assert_eq!(status, 200, "{} {}", row.method, row.route);
            } else if !is_unauthenticated {
                assert_eq!(status, 403, "{} {}", row.method, row.route);
            }
        }
    }
}

#[tokio::test]
async fn token_needs_a_caller_that_may_write() {
    let app = TestApp::new();
    assert_eq!(
        create(&app, CallerKind::ReadOnly, "post", "one").await.status_and_body(),
        forbidden()
    );
    assert_eq!(
        create(&app, CallerKind::Stranger, "post", "one").await.status_and_body(),
        forbidden()
    );
    let missing = "This value does not exist in database";
    let unknown = create(&app, CallerKind::ReadWrite, "nothing", "one").await;
    assert_eq!(unknown.status_and_body(), error("contentType", missing));
    let unknown = create(&app, CallerKind::ReadWrite, "post", "two").await;
    assert_eq!(unknown.status_and_body(), error("id", missing));
    let post = async |body: Value| app.request("POST", PREVIEW, &body).await.status_and_body();
    let required = "The property id is required";
    assert_eq!(post(json!({ "contentType": "post" })).await, error("id", required));
    assert_eq!(post(json!([])).await, malformed());
    for token in ["pv_", "pv_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"] {
        assert_eq!(
            get(&app, token, "/api/v1/content/post").await.status_and_body(),
            unauthorized()
        );
    }
}

#[tokio::test]
async fn oldest_token_ends_when_the_101st_is_created() {
    let app = TestApp::new();
    let mut tokens = Vec::new();
    for _ in 0..100 {
        tokens.push(token_of(&app, CallerKind::ReadWrite).await);
    }
    let other = token_of(&app, CallerKind::Admin).await;
    assert_eq!(get(&app, &tokens[0], "/api/v1/content/post").await.status, 200);
    tokens.push(token_of(&app, CallerKind::ReadWrite).await);
    for (index, token) in tokens.iter().chain([&other]).enumerate() {
        let expected = if index == 0 { 401 } else { 200 };
        assert_eq!(get(&app, token, "/api/v1/content/post").await.status, expected, "{index}");
    }
}

#[tokio::test]
async fn preview_url_is_filled_in() {
    let config = ServerConfig {
        public_url: Some("https://cms.example.com/base".to_owned()),
        ..ServerConfig::default()
    };
    let app = TestApp::with(&config);
    for (template, expected, embeddable) in [
        ("/p/{id}/{title}", "https://cms.example.com/base/p/a/A%20b%2Fc", true),
        ("https://cms.example.com/{price}{related}", "https://cms.example.com/2.5", true),
        ("https://www.example.com/{id}", "https://www.example.com/a", false),
    ] {
        create_draft(&app, template).await;
        let preview = create(&app, CallerKind::ReadWrite, "page", "a").await.json();
        assert_eq!(preview["url"], expected);
        assert_eq!(preview["embeddable"], embeddable, "{template}");
        app.core.cms.types().purge(&Caller::local(), "page", true).unwrap();
    }
    create_draft(&app, "http://localhost:3000/?t={token}").await;
    let preview = create(&app, CallerKind::ReadWrite, "page", "a").await.json();
    let token = preview["token"].as_str().unwrap();
    assert_eq!(preview["url"], format!("http://localhost:3000/?t={token}"));
}

#[tokio::test]
async fn preview_url_is_validated_on_type_writes() {
    let app = TestApp::new();
    let mut definition = definition("page");
    for (url, is_valid) in [
        (json!(""), true),
        (json!("/preview"), true),
        (json!("https://{title}.example.com/"), false),
        (json!("//example.com/"), false),
        (json!("ftp://example.com/"), false),
        (Value::Null, false),
        (json!(1), false),
    ] {
        definition["metaDefinition"]["admin"] = json!({ "previewUrl": url });
        let types = "/api/v1/internal/contenttype";
        let reply = app.request("POST", types, &definition.clone().into()).await;
        if is_valid {
            assert_eq!(reply.status, 200, "{url}");
            app.core.cms.types().delete(&Caller::local(), "page").unwrap();
        } else {
            let path = "metaDefinition.admin.previewUrl";
            assert_eq!(reply.status_and_body(), error(path, "This value is not valid."), "{url}");
        }
    }
}
