//! Unread responses and hydrated responses: the memory of the server stays bounded, and it
//! continues to respond.

use std::{
    fmt::Write as _,
    io::{self, Write},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use reqwest::blocking::multipart::{Form, Part};
use serde_json::{Value, json};

use super::support::{Cli, Server, client, link, wait_for};

/// The response memory budget of the servers, in bytes.
const RESPONSE_MEMORY: &str = "67108864";
/// Limit of the server's memory, in kilobytes, of which binary, database and index take some 150
/// MB.
const MAX_MEMORY: u64 = 400_000;
/// Streams that a client opens on each connection; the server permits fewer.
const STREAMS: u32 = 100;

const NOTE: &str = "\
version: 1
contentTypes:
  - name: note
    properties:
      text: {type: text}
      related: {type: datasource, many: true}
";

fn start() -> (Cli, Server) {
    let cli = Cli::empty();
    let server = Server::start_in(&cli.path(""), &["--response-memory", RESPONSE_MEMORY]);
    (cli, server)
}

/// An HTTP/2 connection whose client has no room for any byte of a response body.
struct Unread(TcpStream);

impl Unread {
    fn open(server: &Server) -> io::Result<Self> {
        let mut stream = TcpStream::connect(server.url.strip_prefix("http://").unwrap())?;
        stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")?;
        let mut unread = Self(stream);
        // SETTINGS_INITIAL_WINDOW_SIZE = 0.
        unread.frame(4, 0, 0, &[0, 4, 0, 0, 0, 0])?;
        Ok(unread)
    }

    fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> io::Result<()> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let head = [length[1], length[2], length[3], kind, flags];
        self.0.write_all(&[&head, &stream.to_be_bytes()[..], payload].concat())
    }

    fn get(&mut self, number: u32, path: &str, key: &str) -> io::Result<()> {
        let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
        // :method GET, :scheme http, :authority, :path, x-auth-token.
        let headers = [
            vec![0x82, 0x86, 0x01],
            text("x"),
            vec![0x04],
            text(path),
            vec![0x00],
            text("x-auth-token"),
            text(key),
        ];
        // END_STREAM and END_HEADERS.
        self.frame(1, 5, 2 * number + 1, &headers.concat())
    }
}

/// Requests a path on many streams of many connections, without flow control windows for the
/// bodies. Returns when the server waits for the clients only.
fn request_and_read_nothing(server: &Server, connections: u32, path: &str) -> Vec<Unread> {
    let mut open = Vec::new();
    for _ in 0..connections {
        let mut connection = Unread::open(server).unwrap();
        for number in 0..STREAMS {
            connection.get(number, path, &server.key).unwrap();
        }
        let mut reader = connection.0.try_clone().unwrap();
        thread::spawn(move || io::copy(&mut reader, &mut io::sink()));
        open.push(connection);
    }
    require_healthy(server);
    // The request for the metrics may hold a permit itself.
    let idle = |kind: &str| {
        let metric = |state| server.metric(&format!("cms_permits_{state}{{kind=\"{kind}\"}}"));
        metric("waiting") == "0" && ["0", "1"].contains(&&*metric("used"))
    };
    let start = Instant::now();
    let mut idle_checks = 0;
    while idle_checks < 3 && start.elapsed() < Duration::from_secs(30) {
        require_healthy(server);
        idle_checks = if ["read", "file"].into_iter().all(idle) { idle_checks + 1 } else { 0 };
    }
    open
}

fn require_healthy(server: &Server) {
    let response = client().build().unwrap().get(format!("{}/healthz", server.url)).send();
    assert_eq!(response.unwrap().status(), 200);
}

fn require_bounded(server: &Server) {
    if let Some(peak) = server.memory_peak() {
        assert!(peak < MAX_MEMORY, "{peak} KB");
    }
}

/// Creates a type, and objects with a text of `bytes` bytes that link to each other.
fn create_objects(server: &Server, count: usize, bytes: usize) {
    let cli = Cli::with_server(server);
    cli.apply("note.yaml", NOTE);
    let object = |number: usize, other: usize| {
        let related = link("note", &other.to_string());
        json!({ "id": number.to_string(), "text": "x".repeat(bytes), "related": related })
    };
    let mut first = object(0, 0);
    first["related"] = json!([]);
    server.post("content/note", first.to_string());
    let others: Vec<_> = (1..count).map(|number| object(number, number - 1)).collect();
    for chunk in others.chunks(100) {
        server.post("content/note/batch", Value::from(chunk).to_string());
    }
}

#[test]
fn unread_files_take_little_memory() {
    let (_cli, server) = start();
    let file = Part::bytes(vec![b'x'; 256 * 1024]).file_name("a.txt");
    let form = Form::new().text("type", "file").part("file", file);
    let request = client().build().unwrap().post(format!("{}/api/media", server.url));
    let response = request.header("X-AUTH-TOKEN", &server.key).multipart(form).send().unwrap();
    let object: Value = serde_json::from_str(&response.text().unwrap()).unwrap();
    let path = object["url"].as_str().unwrap();

    let _open = request_and_read_nothing(&server, 39, path);
    let used: f64 = server.metric("cms_response_memory_bytes").parse().unwrap();
    // 16 KiB of each file, on at most 64 streams of a connection.
    assert!(used <= 64.0 * 39.0 * 16_384.0, "{used}");
    require_bounded(&server);
}

#[test]
fn unread_lists_are_refused_when_the_response_memory_budget_is_used_up() {
    let (_cli, server) = start();
    create_objects(&server, 17, 60_000);
    let path = "/api/v1/content/note?limit=17";
    let _open = request_and_read_nothing(&server, 4, path);
    let used: f64 = server.metric("cms_response_memory_bytes").parse().unwrap();
    let limit: f64 = RESPONSE_MEMORY.parse().unwrap();
    assert!(used > limit / 4.0 && used < limit + 1_000_000.0, "{used}");
    require_bounded(&server);
    let mut text = String::new();
    let response = server.get(path);
    write!(text, "{} {:?}", response.status(), response.headers().get("retry-after")).unwrap();
    assert!(["200 OK None", "503 Service Unavailable Some(\"1\")"].contains(&&*text), "{text}");
}

/// Two levels of hydration, so that 12 MB of objects give a response of 24 MB.
#[test]
fn hydrated_searches_stay_within_the_response_memory_budget() {
    let (_cli, server) = start();
    create_objects(&server, 200, 60_000);
    // On a slow machine indexing takes longer than a search waits.
    wait_for(Duration::from_mins(1), "indexing", || {
        let found = server.get("/api/v1/search?q=*&limit=1").text().unwrap();
        found.contains(r#""total_count":200,"#)
    });
    let search = || {
        let response = server.get("/api/v1/search?q=*&limit=200&hydrate=2");
        (response.status().as_u16(), response.bytes().unwrap().len())
    };
    let results: Vec<_> = thread::scope(|scope| {
        let searches: Vec<_> = (0..16).map(|_| scope.spawn(search)).collect();
        while !searches.iter().all(thread::ScopedJoinHandle::is_finished) {
            require_healthy(&server);
            // The mapped database does not count, so only anonymous memory is measured.
            let memory = server.anonymous_memory().unwrap_or_default();
            assert!(memory < MAX_MEMORY, "{memory} KB");
        }
        searches.into_iter().map(|search| search.join().unwrap()).collect()
    });
    let is_expected = |result: &(u16, usize)| matches!(result, (200, 24_000_000..) | (503, _));
    assert!(results.iter().all(is_expected), "{results:?}");
    assert!(matches!(search(), (200, 24_000_000..)), "a single search fits: {results:?}");
}
