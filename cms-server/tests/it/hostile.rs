//! Bad input: always a 4xx with a documented body, never a 5xx, never a panic.

use serde_json::{Map, Value, json};

use crate::support::{CallerKind, Reply, TestApp, definition, malformed};

const POSTS: &str = "/api/v1/content/post";
const ONE: &str = "/api/v1/content/post/one";
const TYPES: &str = "/api/v1/internal/contenttype";

/// Returns whether a response is one of the error bodies.
fn is_refusal(reply: &Reply) -> bool {
    let (status, body) = reply.status_and_body();
    let strings = |value: &Value| {
        let items = value.as_array();
        items.is_some_and(|items| !items.is_empty() && items.iter().all(Value::is_string))
    };
    let Some(body) = body.as_object() else { return false };
    let is_generic =
        body.len() == 2 && body.get("code") == Some(&json!(status)) && body["message"].is_string();
    let is_map = |map: &Map<String, Value>| !map.is_empty() && map.values().all(strings);
    // The errors of an apply are maps of several types.
    let is_maps = body.values().all(|value| value.as_object().is_some_and(is_map));
    let is_map = status == 400 && (is_map(body) || is_maps);
    let is_batch =
        status == 400 && body.get("batch_error_count").is_some_and(|n| n.as_u64() > Some(0));
    let is_limit = status == 400 && body.contains_key("batch_limit");
    (400..500).contains(&status) && (is_generic || is_map || is_batch || is_limit)
}

/// Sends a request with the admin key, so that no request is refused for lack of permissions.
async fn send(app: &TestApp, method: &str, path: &str, body: impl Into<axum::body::Body>) -> Reply {
    let key = app.key(CallerKind::Admin).unwrap();
    app.send(method, path, &[("x-auth-token", key), ("content-type", "application/json")], body)
        .await
}

async fn refuses(app: &TestApp, method: &str, path: &str, body: &str) {
    let reply = send(app, method, path, body.to_owned()).await;
    let shown = &body[..body.len().min(100)];
    let text = String::from_utf8_lossy(&reply.bytes[..reply.bytes.len().min(300)]).into_owned();
    assert!(is_refusal(&reply), "{method} {path} {shown}: {} {text}", reply.status);
}

/// Malformed JSON, deep nesting, and invalid encodings.
#[tokio::test]
async fn body_that_is_no_valid_json_returns_400() {
    let app = TestApp::new();
    let deep_array = "[".repeat(200) + &"]".repeat(200);
    let deep_object = "{\"a\":".repeat(200) + "1" + &"}".repeat(200);
    let deep_field = format!("{{\"title\":{deep_array}}}");
    let bodies: Vec<Vec<u8>> = vec![
        b"{".to_vec(),
        b"{\"title\":}".to_vec(),
        b"{'title':'x'}".to_vec(),
        b"{\"title\":\"x\",}".to_vec(),
        b"{\"title\":\"x\"} trailing".to_vec(),
        b"{\"title\":\"\x00\"}".to_vec(),
        b"{\"title\":\"\xff\xfe\"}".to_vec(),
        b"\xff\xfe{\x00}\x00".to_vec(),
        b"{\"title\":\"\\ud800\"}".to_vec(),
        b"{\"title\":\"\\u12\"}".to_vec(),
        b"{\"price\":1e999,\"title\":\"x\"}".to_vec(),
        b"{\"price\":NaN,\"title\":\"x\"}".to_vec(),
        b"{\"price\":01,\"title\":\"x\"}".to_vec(),
        b"{\"title\":\"line\nbreak\"}".to_vec(),
        b"title=x".to_vec(),
        b"<title>x</title>".to_vec(),
        deep_array.clone().into_bytes(),
        deep_object.into_bytes(),
        deep_field.into_bytes(),
        vec![b'['; 1_000_000],
    ];
    for (method, path) in [
        ("POST", POSTS),
        ("PUT", ONE),
        ("PATCH", ONE),
        ("POST", "/api/v1/content/post/batch"),
        ("PATCH", "/api/v1/content/post/batch"),
        ("POST", "/api/v1/content/post/batch-delete"),
        ("POST", TYPES),
        ("PUT", "/api/v1/internal/contenttype/post"),
        ("POST", "/api/v1/internal/contenttype/plan"),
        ("POST", "/api/v1/internal/contenttype/apply"),
        ("POST", "/api/v1/internal/key"),
    ] {
        for body in &bodies {
            let reply = send(&app, method, path, body.clone()).await;
            let shown = String::from_utf8_lossy(&body[..body.len().min(40)]).into_owned();
            assert_eq!(reply.status_and_body(), malformed(), "{method} {path} {shown}");
        }
    }
    // Of a repeated key, the last value counts.
    let twice = send(&app, "POST", POSTS, r#"{"title":1,"title":"x"}"#).await;
    assert_eq!((twice.status, &twice.json()["title"]), (200, &json!("x")));
}

/// Replaces every part of a payload by a value of every type.
#[tokio::test]
async fn value_of_the_wrong_type_returns_400_at_every_level() {
    let app = TestApp::new();
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1.5),
        json!("text"),
        json!("\u{0}"),
        json!([]),
        json!([[], {}]),
        json!({}),
        json!({ "": { "": [] } }),
    ];
    let whole = json!(definition("fresh"));
    let mut places = Vec::new();
    pointers(&whole, &mut String::new(), &mut places);
    assert!(places.len() > 25, "{places:?}");
    for place in &places {
        for value in &values {
            let mut payload = whole.clone();
            *payload.pointer_mut(place).unwrap() = value.clone();
            for (method, path) in [("POST", TYPES), ("PUT", "/api/v1/internal/contenttype/author")]
            {
                let reply = send(&app, method, path, payload.to_string()).await;
                // Some of these definitions are valid nevertheless.
                assert!(reply.status == 200 || is_refusal(&reply), "{method} {place} {value}");
                drop(send(&app, "DELETE", "/api/v1/internal/contenttype/fresh", "").await);
            }
            let project = json!({ "contentTypes": [payload] });
            let reply =
                send(&app, "POST", "/api/v1/internal/contenttype/plan", project.to_string()).await;
            assert!(reply.status == 200 || is_refusal(&reply), "plan {place} {value}");
        }
    }
    for value in &values {
        for body in [
            json!({ "id": value, "title": "x", "price": "x" }),
            json!({ "title": value, "price": [value] }),
            json!({ "title": "x", "unknown": value }),
            json!({ "title": "x", "": value }),
            json!({ "title": "x", "$.price": value }),
        ] {
            refuses(&app, "POST", POSTS, &body.to_string()).await;
            refuses(&app, "PUT", ONE, &body.to_string()).await;
            refuses(&app, "POST", "/api/v1/content/post/batch", &json!([body, value]).to_string())
                .await;
        }
        let related = json!({ "relatedObjectsToDuplicate": { "a": value } });
        refuses(&app, "POST", "/api/v1/content/post/one/duplicate", &related.to_string()).await;
        let key = json!({ "name": "k", "kind": value, "rules": value });
        refuses(&app, "POST", "/api/v1/internal/key", &key.to_string()).await;
        let project = json!({ "contentTypes": [value] });
        let reply =
            send(&app, "POST", "/api/v1/internal/contenttype/apply", project.to_string()).await;
        assert!(is_refusal(&reply), "apply {value}: {:?}", reply.status_and_body());
        let consent = json!({ "contentTypes": value, "allowDataLoss": value, "token": value });
        let reply =
            send(&app, "POST", "/api/v1/internal/contenttype/apply", consent.to_string()).await;
        assert!(reply.status == 200 || is_refusal(&reply), "apply {value}");
    }
}

/// JSON pointers to all values inside a value.
fn pointers(value: &Value, here: &mut String, all: &mut Vec<String>) {
    let length = here.len();
    let mut enter = |name: &str, inner: &Value| {
        here.push('/');
        here.push_str(&name.replace('~', "~0").replace('/', "~1"));
        all.push(here.clone());
        pointers(inner, here, all);
        here.truncate(length);
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(name, inner)| enter(name, inner)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, inner)| enter(&index.to_string(), inner));
        }
        _ => {}
    }
}

/// Ids with every character that is not allowed, and too long ones.
#[tokio::test]
async fn id_and_name_with_forbidden_characters_return_400() {
    let app = TestApp::new();
    let allowed = "-_.,:=!?#$%&(`’{}\" ";
    let forbidden = (0..0x250)
        .filter_map(char::from_u32)
        .chain(['\u{2028}', '\u{202e}', '\u{feff}', '\u{fffd}', '😀', '\u{10ffff}'])
        .filter(|c| !c.is_ascii_alphanumeric() && !allowed.contains(*c));
    for character in forbidden {
        let body = json!({ "id": format!("a{character}"), "title": "x" }).to_string();
        let reply = send(&app, "POST", POSTS, body).await;
        let pattern = cms_core::ids::ID_PATTERN;
        let message = json!({ "id": [format!("Does not match the regex pattern {pattern}")] });
        assert_eq!(reply.status_and_body(), (400, message), "{character:?}");
        let mut payload = definition("name");
        payload.insert("name".to_owned(), json!(format!("a{character}")));
        if character != '_' {
            let reply = send(&app, "POST", TYPES, json!(payload).to_string()).await;
            let message = json!({ "name": ["This value is not valid."] });
            assert_eq!(reply.status_and_body(), (400, message), "{character:?}");
        }
    }
    let long = json!({ "id": "x".repeat(256), "title": "x" }).to_string();
    let message = json!({ "id": ["Must be at most 255 characters long"] });
    assert_eq!(send(&app, "POST", POSTS, long).await.status_and_body(), (400, message));
}

/// Path segments without a resource.
#[tokio::test]
async fn path_that_is_not_valid_returns_404() {
    let app = TestApp::new();
    let segments = [
        "%00",
        "%",
        "%2",
        "%zz",
        "%ff",
        "%c3%28",
        "%2e%2e",
        "..",
        "%2F",
        "a%2fb",
        "%5c",
        "%0d%0a",
        "%F0%9F%98%80",
        "'%20OR%201=1--",
        "%22%3B%20DROP%20TABLE%20object%3B--",
        "*",
        "$ref",
        "[0]",
        "%25%32%35",
    ];
    let long = "x".repeat(20_000);
    for segment in segments.into_iter().chain([&*long]) {
        for path in [
            format!("/api/v1/content/{segment}"),
            format!("/api/v1/content/{segment}/one"),
            format!("/api/v1/content/post/{segment}"),
            format!("/api/v1/content/post/{segment}/version"),
            format!("/api/v1/content/post/one/version/{segment}"),
            format!("/api/v1/content/post/{segment}/duplicate"),
            format!("/api/v1/internal/contenttype/{segment}"),
            format!("/api/v1/internal/contenttype/{segment}/purge"),
            format!("/api/v1/internal/key/{segment}"),
            format!("/api/v1/spaces/{segment}/purge"),
            format!("/{segment}"),
        ] {
            for method in ["GET", "PUT", "PATCH", "DELETE", "POST"] {
                refuses(&app, method, &path, "{}").await;
            }
        }
    }
    for version in ["0", "-1", "2", "1.0", "99999999999999999999", "version-", "version-x", "+1"] {
        refuses(&app, "GET", &format!("{ONE}/version/{version}"), "").await;
    }
}

/// Query parameters are corrected or rejected; nothing in them becomes part of a statement.
#[tokio::test]
async fn injection_in_a_query_has_no_effect() {
    let app = TestApp::new();
    let sql = [
        "' OR '1'='1",
        "title') OR 1=1--",
        "x\"; DROP TABLE object; --",
        "$.title') FROM object; DELETE FROM object; --",
        "title\u{0}",
        "\\",
        "%",
        "a[*].b[*].c[*].d",
        "[*][*]",
        "title[99999999999999999999]",
        "..",
        "internal.",
        "internal.data",
        "",
    ];
    for text in sql {
        let encoded =
            percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC);
        for query in [
            format!("order_by={encoded}"),
            format!("order_by={encoded}&order_direction={encoded}&empty_first={encoded}"),
            format!("page={encoded}&limit={encoded}&hydrate={encoded}"),
            format!("ids[]={encoded}&ids[{encoded}]=x"),
            format!("{encoded}=1&{encoded}[]=2"),
        ] {
            let reply = send(&app, "GET", &format!("{POSTS}?{query}"), "").await;
            assert_eq!(reply.status, 200, "{query}");
            assert_eq!(
                send(&app, "GET", &format!("{TYPES}?{query}"), "").await.status,
                200,
                "{query}"
            );
        }
        for kind in
            ["equals", "notEqual", "contains", "startsWith", "greaterThan", "includes", "empty"]
        {
            for filters in [
                json!({ text: { "type": kind, "filter": "x" } }),
                json!({ "title": { "type": kind, "filter": text } }),
                json!({ "*": { "type": kind, "filter": [text, 1, null, true] } }),
            ] {
                let filters = filters.to_string();
                let encoded = percent_encoding::utf8_percent_encode(
                    &filters,
                    percent_encoding::NON_ALPHANUMERIC,
                );
                let reply = send(&app, "GET", &format!("{POSTS}?filters={encoded}"), "").await;
                assert!(reply.status == 200 || is_refusal(&reply), "{filters}");
            }
        }
    }
    let still_there = send(&app, "GET", POSTS, "").await.json();
    assert_eq!(still_there["total_count"], 1);

    let deep = "[".repeat(200) + &"]".repeat(200);
    for filters in [
        "{",
        "[]",
        "1",
        "null",
        "\"x\"",
        "%FF",
        "{\"title\":1}",
        "{\"title\":{}}",
        "{\"title\":{\"type\":1}}",
        "{\"title\":{\"type\":\"like\",\"filter\":\"x\"}}",
        "{\"title\":{\"type\":\"equals\"}}",
        "{\"title\":{\"type\":\"inRange\",\"filter\":1}}",
        &deep,
    ] {
        let encoded =
            percent_encoding::utf8_percent_encode(filters, percent_encoding::NON_ALPHANUMERIC);
        refuses(&app, "GET", &format!("{POSTS}?filters={encoded}"), "").await;
    }
    for date in
        ["yesterday", "2021-13-01", "@", "@99999999999999999999", "%00", "", "9999999-01-01"]
    {
        refuses(&app, "GET", &format!("{POSTS}/removed?deletedAfter={date}"), "").await;
    }
}

/// Large values are refused for their size, large batches for the number of elements.
#[tokio::test]
async fn value_that_is_too_large_is_refused() {
    let app = TestApp::new();
    let long = "x".repeat(10 * 1024 * 1024);
    let large = json!({ "title": long }).to_string();
    for (method, path) in [("POST", POSTS), ("PUT", ONE), ("PATCH", ONE)] {
        assert_eq!(send(&app, method, path, large.clone()).await.status, 413, "{method} {path}");
    }
    let batch = json!([{ "id": "small", "title": "x" }, { "title": long }]).to_string();
    assert_eq!(send(&app, "POST", "/api/v1/content/post/batch", batch).await.status, 413);
    assert_eq!(send(&app, "GET", "/api/v1/content/post/small", "").await.status, 404);
    let id = json!({ "id": long, "title": "x" }).to_string();
    let reply = send(&app, "POST", POSTS, id).await;
    assert_eq!(reply.status, 413);
    let mut payload = definition("fresh");
    payload.insert("name".to_owned(), json!(long.to_uppercase()));
    refuses(&app, "POST", TYPES, &json!(payload).to_string()).await;
    let ids: Vec<String> = (0..1001).map(|n| n.to_string()).collect();
    let limit = json!({ "errors": ["Batch limit exceeded, limit: 1000"] });
    let reply =
        send(&app, "POST", "/api/v1/content/post/batch-delete", json!(ids).to_string()).await;
    assert_eq!(reply.status_and_body(), (400, limit));
    let objects: Vec<Value> = ids.iter().map(|id| json!({ "id": id, "title": "x" })).collect();
    let limit = json!({ "batch_limit": 1000, "data": ["Batch limit exceeded, limit: 1000"] });
    for method in ["POST", "PATCH"] {
        let reply =
            send(&app, method, "/api/v1/content/post/batch", json!(objects).to_string()).await;
        assert_eq!(reply.status_and_body(), (400, limit.clone()), "{method}");
    }
}

/// Keys and other headers with invalid characters.
#[tokio::test]
async fn header_that_is_not_valid_is_ignored() {
    let app = TestApp::new();
    let long = "x".repeat(60_000);
    for key in ["", " ", "é", "' OR 1=1--", &*long] {
        let reply = app.send("GET", ONE, &[("x-auth-token", key)], "").await;
        assert_eq!(reply.status, 401, "{key:.20}");
    }
    let key = app.key(CallerKind::ReadOnly).unwrap();
    for (name, value) in [
        ("x-mode", "é"),
        ("x-visibility", &long),
        ("accept-encoding", "gzip;q=a;q=b,,;;"),
        ("accept-encoding", &long),
        ("content-type", "é"),
        ("content-length", "7"),
    ] {
        let reply = app.send("GET", ONE, &[("x-auth-token", key), (name, value)], "").await;
        assert_eq!(reply.status, 200, "{name}: {value:.20}");
    }
}
