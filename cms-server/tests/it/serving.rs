//! The server on a socket: protocols, unencoded request lines, and graceful shutdown.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use cms_core::{Caller, Cms, CoreConfig, FirstKeys, testing::TestCms, wire::check::CheckRequest};
use cms_server::{RunningServer, ServerConfig, serve};
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::support::{definition, object};

const KEY: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
const ADMIN: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

/// A server with the type `post` and the object `one`.
fn start(config: &ServerConfig) -> (TestCms, RunningServer) {
    start_on(TestCms::new(), config)
}

fn start_on(core: TestCms, config: &ServerConfig) -> (TestCms, RunningServer) {
    let first = FirstKeys {
        admin: Some(ADMIN.to_owned()),
        read_write: Some(KEY.to_owned()),
        ..FirstKeys::default()
    };
    core.cms.keys().ensure_first(&first).unwrap();
    let local = Caller::local();
    core.cms.types().create(&local, definition("post")).unwrap();
    let one = object(&json!({ "id": "one", "title": "say \"hi\" <now>" }));
    core.cms.objects().create(&local, "post", one).unwrap();
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let running = serve(ServerConfig { listen, ..config.clone() }, Arc::clone(&core.cms)).unwrap();
    (core, running)
}

/// An HTTP/1.1 connection whose requests are written as text.
struct Client {
    stream: BufReader<TcpStream>,
}

impl Client {
    fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Self { stream: BufReader::new(stream) }
    }

    fn write(&mut self, text: &str) {
        self.stream.get_mut().write_all(text.as_bytes()).unwrap();
    }

    fn head(method: &str, target: &str, headers: &str) -> String {
        format!("{method} {target} HTTP/1.1\r\nhost: x\r\nx-auth-token: {KEY}\r\n{headers}\r\n")
    }

    /// Reads one response: status line, then body.
    fn read(&mut self) -> (u16, Value) {
        let (status, body) = self.read_bytes();
        (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
    }

    fn read_bytes(&mut self) -> (u16, Vec<u8>) {
        let mut status = String::new();
        self.stream.read_line(&mut status).unwrap();
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).unwrap();
            let line = line.trim_end().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        let status = status.split(' ').nth(1).unwrap().parse().unwrap();
        (status, body)
    }

    fn metrics(&mut self) -> String {
        self.write(&Self::head("GET", "/metrics", ""));
        String::from_utf8(self.read_bytes().1).unwrap()
    }

    fn get(&mut self, target: &str) -> (u16, Value) {
        self.write(&Self::head("GET", target, ""));
        self.read()
    }

    fn post(&mut self, target: &str, body: &Value) -> (u16, Value) {
        let body = body.to_string();
        let headers =
            format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
        self.write(&Self::head("POST", target, &headers));
        self.write(&body);
        self.read()
    }
}

fn ids(list: &Value) -> Vec<&str> {
    list["data"].as_array().unwrap().iter().map(|o| o["id"].as_str().unwrap()).collect()
}

const POSTS: &str = "/api/v1/content/post";

/// Braces, quotes, brackets and `|` are accepted unencoded, on a kept-alive connection, between
/// requests whose bodies contain the same characters.
#[test]
fn unencoded_query_is_accepted() {
    let (_core, running) = start(&ServerConfig::default());
    let mut client = Client::connect(running.address());
    let raw = |value: &str| {
        format!(r#"{POSTS}?filters={{"title":{{"type":"contains","filter":"{value}"}}}}&x[]={{|}}"#)
    };
    for round in 0..3 {
        let id = format!("post-{round}");
        let title = format!("GET /?\"<{round}>\" HTTP/1.1");
        let (status, created) = client.post(POSTS, &json!({ "id": id, "title": title }));
        assert_eq!((status, &created["title"]), (200, &json!(title)));
        let (status, list) = client.get(&raw("<now>"));
        assert_eq!((status, ids(&list)), (200, vec!["one"]), "round {round}");
        let (status, list) = client.get(&raw(&format!("<{round}>")));
        assert_eq!((status, ids(&list)), (200, vec![&*id]));
        assert_eq!(client.get(&format!("{POSTS}?filters={{\"")).0, 400);
    }
    // If a request was refused before its body was read, the body is not parsed as a request.
    let body = r#"GET /?"" HTTP/1.1"#;
    let head = format!("content-type: text/plain\r\ncontent-length: {}\r\n", body.len());
    client.write(&(Client::head("POST", POSTS, &head) + body));
    assert_eq!(client.read().0, 415);
    running.shutdown();
}

/// An ignored body may arrive after the head; the connection stays open.
#[test]
fn unread_body_keeps_the_connection() {
    let (_core, running) = start(&ServerConfig::default());
    let mut client = Client::connect(running.address());
    let one = format!("{POSTS}/one");
    let gone = format!("{POSTS}/gone");
    let requests =
        [("GET", &*one, 200), ("DELETE", &gone, 404), ("POST", "/no", 404), ("PUT", &one, 415)];
    for (method, target, status) in requests {
        for body in ["null", &"x".repeat(60_000)] {
            let length = format!("content-length: {}\r\n", body.len());
            client.write(&Client::head(method, target, &length));
            // A response that does not wait for the body is sent within this time.
            thread::sleep(Duration::from_millis(20));
            client.write(body);
            assert_eq!(client.read().0, status, "{method} {target}");
        }
    }
    running.shutdown();
}

/// A request line in several chunks, and several requests in one chunk.
#[test]
fn request_may_arrive_in_any_chunks() {
    let (_core, running) = start(&ServerConfig::default());
    let mut client = Client::connect(running.address());
    let target = format!(r#"{POSTS}?filters={{"title":{{"type":"startsWith","filter":"say"}}}}"#);
    let head = Client::head("GET", &target, "");
    for chunk in head.as_bytes().chunks(17) {
        client.stream.get_mut().write_all(chunk).unwrap();
        // Chunks without a pause would arrive as one.
        thread::sleep(Duration::from_millis(2));
    }
    let (status, list) = client.read();
    assert_eq!((status, ids(&list)), (200, vec!["one"]));
    let pair = Client::head("GET", "/api/v1/content/post/one", "").repeat(2);
    client.write(&pair);
    assert_eq!((client.read().0, client.read().0), (200, 200));
    // Text in a body that looks like a request line is not changed.
    let mut client = Client::connect(running.address());
    let title = "see GET /x?<b>bold</b> there";
    let body = json!({ "title": title }).to_string();
    let (begin, rest) = body.split_at(body.find("GET").unwrap());
    let headers = format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
    let put = Client::head("PUT", "/api/v1/content/post/one", &headers);
    client.write(&(Client::head("GET", "/healthz", "") + &put + begin));
    assert_eq!(client.read().0, 200);
    client.write(rest);
    let (status, stored) = client.read();
    assert_eq!((status, &stored["title"]), (200, &json!(title)));
    running.shutdown();
}

/// Unread responses have a memory budget, which is free again when their clients disconnect.
#[test]
fn unread_responses_are_bounded() {
    let response_memory = 24_000_000;
    let (core, running) =
        start(&ServerConfig { response_memory, min_transfer_rate: 0, ..ServerConfig::default() });
    for number in 0..19 {
        let new = object(&json!({ "id": format!("l{number}"), "title": "x".repeat(800_000) }));
        core.cms.objects().create(&Caller::local(), "post", new).unwrap();
    }
    let mut slow = Client::connect(running.address());
    slow.write(&Client::head("GET", POSTS, ""));
    // No event shows when the unread response has taken its memory, so the pause is fixed.
    thread::sleep(Duration::from_millis(500));
    let mut other = Client::connect(running.address());
    assert_eq!(other.get(POSTS).0, 503);
    assert_eq!(other.get("/api/v1/content/post/l1").0, 200, "smaller ones continue");
    // The response to a write is sent regardless of the budget: here the list of rejected elements.
    let refused: Vec<_> =
        (0..19).map(|n| json!({ "id": n, "title": "x".repeat(800_000) })).collect();
    let (status, report) = other.post(&format!("{POSTS}/batch"), &json!(refused));
    assert_eq!((status, &report["batch_error_count"]), (400, &json!(19)));
    drop(slow);
    let started = Instant::now();
    while other.get(POSTS).0 != 200 {
        assert!(started.elapsed() < Duration::from_secs(20));
    }
    assert_eq!(ids(&other.get(POSTS).1).len(), 20);
    running.shutdown();
}

/// The check waits for an index that another process updates too late. When the client disconnects,
/// the check stops, and the only permit is free.
#[test]
fn check_stops_when_its_client_disconnects() {
    let core = TestCms::standalone();
    let other = Cms::open(CoreConfig::new(core.path())).unwrap();
    other.check(&CheckRequest::default()).unwrap();
    let (_core, running) = start_on(core, &ServerConfig { writes: 1, ..ServerConfig::default() });
    let mut client = Client::connect(running.address());
    for _ in 0..2 {
        let mut checking = Client::connect(running.address());
        let path = "/api/v1/internal/check";
        checking.write(&Client::head("POST", path, "").replace(KEY, ADMIN));
        let used = "cms_permits_used{kind=\"write\"} 1\n";
        while !client.metrics().contains(used) {}
        // A check that does not wait ends within this time.
        thread::sleep(Duration::from_millis(200));
        assert!(client.metrics().contains(used), "the check waits");
        drop(checking);
        let begun = Instant::now();
        assert_eq!(client.post(POSTS, &json!({ "title": "Next" })).0, 200);
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    }
    running.shutdown();
}

/// HTTP/2 by prior knowledge, on the same port.
#[test]
fn http2_works_on_the_same_port() {
    let (_core, running) = start(&ServerConfig::default());
    let address = running.address();
    let client = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    client.block_on(async {
        let stream = tokio::net::TcpStream::connect(address).await.unwrap();
        let io = hyper_util::rt::TokioIo::new(stream);
        let executor = hyper_util::rt::TokioExecutor::new();
        let (mut sender, connection) =
            hyper::client::conn::http2::handshake(executor, io).await.unwrap();
        tokio::spawn(connection);
        for method in ["GET", "HEAD"] {
            let request = hyper::Request::builder()
                .method(method)
                .uri(format!("http://{address}/api/v1/content/post/one"))
                .header("x-auth-token", KEY)
                .body(axum::body::Body::empty())
                .unwrap();
            let response = sender.send_request(request).await.unwrap();
            assert_eq!(response.status(), 200);
            assert_eq!(response.version(), hyper::Version::HTTP_2);
            let length = response.headers()["content-length"].to_str().unwrap().to_owned();
            let body = response.into_body().collect().await.unwrap().to_bytes();
            if method == "GET" {
                assert_eq!(length, body.len().to_string());
                let body: Value = serde_json::from_slice(&body).unwrap();
                assert_eq!(body["id"], "one");
            } else {
                assert!(body.is_empty() && length != "0");
            }
        }
    });
    // An open connection of a client that does not respond would delay the shutdown.
    drop(client);
    running.shutdown();
}

/// During shutdown a running request gets its response; new ones are refused.
#[test]
fn running_request_finishes_before_shutdown() {
    let (core, running) = start(&ServerConfig::default());
    let address = running.address();
    let mut busy = Client::connect(address);
    let mut idle = Client::connect(address);
    assert_eq!(idle.get("/healthz").0, 200);
    let body = json!({ "id": "last", "title": "Last" }).to_string();
    let headers = format!(
        "content-type: application/json\r\ncontent-length: {}\r\nexpect: 100-continue\r\n",
        body.len()
    );
    busy.write(&Client::head("POST", POSTS, &headers));
    assert_eq!(busy.read().0, 100, "the server waits for the body");
    let ending = thread::spawn(move || running.shutdown());
    while TcpStream::connect(address).is_ok() {
        thread::sleep(Duration::from_millis(5));
    }
    let mut rest = Vec::new();
    assert_eq!(idle.stream.read_to_end(&mut rest).unwrap(), 0, "an idle connection is closed");
    busy.write(&body);
    assert_eq!(busy.read().0, 200);
    ending.join().unwrap();
    assert!(core.cms.objects().get(&Caller::local(), "post", "last", 0).is_ok());
}

/// An incomplete request delays the shutdown by the grace period at most.
#[test]
fn grace_period_ends() {
    let grace = Duration::from_millis(200);
    let (_core, running) = start(&ServerConfig { grace, ..ServerConfig::default() });
    let mut stuck = Client::connect(running.address());
    let headers = "content-type: application/json\r\ncontent-length: 100\r\n";
    stuck.write(&Client::head("POST", POSTS, headers));
    stuck.write("{");
    let started = Instant::now();
    running.shutdown();
    assert!(started.elapsed() < Duration::from_secs(10));
}

/// The HTTP library refuses malformed requests, and the server continues.
#[test]
fn malformed_request_is_refused() {
    let (_core, running) = start(&ServerConfig::default());
    let long = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(70_000));
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(200));
    for (noise, status) in [
        ("\0\0\0\0\r\n\r\n", "400"),
        ("GET / HTTP/9.9\r\n\r\n", "400"),
        ("GET /a b HTTP/1.1\r\n\r\n", "400"),
        (&*long, "414"),
        (&*many, "431"),
    ] {
        let mut stream = TcpStream::connect(running.address()).unwrap();
        stream.write_all(noise.as_bytes()).unwrap();
        let mut response = [0; 12];
        stream.read_exact(&mut response).unwrap();
        let response = String::from_utf8_lossy(&response).into_owned();
        assert!(response.ends_with(status), "{response} to {noise:.40}");
    }
    assert_eq!(Client::connect(running.address()).get("/readyz").0, 200);
    running.shutdown();
}
