//! Plans and applies of content types as streams of events.

use serde_json::{Value, json};

use crate::support::{CallerKind, Reply, TestApp, definition};

const PLAN: &str = "/api/v1/internal/contenttype/plan";
const APPLY: &str = "/api/v1/internal/contenttype/apply";
const STREAM: (&str, &str) = ("accept", "application/json;q=0.5, text/event-stream");

/// A project that removes the property `title` of `post`, the only value of the object `one`, and adds the property
/// `slug`, which is required if `requires_slug` is true.
fn untitled(requires_slug: bool) -> Value {
    let mut wanted = json!(definition("post"));
    let properties = wanted["schemaDefinition"]["allOf"][1]["properties"].as_object_mut().unwrap();
    properties.remove("title");
    properties.insert("slug".to_owned(), json!({ "type": "string" }));
    wanted["schemaDefinition"]["required"] =
        if requires_slug { json!(["slug"]) } else { json!([]) };
    wanted["metaDefinition"] = json!({
        "order": ["slug", "price"],
        "propertiesConfig": {
            "slug": { "label": "Slug", "inputType": "text", "unique": false },
            "price": { "label": "Price", "inputType": "number", "unique": false },
        },
    });
    json!({ "contentTypes": [wanted] })
}

async fn send(app: &TestApp, path: &str, headers: &[(&str, &str)], body: String) -> Reply {
    let key = app.key(CallerKind::ReadWrite).unwrap();
    let own = [("x-auth-token", key), ("content-type", "application/json")];
    app.send("POST", path, &[&own, headers].concat(), body).await
}

/// The complete stream with this result.
fn events(status: u16, body: &[u8]) -> String {
    let body = std::str::from_utf8(body).unwrap();
    format!("event: result\ndata: {{\"status\":{status},\"body\":{body}}}\n\n")
}

#[tokio::test]
async fn stream_ends_with_the_response_of_the_same_request_without_a_stream() {
    let app = TestApp::new();
    let agreed = |mut request: Value| {
        request["allowDataLoss"] = json!(true);
        request
    };
    let mut stale = agreed(untitled(false));
    stale["token"] = json!("00000000000000000000000000000000");
    // path, body, status
    let requests = [
        (PLAN, untitled(false).to_string(), 200),
        (PLAN, untitled(true).to_string(), 200),
        (PLAN, json!({ "contentTypes": [1] }).to_string(), 400),
        (PLAN, json!({ "keys": [{ "name": "web" }] }).to_string(), 403),
        (PLAN, "{".to_owned(), 400),
        (APPLY, untitled(false).to_string(), 409),
        (APPLY, untitled(true).to_string(), 400),
        (APPLY, stale.to_string(), 409),
        // Last, because it changes the type.
        (APPLY, agreed(untitled(false)).to_string(), 200),
    ];
    for (path, body, status) in requests {
        // The successful apply returns its plan, and can be sent only once.
        let is_applied = path == APPLY && status == 200;
        let (path_without_stream, body_without_stream) =
            if is_applied { (PLAN, untitled(false).to_string()) } else { (path, body.clone()) };
        let plain = send(&app, path_without_stream, &[], body_without_stream).await;
        assert_eq!(plain.status, status, "{path} {body}");
        let reply = send(&app, path, &[STREAM], body.clone()).await;
        assert_eq!(reply.status, 200, "{path} {body}");
        assert_eq!(reply.header("content-type"), Some("text/event-stream"));
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        let text = std::str::from_utf8(&reply.bytes).unwrap();
        assert_eq!(text, events(status, &plain.bytes), "{path} {body}");
    }
    let plan = app.request("POST", PLAN, &untitled(false)).await.json();
    assert_eq!(plan["summary"]["update"], 0, "the apply was carried out: {plan}");
}

#[tokio::test]
async fn errors_before_the_stream_are_ordinary_responses() {
    let app = TestApp::new();
    for path in [PLAN, APPLY] {
        let body = untitled(false);
        let refused = |caller| app.send_as_with(&[STREAM], caller, "POST", path, &body);
        for (caller, status) in [(CallerKind::Unknown, 401), (CallerKind::ReadOnly, 403)] {
            let reply = refused(caller).await;
            assert_eq!(reply.status, status, "{path}");
            assert_eq!(reply.json()["code"], status, "{path}");
        }
        let key = app.key(CallerKind::ReadWrite).unwrap();
        let headers = [("x-auth-token", key), ("content-type", "text/plain"), STREAM];
        let reply = app.send("POST", path, &headers, body.to_string()).await;
        assert_eq!((reply.status, reply.json()["code"].clone()), (415, json!(415)), "{path}");
        let reply = app
            .send_as_with(&[STREAM], CallerKind::ReadWrite, "POST", &format!("{path}?x=1"), &body)
            .await;
        assert_eq!(reply.header("x-deprecated-query-params"), Some("x"));
    }
}
