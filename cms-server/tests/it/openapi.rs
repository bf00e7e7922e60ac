//! The OpenAPI document over HTTP: parameters, permissions, and caching.

use cms_server::ServerConfig;
use serde_json::{Value, json};

use crate::support::{CallerKind, Reply, TestApp, error};

const DOCUMENT: &str = "/api/v1/open-api-schema.json";

async fn get(app: &TestApp, query: &str, headers: &[(&str, &str)]) -> Reply {
    let path = format!("{DOCUMENT}?{query}");
    app.get_with(headers, CallerKind::ReadOnly, &path).await
}

#[tokio::test]
async fn parameters_select_the_document() {
    let app = TestApp::new();
    let tags = "/components/schemas/_media/allOf/1/properties/tags/items/$ref";
    let table = [
        ("", "/openapi", json!("3.0.0")),
        ("version=3.1", "/openapi", json!("3.1.0")),
        ("version=2.0", "/swagger", json!("2.0")),
        ("hydrate=0", tags, json!("#/components/schemas/DataSource")),
        ("hydrate=1", tags, json!("#/components/schemas/_tag")),
        ("hydrate=9", tags, json!("#/components/schemas/_tag")),
        ("user_only=1", "/components/schemas/SearchResponse", Value::Null),
        ("user_only=0", "/components/schemas/SearchResponse/type", json!("object")),
    ];
    for (query, pointer, wanted) in table {
        let reply = get(&app, query, &[]).await;
        assert_eq!(reply.status, 200);
        let found = reply.json().pointer(pointer).cloned().unwrap_or_default();
        assert_eq!(found, wanted, "{query}");
    }
    let wrong = get(&app, "version=4", &[]).await;
    assert_eq!(wrong.status_and_body(), error("version", "This value is not valid."));
    let path = format!("{DOCUMENT}?auth_token={}&odd=1", app.key(CallerKind::Scoped).unwrap());
    let scoped = app.send("GET", &path, &[], "").await;
    assert_eq!(scoped.header("x-deprecated-query-params"), Some("odd"));
    assert!(scoped.json()["paths"].get("/api/v1/content/post").is_some());
    assert!(scoped.json()["paths"].get("/api/v1/content/author").is_none());
}

#[tokio::test]
async fn server_url_is_the_public_url_or_the_host() {
    let app = TestApp::new();
    let hosts = [("host", "a.example:81"), ("x-forwarded-proto", "https")];
    let server = |reply: Reply| reply.json()["servers"][0]["url"].clone();
    assert_eq!(server(get(&app, "", &hosts).await), "http://a.example:81");
    let two = get(&app, "version=2", &hosts).await.json();
    let found = [&two["host"], &two["basePath"], &two["schemes"][0]];
    assert_eq!(found, ["a.example:81", "/", "http"]);

    let trusting = TestApp::with(&ServerConfig { trust_proxy: true, ..ServerConfig::default() });
    assert_eq!(server(get(&trusting, "", &hosts).await), "https://a.example:81");
    let public_url = Some("https://cms.example/api".to_owned());
    let public = TestApp::with(&ServerConfig { public_url, ..ServerConfig::default() });
    assert_eq!(server(get(&public, "", &hosts).await), "https://cms.example/api");
    let two = get(&public, "version=2", &hosts).await.json();
    assert_eq!([&two["host"], &two["basePath"]], ["cms.example", "/api"]);
}

#[tokio::test]
async fn cached_document_returns_304() {
    let app = TestApp::new();
    let first = get(&app, "", &[]).await;
    let tag = first.header("etag").unwrap();
    let known = get(&app, "", &[("if-none-match", tag)]).await;
    assert_eq!((known.status, known.bytes.len(), known.header("etag")), (304, 0, Some(tag)));
    // Different bytes have different tags.
    let packed = get(&app, "", &[("if-none-match", tag), ("accept-encoding", "gzip")]).await;
    assert_eq!((packed.status, packed.header("content-encoding")), (200, Some("gzip")));
    assert_ne!(packed.header("etag"), Some(tag));
    let other = get(&app, "hydrate=1&version=3.1", &[("if-none-match", tag)]).await;
    assert_eq!(other.status, 200);
    app.create_type("fresh", &json!({}));
    let changed = get(&app, "", &[("if-none-match", tag)]).await;
    assert_eq!(changed.status, 200);
    assert!(changed.json()["paths"].get("/api/v1/content/fresh").is_some());
}
