//! Who sees what of webhooks.

use serde_json::{Value, json};

use crate::support::{TestApp, Who, object};

/// Whatever might tell of a webhook.
const QUESTIONS: [(&str, &str); 20] = [
    ("GET", "/api/v1/content/_webhooks"),
    ("GET", "/api/v1/content/_webhooks/hook"),
    ("GET", "/api/v1/content/_webhooks/hook/version"),
    ("GET", "/api/v1/content/_webhooks/hook/version/1"),
    ("GET", "/api/v1/content/_webhooks/removed"),
    ("GET", "/api/v1/workflow/_webhooks/hook"),
    ("GET", "/api/v1/search?q=*"),
    ("GET", "/api/v1/search?q=bearer"),
    ("GET", "/api/v1/search?q=*&content_type[]=_webhooks"),
    ("GET", "/api/v1/changes?since=0"),
    ("GET", "/api/v1/internal/contenttype?internal=1"),
    ("GET", "/api/v1/internal/contenttype/_webhooks"),
    ("GET", "/api/v1/internal/webhook"),
    ("GET", "/api/v1/internal/webhook/hook/log"),
    ("POST", "/api/v1/internal/webhook/hook/replay"),
    ("POST", "/api/v1/internal/webhook/hook/test"),
    ("GET", "/api/graphql/schema"),
    ("GET", "/api/v2/graphql/schema"),
    ("GET", "/api/v1/open-api-schema.json"),
    ("GET", "/api/v1/content/post?hydrate=2"),
];

/// Everything that a caller gets to see.
async fn answers(app: &TestApp, who: Who) -> String {
    let mut seen = String::new();
    for (method, path) in QUESTIONS {
        let reply = app.ask(who, method, path, &Value::Null).await;
        seen.push_str(&String::from_utf8_lossy(&reply.bytes));
    }
    let query = json!({ "query": "{ _webhooks(id: \"hook\") { url } }" });
    let reply = app.ask(who, "POST", "/api/graphql", &query).await;
    seen + &String::from_utf8_lossy(&reply.bytes)
}

#[tokio::test]
async fn secrets_are_seen_by_those_who_may() {
    let app = TestApp::new();
    let hook = json!({
        "id": "hook", "name": "Hook", "url": "https://example.com/zebra", "type": "async",
        "content_type_definitions": [], "actions": [{ "action": "Create" }],
        "headers": [{ "header_name": "Authorization", "header_value": "Bearer zebra" }],
    });
    let cms = &app.core.cms;
    let local = cms_core::Caller::local();
    cms.objects().create(&local, "_webhooks", object(&hook)).unwrap();
    for who in Who::ALL {
        let seen = answers(&app, who).await;
        let may_read = matches!(who, Who::ReadOnly | Who::ReadWrite | Who::Admin);
        assert_eq!(seen.contains("zebra"), may_read, "{who:?}: {seen}");
        assert_eq!(seen.contains("header_value"), may_read, "{who:?}: {seen}");
        // What requests are signed with is nobody's but the administrator's.
        assert_eq!(seen.contains("whsec_"), who == Who::Admin, "{who:?}: {seen}");
    }
}
