//! Clients that read nothing of their responses, and responses that are larger than they look: the
//! memory of the server stays bounded, and it goes on responding.

use std::{
    fmt::Write as _,
    io::{self, Write},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use reqwest::blocking::multipart::{Form, Part};
use serde_json::{Value, json};

use super::support::{Place, Server, client};

/// Settings of the servers below, and the most that they may take, in kilobytes: binary, database and
/// index take some 150 MB.
const MEMORY: &str = "67108864";
const PEAK: u64 = 400_000;
/// Streams that a client asks for on each connection; the server takes fewer.
const STREAMS: u32 = 100;

fn start() -> (Place, Server) {
    let place = Place::empty();
    let server = Server::start_in(&place.path(""), &["--response-memory", MEMORY]);
    (place, server)
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

/// Asks for something on many streams of many connections, and reads nothing but what is no body. Returns
/// when all is asked and the server has nothing left to do.
fn ask_and_read_nothing(server: &Server, connections: u32, path: &str) -> Vec<Unread> {
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
    let idle = |kind: &str| {
        ["used", "waiting"]
            .iter()
            .all(|state| server.metric(&format!("cms_permits_{state}{{kind=\"{kind}\"}}")) == "0")
    };
    let start = Instant::now();
    while !["read", "file"].into_iter().all(idle) && start.elapsed() < Duration::from_secs(30) {
        require_healthy(server);
    }
    open
}

fn require_healthy(server: &Server) {
    let response = client().build().unwrap().get(format!("{}/healthz", server.url)).send();
    assert_eq!(response.unwrap().status(), 200);
}

fn require_bounded(server: &Server) {
    if let Some(peak) = server.memory_peak() {
        assert!(peak < PEAK, "{peak} KB");
    }
}

/// Makes a type, and objects with a text of so many bytes that link to each other.
fn create_objects(server: &Server, count: usize, bytes: usize) {
    let link = json!({ "type": "array", "items": { "$ref": "#/components/schemas/DataSource" } });
    post(
        server,
        "internal/contenttype",
        &json!({
            "name": "note",
            "label": "Note",
            "schemaDefinition": {
                "type": "object",
                "additionalProperties": false,
                "required": [],
                "allOf": [
                    { "$ref": "#/components/schemas/AbstractContentTypeSchemaDefinition" },
                    { "type": "object", "properties": { "text": { "type": "string" }, "related": link } },
                ],
            },
            "metaDefinition": {
                "order": ["text", "related"],
                "propertiesConfig": {
                    "text": { "label": "", "inputType": "text", "unique": false },
                    "related": { "label": "", "inputType": "datasource", "unique": false,
                        "validation": { "relationContenttype": "", "relationMultiple": true } },
                },
            },
        }),
    );
    let object = |number: usize, other: usize| {
        let link =
            json!({ "type": "internal", "dataUrl": format!("/api/v1/content/note/{other}") });
        json!({ "id": number.to_string(), "text": "x".repeat(bytes), "related": [link] })
    };
    let mut first = object(0, 0);
    first["related"] = json!([]);
    post(server, "content/note", &first);
    let others: Vec<_> = (1..count).map(|number| object(number, number - 1)).collect();
    for chunk in others.chunks(100) {
        post(server, "content/note/batch", &Value::from(chunk));
    }
}

fn post(server: &Server, path: &str, body: &Value) {
    let client = client().timeout(Duration::from_mins(5)).build().unwrap();
    let request = client.post(format!("{}/api/v1/{path}", server.url));
    let request = request.header("content-type", "application/json").body(body.to_string());
    let response = request.header("X-AUTH-TOKEN", &server.key).send().unwrap();
    let (status, text) = (response.status(), response.text().unwrap());
    assert!(status.is_success(), "{status} {text:.500}");
}

#[test]
fn files_that_nobody_reads_take_little_memory() {
    let (_place, server) = start();
    let file = Part::bytes(vec![b'x'; 256 * 1024]).file_name("a.txt");
    let form = Form::new().text("type", "file").part("file", file);
    let request = client().build().unwrap().post(format!("{}/api/media", server.url));
    let response = request.header("X-AUTH-TOKEN", &server.key).multipart(form).send().unwrap();
    let object: Value = serde_json::from_str(&response.text().unwrap()).unwrap();
    let path = object["url"].as_str().unwrap();

    let _open = ask_and_read_nothing(&server, 39, path);
    let held: f64 = server.metric("cms_response_memory_bytes").parse().unwrap();
    // 16 KiB of each file, on at most 64 streams of a connection.
    assert!(held <= 64.0 * 39.0 * 16_384.0, "{held}");
    require_bounded(&server);
}

#[test]
fn lists_that_nobody_reads_are_refused_when_the_memory_for_responses_is_used_up() {
    let (_place, server) = start();
    create_objects(&server, 17, 60_000);
    let path = "/api/v1/content/note?limit=17";
    let _open = ask_and_read_nothing(&server, 4, path);
    let held: f64 = server.metric("cms_response_memory_bytes").parse().unwrap();
    let limit: f64 = MEMORY.parse().unwrap();
    assert!(held > limit / 4.0 && held < limit + 1_000_000.0, "{held}");
    require_bounded(&server);
    let mut text = String::new();
    let request = client().build().unwrap().get(format!("{}{path}", server.url));
    let response = request.header("X-AUTH-TOKEN", &server.key).send().unwrap();
    write!(text, "{} {:?}", response.status(), response.headers().get("retry-after")).unwrap();
    assert!(["200 OK None", "503 Service Unavailable Some(\"1\")"].contains(&&*text), "{text}");
}

/// Two levels of hydration, each object twice in a result: a response of 24 MB of objects of 12 MB.
#[test]
fn hydrated_searches_take_no_more_memory_than_there_is_for_responses() {
    let (_place, server) = start();
    create_objects(&server, 200, 60_000);
    let search = || {
        let url = format!("{}/api/v1/search?q=*&limit=200&hydrate=2", server.url);
        let client = client().build().unwrap();
        let response = client.get(url).header("X-AUTH-TOKEN", &server.key).send().unwrap();
        (response.status().as_u16(), response.bytes().unwrap().len())
    };
    let results: Vec<_> = thread::scope(|scope| {
        let searches: Vec<_> = (0..16).map(|_| scope.spawn(search)).collect();
        while !searches.iter().all(thread::ScopedJoinHandle::is_finished) {
            require_healthy(&server);
            // Each connection to the database maps the whole of it, which is no memory of the process.
            let memory = server.anonymous_memory().unwrap_or_default();
            assert!(memory < PEAK, "{memory} KB");
        }
        searches.into_iter().map(|search| search.join().unwrap()).collect()
    });
    let is_expected = |result: &(u16, usize)| matches!(result, (200, 24_000_000..) | (503, _));
    assert!(results.iter().all(is_expected), "{results:?}");
    assert!(matches!(search(), (200, 24_000_000..)), "alone there is room: {results:?}");
}
