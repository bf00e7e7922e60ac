//! What is written down about a request, and what never is.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};

use crate::support::{TestApp, Who};

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

#[tokio::test]
async fn requests_are_logged_without_keys_queries_and_bodies() {
    let app = TestApp::new();
    // A single listener is only asked in its own thread whether it wants a line: when another test
    // comes by the line first, nobody seems to. Of several, all are asked.
    let beside = tracing::Dispatch::new(tracing_subscriber::registry());
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .json()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    let key = app.key(Who::ReadWrite).unwrap();
    let path = format!("/api/v1/content/post?auth_token={key}&hidden=hidden");
    let headers = [("content-type", "application/json"), ("x-request-id", "r-1")];
    let body = json!({ "title": "a body that is hidden" }).to_string();
    assert_eq!(app.send("POST", &path, &headers, body).await.status, 200);
    assert_eq!(
        app.ask(Who::ReadOnly, "DELETE", "/api/v1/content/post/one", &Value::Null).await.status,
        403
    );
    drop(guard);
    drop(beside);

    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for secret in [key, app.key(Who::ReadOnly).unwrap(), "hidden", "auth_token"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["fields"].clone())
        .filter(|fields| fields["message"] == "request")
        .collect();
    let told = |line: &Value| json!([line["method"], line["path"], line["status"]]);
    let wanted = [
        json!(["POST", "/api/v1/content/post", 200]),
        json!(["DELETE", "/api/v1/content/post/one", 403]),
    ];
    assert_eq!(lines.iter().map(told).collect::<Vec<_>>(), wanted);
    assert_eq!(lines[0]["request_id"], "r-1");
}
