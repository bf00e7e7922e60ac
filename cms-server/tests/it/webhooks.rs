//! Visibility of webhooks.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::support::{CallerKind, TestApp, error, linking_definition, links, object};

/// Requests that could reveal a webhook.
const REQUESTS: [(&str, &str); 20] = [
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

/// The concatenated responses to a caller.
async fn responses(app: &TestApp, caller: CallerKind) -> String {
    let mut seen = String::new();
    for (method, path) in REQUESTS {
        let reply = app.send_as(caller, method, path, &Value::Null).await;
        seen.push_str(&String::from_utf8_lossy(&reply.bytes));
    }
    let query = json!({ "query": "{ _webhooks(id: \"hook\") { url headers { header_name header_value } } }" });
    let reply = app.send_as(caller, "POST", "/api/graphql", &query).await;
    seen + &String::from_utf8_lossy(&reply.bytes)
}

#[tokio::test]
async fn secret_is_visible_with_update_permission() {
    let app = TestApp::new();
    let hook = json!({
        "id": "hook", "name": "Hook", "url": "https://example.com/hook", "type": "async",
        "content_type_definitions": [], "actions": [{ "action": "Create" }],
        "headers": [{ "header_name": "Authorization", "header_value": "Bearer zebra" }],
    });
    let cms = &app.core.cms;
    let local = cms_core::Caller::local();
    cms.objects().create(&local, "_webhooks", object(&hook)).unwrap();
    cms.types().update(&local, "post", linking_definition("post")).unwrap();
    let post = json!({ "id": "two", "title": "Two", "related": links(&["_webhooks/hook"]) });
    cms.objects().create(&local, "post", object(&post)).unwrap();
    for caller in CallerKind::ALL {
        let seen = responses(&app, caller).await;
        let may_read =
            matches!(caller, CallerKind::ReadOnly | CallerKind::ReadWrite | CallerKind::Admin);
        assert_eq!(seen.contains("example.com"), may_read, "{caller:?}: {seen}");
        assert_eq!(seen.contains("header_value"), may_read, "{caller:?}: {seen}");
        let may_write = matches!(caller, CallerKind::ReadWrite | CallerKind::Admin);
        assert_eq!(seen.contains("zebra"), may_write, "{caller:?}: {seen}");
        assert_eq!(seen.contains("********"), caller == CallerKind::ReadOnly, "{caller:?}: {seen}");
        // Only admin keys see the signing secret.
        assert_eq!(seen.contains("whsec_"), caller == CallerKind::Admin, "{caller:?}: {seen}");
    }
}

/// A webhook with these header values, without `internal`.
fn with_headers(values: &[(&str, &str)]) -> Value {
    let header =
        |(name, value): &(&str, &str)| json!({ "header_name": name, "header_value": value });
    json!({
        "id": "hook", "name": "Hook", "url": "https://example.com/hook", "type": "async",
        "content_type_definitions": [], "actions": [{ "action": "Create" }],
        "headers": values.iter().map(header).collect::<Value>(),
    })
}

fn without_internal(mut object: Value) -> Value {
    object.as_object_mut().unwrap().remove("internal");
    object
}

#[tokio::test]
async fn masked_header_value_keeps_the_stored_one() {
    const HOOKS: &str = "/api/v1/content/_webhooks";
    const HOOK: &str = "/api/v1/content/_webhooks/hook";
    const MASK: &str = "********";
    let app = TestApp::new();
    let sent = with_headers(&[("X-A", "zebra"), ("X-A", "okapi"), ("X-B", "gnu")]);
    assert_eq!(app.request("POST", HOOKS, &sent).await.status_and_body().0, 200);

    let masked = with_headers(&[("X-A", MASK), ("X-A", MASK), ("X-B", MASK)]);
    let read = app.get_as(CallerKind::ReadOnly, HOOK).await.json();
    assert_eq!(without_internal(read), masked);
    let list = app.get_as(CallerKind::ReadOnly, HOOKS).await.json();
    assert_eq!(without_internal(list["data"][0].clone()), masked);
    let version = app.get_as(CallerKind::ReadOnly, &format!("{HOOK}/version/1")).await;
    assert_eq!(without_internal(version.json()), masked);

    let order = with_headers(&[("x-b", MASK), ("X-A", MASK), ("x-a", "new")]);
    let (status, written) = app.request("PUT", HOOK, &order).await.status_and_body();
    assert_eq!(
        (status, without_internal(written)),
        (200, with_headers(&[("x-b", "gnu"), ("X-A", "zebra"), ("x-a", "new")]),)
    );
    let patch = json!({ "headers": with_headers(&[("X-A", MASK), ("X-A", MASK)])["headers"] });
    let (_, written) = app.request("PATCH", HOOK, &patch).await.status_and_body();
    let kept = with_headers(&[("X-A", "zebra"), ("X-A", "new")]);
    assert_eq!(without_internal(written), kept);
    let batch = json!([with_headers(&[("X-A", MASK)])]);
    let path = format!("{HOOKS}/batch?updateExisting=1");
    assert_eq!(app.request("POST", &path, &batch).await.status_and_body().0, 200);
    let read = app.get_as(CallerKind::ReadWrite, HOOK).await.json();
    assert_eq!(without_internal(read), with_headers(&[("X-A", "zebra")]));

    // These masks have no stored value.
    let refused = error("headers[0].header_value", "This value is not valid.");
    let unknown = with_headers(&[("X-C", MASK)]);
    assert_eq!(app.request("PUT", HOOK, &unknown).await.status_and_body(), refused);
    let mut new = with_headers(&[("X-A", MASK)]);
    new["id"] = json!("other");
    assert_eq!(app.request("POST", HOOKS, &new).await.status_and_body(), refused);
}

#[tokio::test]
async fn masked_header_values_are_missing_in_filters_and_order() {
    let app = TestApp::new();
    let cms = &app.core.cms;
    let local = cms_core::Caller::local();
    for (id, value) in [("hook", "zebra"), ("other", "okapi")] {
        let mut new = with_headers(&[("X-A", value)]);
        new["id"] = json!(id);
        cms.objects().create(&local, "_webhooks", object(&new)).unwrap();
    }
    for (path, operator, value, by_writer, by_reader) in [
        ("headers[*].header_value", "equals", "zebra", 1, 0),
        ("headers[*].header_value", "startsWith", "z", 1, 0),
        ("headers[0].header_value", "contains", "zeb", 1, 0),
        ("headers", "contains", "zebra", 1, 0),
        ("*", "contains", "zebra", 1, 0),
        ("headers[*].header_value", "notEqual", "zebra", 1, 2),
        ("headers[*].header_value", "equals", "********", 0, 0),
        ("headers[*].header_name", "equals", "X-A", 2, 2),
        ("*", "contains", "example.com", 2, 2),
    ] {
        let filters = json!({ path: { "type": operator, "filter": value } }).to_string();
        let filters = utf8_percent_encode(&filters, NON_ALPHANUMERIC);
        let list = format!("/api/v1/content/_webhooks?filters={filters}");
        for (caller, expected) in
            [(CallerKind::ReadWrite, by_writer), (CallerKind::ReadOnly, by_reader)]
        {
            let found = app.get_as(caller, &list).await.json();
            assert_eq!(found["total_count"], expected, "{caller:?} {path} {operator} {value}");
        }
    }
    let list = "/api/v1/content/_webhooks?order_by=headers[0].header_value";
    for (caller, first) in [(CallerKind::ReadWrite, "other"), (CallerKind::ReadOnly, "hook")] {
        let found = app.get_as(caller, list).await.json();
        assert_eq!(found["data"][0]["id"], first, "{caller:?}");
    }
}
