//! Keys are never logged, wherever a request has them and at every log level.

use std::time::Duration;

use reqwest::blocking::Client;
use serde_json::{Value, json};

use super::support::{Server, client};

const OBJECTS: &str = "/api/v1/content/contact_form";

/// A client of the API.
struct Api<'a> {
    client: Client,
    server: &'a Server,
}

impl Api<'_> {
    fn send(&self, method: &str, path: &str, key: Option<&str>, body: &Value) -> Vec<u8> {
        let url = format!("{}{path}", self.server.url);
        let mut request = self.client.request(method.parse().unwrap(), url);
        if let Some(key) = key {
            request = request.header("X-AUTH-TOKEN", key);
        }
        if !body.is_null() {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        request.send().unwrap().bytes().unwrap().to_vec()
    }
}

#[test]
fn keys_are_never_logged() {
    // `trace` includes the log lines of libraries about connections.
    let cli = super::support::Cli::empty();
    let server = Server::start_in(&cli.path(""), &["--log", "trace", "--slow-query", "1"]);
    let admin = server.key.clone();
    let wrong = "no-key-that-anybody-has";
    let mut secrets = vec![admin.clone(), wrong.to_owned()];
    for (name, http) in [("one", client()), ("two", client().http2_prior_knowledge())] {
        let api = Api { client: http.build().unwrap(), server: &server };
        let new = json!({ "name": name, "kind": "read_write" });
        let created = api.send("POST", "/api/v1/internal/key", Some(&admin), &new);
        let created: Value = serde_json::from_slice(&created).unwrap();
        secrets.push(created["key"].as_str().unwrap().to_owned());
        for key in secrets.clone() {
            let query = format!("auth_token={key}&X-AUTH-TOKEN={key}");
            let filter = "filters=%7B%22name%22%3A%7B%22type%22%3A%22contains%22%2C%22filter%22%3A%22a%22%7D%7D";
            let object = json!({ "name": "a", "email": "a@example.com" });
            for (method, path, body) in [
                ("GET", format!("{OBJECTS}?{filter}&{query}"), &Value::Null),
                ("POST", format!("{OBJECTS}?{query}"), &object),
                ("POST", format!("{OBJECTS}?{query}"), &Value::Null),
                ("PATCH", format!("{OBJECTS}?{query}"), &object),
                ("GET", format!("/api/v1/search?q=a&{query}"), &Value::Null),
                ("GET", format!("/api/v1/changes?{query}"), &Value::Null),
                ("GET", format!("/api/graphql?query=%7B__typename%7D&{query}"), &Value::Null),
                ("GET", format!("/image/0x0/_media-1/a.png?{query}"), &Value::Null),
                ("GET", format!("/metrics?{query}"), &Value::Null),
                ("GET", format!("/no/such/path?{query}"), &Value::Null),
            ] {
                api.send(method, &path, None, body);
                api.send(method, &path, Some(&key), body);
            }
        }
    }
    // The log is written in order, but asynchronously.
    let last = client().build().unwrap().get(format!("{}/healthz", server.url));
    last.header("x-request-id", "the-last-one").send().unwrap();
    let log = server.wait_for_log(Duration::from_secs(20), "the-last-one");
    assert!(log.contains("slow query") && log.contains("key=\"two\""), "requests were logged");
    for secret in secrets {
        let line = log.lines().find(|line| line.contains(&secret));
        assert_eq!(line, None);
    }
}
