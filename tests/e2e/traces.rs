//! Traces as an OpenTelemetry collector receives them.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{KeyValue, any_value::Value},
    trace::v1::{Span, span::SpanKind},
};
use prost::Message;
use serde_json::json;

use super::support::{Cli, Server, client};

const TRACE: u128 = 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736;
const PARENT: u64 = 0x00f0_67aa_0ba9_02b7;

/// Starts a collector; returns its address and the received requests.
fn collector() -> (String, Receiver<(String, ExportTraceServiceRequest)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, received) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.unwrap());
            let (mut head, mut length) = (String::new(), 0);
            while !head.ends_with("\r\n\r\n") {
                let start = head.len();
                reader.read_line(&mut head).unwrap();
                let line = head[start..].to_ascii_lowercase();
                if let Some(value) = line.strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let response = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            reader.get_mut().write_all(response).unwrap();
            let first = head.lines().next().unwrap().to_owned();
            sender.send((first, Message::decode(body.as_slice()).unwrap())).ok();
        }
    });
    (url, received)
}

fn text(attributes: &[KeyValue], name: &str) -> Option<String> {
    let attribute = attributes.iter().find(|attribute| attribute.key == name)?;
    match attribute.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text.clone()),
        Value::IntValue(number) => Some(number.to_string()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn requests_are_spans_in_the_trace_of_the_client() {
    let (url, received) = collector();
    let cli = Cli::empty();
    let server = Server::start_in(&cli.path(""), &["--traces", &url]);
    let http = client().build().unwrap();
    let objects = format!("{}/api/v1/content/contact_form", server.url);
    let object = json!({ "id": "one", "name": "Ada", "email": "ada@example.com" });
    let created = http
        .post(format!("{objects}?auth_token={}", server.key))
        .header("content-type", "application/json")
        .header("x-request-id", "r-1")
        .header("traceparent", format!("00-{TRACE:032x}-{PARENT:016x}-01"))
        .body(object.to_string())
        .send();
    assert_eq!(created.unwrap().status(), 200);
    // The client does not sample its trace, so the server does not either.
    let quiet = http.get(format!("{objects}/one")).header("x-auth-token", &server.key);
    let quiet = quiet.header("traceparent", format!("00-{:032x}-{PARENT:016x}-00", TRACE + 1));
    assert_eq!(quiet.send().unwrap().status(), 200);
    assert_eq!(http.get(format!("{}/no/such/path", server.url)).send().unwrap().status(), 404);
    let key = server.key.clone();
    server.terminate();

    let mut spans: Vec<Span> = Vec::new();
    while let Ok((line, request)) = received.recv_timeout(Duration::from_secs(1)) {
        assert_eq!(line, "POST /v1/traces HTTP/1.1");
        for resource in request.resource_spans {
            let about = resource.resource.unwrap().attributes;
            assert_eq!(text(&about, "service.name").as_deref(), Some("cms"));
            spans.extend(resource.scope_spans.into_iter().flat_map(|scope| scope.spans));
        }
    }
    assert!(!format!("{spans:?}").contains(&key));
    let is_known = |id: &[u8]| spans.iter().any(|span| span.span_id == id);
    let strays = spans
        .iter()
        .filter(|span| span.kind() != SpanKind::Server && !is_known(&span.parent_span_id));
    assert_eq!(strays.count(), 0, "spans outside of requests: {spans:#?}");
    let requests: Vec<&Span> =
        spans.iter().filter(|span| text(&span.attributes, "url.path").is_some()).collect();
    let [post, missing] = requests[..] else { panic!("{spans:#?}") };
    assert_eq!(
        (&*post.trace_id, &*post.parent_span_id),
        (&TRACE.to_be_bytes()[..], &PARENT.to_be_bytes()[..])
    );
    assert_eq!(post.name, "POST /api/v1/content/{name}");
    for (name, value) in [
        ("http.request.method", Some("POST")),
        ("http.route", Some("/api/v1/content/{name}")),
        ("http.response.status_code", Some("200")),
        ("url.path", Some("/api/v1/content/contact_form")),
        ("cms.request_id", Some("r-1")),
        ("cms.key", Some("admin")),
    ] {
        assert_eq!(text(&post.attributes, name).as_deref(), value, "{name}");
    }
    let child = |name: &str, parent: &Span| {
        let is_child = |span: &&Span| span.name == name && span.parent_span_id == parent.span_id;
        spans.iter().find(is_child).cloned()
    };
    let write = child("write", post).expect("the write has a span");
    assert!(child("commit", &write).is_some(), "{spans:#?}");
    assert_eq!(text(&missing.attributes, "http.response.status_code").as_deref(), Some("404"));
    assert!(missing.parent_span_id.is_empty() && missing.trace_id != post.trace_id);
}
