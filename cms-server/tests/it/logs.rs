//! The log lines of a request, and data that is never logged.

use std::{
    fs,
    io::{self, Write},
    sync::{Arc, Mutex},
    time::Duration,
};

use cms_core::{
    Caller,
    testing::TestCms,
    wire::media::{ImageRequest, UploadRequest},
};
use cms_server::{ReloadableSettings, ServerConfig};
use serde_json::{Value, json};
use tracing::{Dispatch, subscriber::DefaultGuard};

use crate::support::{CallerKind, TestApp};

/// A log in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Records the log lines of this thread.
struct Recording {
    log: Log,
    guard: DefaultGuard,
    second: Dispatch,
}

impl Recording {
    fn start() -> Self {
        // With a single subscriber, `tracing` caches the interest of the first thread that reaches
        // a line, which may belong to another test. With several subscribers it queries all of
        // them.
        let second = Dispatch::new(tracing_subscriber::registry());
        let log = Log::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .json()
            .with_max_level(tracing::Level::TRACE)
            .with_writer(move || writer.clone())
            .finish();
        Self { log, guard: tracing::subscriber::set_default(subscriber), second }
    }

    fn end(self) -> String {
        drop((self.guard, self.second));
        String::from_utf8(self.log.0.lock().unwrap().clone()).unwrap()
    }
}

/// The fields of the log lines with this message.
fn lines(text: &str, message: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["fields"].clone())
        .filter(|fields| fields["message"] == message)
        .collect()
}

#[tokio::test]
async fn requests_are_logged_without_keys_queries_and_bodies() {
    let app = TestApp::new();
    let recording = Recording::start();
    let key = app.key(CallerKind::ReadWrite).unwrap();
    let path = format!("/api/v1/content/post?auth_token={key}&hidden=hidden");
    let headers = [("content-type", "application/json"), ("x-request-id", "r-1")];
    let body = json!({ "title": "a body that is hidden" }).to_string();
    assert_eq!(app.send("POST", &path, &headers, body).await.status, 200);
    assert_eq!(app.delete_as(CallerKind::ReadOnly, "/api/v1/content/post/one").await.status, 403);
    let text = recording.end();
    for secret in [key, app.key(CallerKind::ReadOnly).unwrap(), "hidden", "auth_token"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    let lines = lines(&text, "request");
    let summary = |line: &Value| json!([line["method"], line["path"], line["status"]]);
    let wanted = [
        json!(["POST", "/api/v1/content/post", 200]),
        json!(["DELETE", "/api/v1/content/post/one", 403]),
    ];
    assert_eq!(lines.iter().map(summary).collect::<Vec<_>>(), wanted);
    assert_eq!(lines[0]["request_id"], "r-1");
    assert_eq!(
        (&lines[0]["route"], &lines[0]["key"]),
        (&json!("/api/v1/content/{name}"), &json!("read-write"))
    );
}

/// The line of a slow query has its parameters, but not the key.
#[tokio::test]
async fn slow_query_is_logged_with_its_parameters() {
    let reloadable =
        ReloadableSettings { slow_query: Some(Duration::ZERO), ..ReloadableSettings::default() };
    let app = TestApp::with(&ServerConfig { reloadable, ..ServerConfig::default() });
    let recording = Recording::start();
    let key = app.key(CallerKind::ReadOnly).unwrap();
    let filter =
        "filters=%7B%22title%22%3A%7B%22type%22%3A%22contains%22%2C%22filter%22%3A%22x%22%7D%7D";
    let order = "x".repeat(5000);
    let path =
        format!("/api/v1/content/post?auth_token={key}&{filter}&token={key}&order_by={order}");
    assert_eq!(app.send("GET", &path, &[], "").await.status, 200);
    let query = json!({ "query": "{ __typename }", "variables": { "token": key } });
    let headers = [("x-auth-token", key), ("content-type", "application/json")];
    let reply = app.send("POST", "/api/graphql", &headers, query.to_string()).await;
    assert_eq!(reply.status, 200);
    // Not reads of content.
    app.send("GET", "/healthz", &[], "").await;
    app.create("post", &json!({ "title": "Two" })).await;
    let text = recording.end();
    assert!(!text.contains(key), "{text}");
    let lines = lines(&text, "slow query");
    assert_eq!(lines.len(), 2, "{text}");
    assert_eq!(
        (&lines[1]["query"], &lines[1]["path"]),
        (&json!("{ __typename }"), &json!("/api/graphql"))
    );
    let query = lines[0]["query"].as_str().unwrap();
    let wanted = r#"filters={"title":{"type":"contains","filter":"x"}}&order_by=x"#;
    assert!(query.starts_with(wanted), "{query}");
    assert_eq!(query.len(), 1000);
    assert_eq!(lines[0]["route"], "/api/v1/content/{name}");
    assert_eq!(lines[0]["path"], "/api/v1/content/post");
    assert!(lines[0]["micros"].is_u64());
}

/// The subscriber records this thread only, so no runtime with other threads is used.
#[test]
fn stored_file_of_the_wrong_size_is_logged() {
    let core = TestCms::new();
    let media = core.cms.media();
    let mut file = media.receive().unwrap();
    file.write_all(b"a text").unwrap();
    let request = UploadRequest {
        file_name: "a.txt".to_owned(),
        kind: Some("file".to_owned()),
        save: true,
        ..UploadRequest::default()
    };
    let object = media.upload(&Caller::local(), Some(file), &request).unwrap().to_value();
    let id = object["id"].as_str().unwrap();
    fs::write(core.path().join("media").join(id), b"a t").unwrap();

    let recording = Recording::start();
    let segments = ["0x0", &format!("{id}.txt")];
    let image = media.find(&ImageRequest { path: &segments, ..ImageRequest::default() });
    media.image_body(&image.unwrap()).unwrap_err();
    let text = recording.end();
    let wanted = json!({
        "message": "stored file has the wrong size", "id": id,
        "cause": format!("the stored file {id} has 3 bytes, 6 bytes were uploaded"),
    });
    assert_eq!(lines(&text, "stored file has the wrong size"), [wanted]);
}
