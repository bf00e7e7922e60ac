//! The change feed over HTTP: pages, and streams that resume after a lost connection.

use std::{
    collections::HashSet,
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use cms_core::{
    Caller, Cms, CoreConfig, FirstKeys,
    testing::TestCms,
    wire::{change::ChangesRequest, key::KeyKind, presence::PresenceRequest},
};
use cms_server::{RunningServer, ServerConfig, serve};
use serde_json::{Value, json};

use crate::support::{CallerKind, TestApp, definition, error, generic, object};

const CHANGES: &str = "/api/v1/changes";
const KEY: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
/// Timeout of a read: longer than a stream takes for any event.
const READ_TIMEOUT: Duration = Duration::from_secs(20);

const WRITERS: usize = 4;
const OBJECTS_PER_WRITER: usize = 60;

fn start(config: ServerConfig) -> (TestCms, RunningServer) {
    start_on(TestCms::new(), config)
}

fn start_on(core: TestCms, config: ServerConfig) -> (TestCms, RunningServer) {
    let first = FirstKeys { read_write: Some(KEY.to_owned()), ..FirstKeys::default() };
    core.cms.keys().ensure_first(&first).unwrap();
    core.cms.types().create(&Caller::local(), definition("post")).unwrap();
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let running = serve(ServerConfig { listen, ..config }, Arc::clone(&core.cms)).unwrap();
    (core, running)
}

/// A client with a stream of changes on its own connection.
struct Client {
    lines: BufReader<TcpStream>,
    status: u16,
    last: String,
}

impl Client {
    /// Requests a stream that continues after the event `last`; if that is empty, with new events.
    fn connect(address: SocketAddr, key: &str, last: &str) -> Self {
        Self::connect_to(CHANGES, address, key, last)
    }

    fn connect_to(path: &str, address: SocketAddr, key: &str, last: &str) -> Self {
        Self::connect_as(path, address, &format!("x-auth-token: {key}"), last)
    }

    /// Like [`Self::connect_to`], with the header that authenticates.
    fn connect_as(path: &str, address: SocketAddr, header: &str, last: &str) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(READ_TIMEOUT)).unwrap();
        // HTTP/1.0 has no chunked encoding, so the lines are those of the stream.
        let head = format!(
            "GET {path} HTTP/1.0\r\nhost: x\r\n{header}\r\n\
             accept: text/event-stream\r\nlast-event-id: {last}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut client = Self { lines: BufReader::new(stream), status: 0, last: last.to_owned() };
        let status = client.line().unwrap();
        client.status = status.split(' ').nth(1).unwrap().parse().unwrap();
        while client.line().is_some_and(|line| !line.is_empty()) {}
        client
    }

    /// Reads a line; none at the end of the stream.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.lines.read_line(&mut line).unwrap();
        (read > 0).then(|| line.trim_end().to_owned())
    }

    /// Reads the next event with data; none at the end of the stream. The id of an event is stored
    /// once the event is complete.
    fn next(&mut self) -> Option<Value> {
        let (mut id, mut data) = (None, None);
        let started = Instant::now();
        loop {
            assert!(started.elapsed() < READ_TIMEOUT, "nothing but heartbeats");
            let line = self.line()?;
            if let Some(found) = line.strip_prefix("id: ") {
                id = Some(found.to_owned());
            } else if let Some(found) = line.strip_prefix("data: ") {
                data = Some(serde_json::from_str(found).unwrap());
            } else if line.is_empty() {
                self.last = id.take().unwrap_or_else(|| self.last.clone());
                if let Some(data) = data.take() {
                    return Some(data);
                }
            } else {
                assert!(line.starts_with(':') || line == "event: presence", "{line}");
            }
        }
    }

    /// Waits for the first message of the stream, which has the start position.
    fn begun(mut self) -> Self {
        assert_eq!(self.status, 200);
        assert_eq!(self.line().as_deref(), Some(":"));
        let id = self.line().unwrap();
        id.strip_prefix("id: ").unwrap().clone_into(&mut self.last);
        assert_eq!(self.line().as_deref(), Some(""));
        self
    }
}

fn create(cms: &Cms, id: &str) {
    let new = object(&json!({ "id": id, "title": id }));
    cms.objects().create(&Caller::local(), "post", new).unwrap();
}

/// Two handles on the data directory write, while the subscriber loses its connection again and
/// again, also in the middle of an event.
#[test]
fn stream_resumes_without_loss_or_repetition() {
    let (core, running) = start_on(TestCms::standalone(), ServerConfig::default());
    let address = running.address();
    let mut client = Client::connect(address, KEY, "").begun();
    let start = client.last.parse().unwrap();
    let mut config = CoreConfig::new(core.path());
    config.clock = Arc::clone(&core.clock) as _;
    let elsewhere = Cms::open(config).unwrap();
    let mut seen = Vec::new();
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let cms = if writer == 0 { &elsewhere } else { &*core.cms };
            scope.spawn(move || {
                for number in 0..OBJECTS_PER_WRITER {
                    let id = format!("{writer}-{number}");
                    create(cms, &id);
                    if number % 3 == 0 {
                        cms.objects().delete(&Caller::local(), "post", &id).unwrap();
                    }
                }
            });
        }
        let all = WRITERS * (OBJECTS_PER_WRITER + OBJECTS_PER_WRITER / 3);
        for round in 0.. {
            for _ in 0..=(round * 7) % 23 {
                if seen.len() < all {
                    seen.push(client.next().unwrap()["seq"].as_i64().unwrap());
                }
            }
            if seen.len() == all {
                break;
            }
            if round % 2 == 0 {
                client.line().unwrap();
            }
            client = Client::connect(address, KEY, &client.last);
            if round % 3 == 0 {
                let begun = client.begun();
                client = Client::connect(address, KEY, &begun.last);
            }
        }
    });
    let request = ChangesRequest { since: Some(start), content_types: None, limit: u32::MAX };
    let listed = core.cms.changes().after(&Caller::local(), &request).unwrap();
    assert_eq!(seen, listed.data.iter().map(|change| change.seq).collect::<Vec<_>>());
    let ids: HashSet<_> = listed.data.iter().map(|change| (&change.id, change.action)).collect();
    assert_eq!(ids.len(), WRITERS * (OBJECTS_PER_WRITER + OBJECTS_PER_WRITER / 3));
    running.shutdown();
}

/// A stream ends when its key is revoked, after which requests get 401, and when the server stops.
#[test]
fn stream_ends_with_its_key_and_its_server() {
    let (core, running) = start(ServerConfig::default());
    let local = Caller::local();
    let key = core.create_key("k", KeyKind::ReadOnly, &[]);
    let mut short = Client::connect(running.address(), &key.key, "").begun();
    let mut long = Client::connect(running.address(), KEY, "").begun();
    create(&core.cms, "a");
    assert_eq!(short.next().unwrap()["id"], "a");
    core.cms.keys().revoke(&local, &key.item.id).unwrap();
    create(&core.cms, "b");
    assert_eq!(short.next(), None);
    assert_eq!(Client::connect(running.address(), &key.key, &short.last).status, 401);
    assert_eq!(long.next().unwrap()["id"], "a");
    assert_eq!(long.next().unwrap()["id"], "b");
    let started = Instant::now();
    running.shutdown();
    assert_eq!(long.next(), None);
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

/// A stream ends within a second after its session, even when nothing else changes.
#[test]
fn stream_ends_with_its_session() {
    let (core, running) = start(ServerConfig::default());
    let cookie = core.session(&json!({ "email": "a@example.com", "name": "A", "role": "viewer" }));
    let header = format!("cookie: cms_session={cookie}");
    let mut stream = Client::connect_as(CHANGES, running.address(), &header, "").begun();
    create(&core.cms, "a");
    assert_eq!(stream.next().unwrap()["id"], "a");
    let caller = core.cms.caller_of_session(&cookie).unwrap();
    core.cms.sessions().sign_out(&caller, &cms_core::SessionClient::default()).unwrap();
    let ended = Instant::now();
    assert_eq!(stream.next(), None);
    assert!(ended.elapsed() < Duration::from_millis(1500), "{:?}", ended.elapsed());
    assert_eq!(Client::connect_as(CHANGES, running.address(), &header, "").status, 401);
    running.shutdown();
}

/// A stream is one request: it does not prolong its session while it is open.
#[test]
fn stream_ends_with_an_idle_session() {
    let (core, running) = start(ServerConfig::default());
    let cookie = core.session(&json!({ "email": "a@example.com", "name": "A", "role": "viewer" }));
    let header = format!("cookie: cms_session={cookie}");
    let mut stream = Client::connect_as(CHANGES, running.address(), &header, "").begun();
    core.clock.advance(13 * 86_400);
    create(&core.cms, "a");
    assert_eq!(stream.next().unwrap()["id"], "a");
    core.clock.advance(86_400);
    assert_eq!(stream.next(), None);
    running.shutdown();
}

/// Presence is sent on request, between the changes; its events do not move the position.
#[test]
fn stream_sends_presence() {
    let (core, running) = start(ServerConfig::default());
    create(&core.cms, "a");
    create(&core.cms, "b");
    let caller = core.cms.caller_of_key(KEY).unwrap();
    let put = |tab: &str, id: &str, property: Option<&str>| {
        let (tab, id) = (tab.to_owned(), id.to_owned());
        let property = property.map(str::to_owned);
        let request = PresenceRequest { tab, content_type: "post".to_owned(), id, property };
        core.cms.presences().put(&caller, request).unwrap();
    };
    let by = json!(caller.actor().author());
    let event = |tab: &str, id: &str, property: Option<&str>, ended: bool| {
        let mut event = json!({
            "tab": tab, "contentType": "post", "id": id, "property": property, "by": by,
            "at": "2026-01-02T03:04:05.000000+0000",
        });
        if ended {
            event["ended"] = json!(true);
        }
        event
    };
    put("t", "a", None);
    let path = format!("{CHANGES}?presence=1&types[]=post");
    let mut client = Client::connect_to(&path, running.address(), KEY, "").begun();
    let mut plain = Client::connect(running.address(), KEY, "").begun();
    let start = client.last.clone();
    assert_eq!(client.next(), Some(event("t", "a", None, false)));
    put("t", "a", Some("title"));
    assert_eq!(client.next(), Some(event("t", "a", Some("title"), false)));
    put("t", "b", None);
    assert_eq!(client.next(), Some(event("t", "a", Some("title"), true)));
    assert_eq!(client.next(), Some(event("t", "b", None, false)));
    assert_eq!(client.last, start);
    // A repeated presence causes no event: the next event is the change.
    put("t", "b", None);
    create(&core.cms, "c");
    assert_eq!(client.next().unwrap()["id"], "c");
    core.cms.presences().remove(&caller, "t").unwrap();
    assert_eq!(client.next(), Some(event("t", "b", None, true)));
    put("u", "c", None);
    assert_eq!(client.next(), Some(event("u", "c", None, false)));
    core.clock.advance(45);
    assert_eq!(client.next(), Some(event("u", "c", None, true)));
    // Without the parameter there are changes only.
    assert_eq!(plain.next().unwrap()["id"], "c");
    create(&core.cms, "d");
    assert_eq!(plain.next().unwrap()["id"], "d");
    running.shutdown();
}

/// A closed stream makes room for another one.
#[test]
fn stream_limit_returns_503() {
    let (core, running) = start(ServerConfig { subscribers: 1, ..ServerConfig::default() });
    let first = Client::connect(running.address(), KEY, "").begun();
    assert_eq!(Client::connect(running.address(), KEY, "").status, 503);
    assert_eq!(Client::connect(running.address(), KEY, "1000000").status, 410);
    assert_eq!(Client::connect(running.address(), KEY, "x").status, 400);
    assert_eq!(Client::connect(running.address(), "unknown", "x").status, 401);
    drop(first);
    let started = Instant::now();
    let mut second = loop {
        let client = Client::connect(running.address(), KEY, "");
        if client.status == 200 {
            break client.begun();
        }
        assert!(started.elapsed() < READ_TIMEOUT);
    };
    create(&core.cms, "a");
    assert_eq!(second.next().unwrap()["id"], "a");
    running.shutdown();
}

#[tokio::test]
async fn page_has_the_next_position() {
    let app = TestApp::new();
    let now = app.get(CHANGES).await.json();
    assert_eq!((&now["data"], &now["more"]), (&json!([]), &json!(false)));
    let next = now["next"].as_str().unwrap();
    for id in ["a", "b"] {
        app.create("post", &json!({ "id": id, "title": id })).await;
    }
    app.request("PATCH", "/api/v1/content/post/a", &json!({ "price": 1 })).await;
    let first = app.get(&format!("{CHANGES}?since={next}&limit=2&odd=1")).await;
    assert_eq!(first.header("x-deprecated-query-params"), Some("odd"));
    let first = first.json();
    assert_eq!(first["more"], true);
    let at = "2026-01-02T03:04:05.000000+0000";
    let key = app.get("/api/auth-context").await.json()["user"]["id"].clone();
    let by = json!({ "kind": "key", "id": key, "name": "read-write" });
    let seq = first["data"][0]["seq"].as_i64().unwrap();
    let entry = |more: i64, action: &str, id: &str, version: i64| {
        json!({
            "seq": seq + more, "at": at, "action": action, "contentType": "post",
            "id": id, "version": version, "by": by,
        })
    };
    assert_eq!(first["data"], json!([entry(0, "create", "a", 1), entry(1, "create", "b", 1)]));
    let next = first["next"].as_str().unwrap();
    let second =
        app.get(&format!("{CHANGES}?since={next}&types[]=post&types[]=author")).await.json();
    assert_eq!(
        (&second["data"], &second["more"]),
        (&json!([entry(2, "update", "a", 2)]), &json!(false))
    );
    assert_eq!(
        app.get(&format!("{CHANGES}?since={next}&types=author")).await.json()["data"],
        json!([])
    );
    for wrong in ["x", "-1", "1-"] {
        let reply = app.get(&format!("{CHANGES}?since={wrong}")).await;
        assert_eq!(reply.status_and_body(), error("since", "This value is not valid."));
    }
    let gone = generic(410, "The changes after this position are no longer available");
    assert_eq!(app.get(&format!("{CHANGES}?since=99999")).await.status_and_body(), (410, gone));
}

/// A scoped key gets the same responses whether other types have changes, have none, or do not exist.
#[tokio::test]
async fn scoped_key_gets_no_changes_of_other_types() {
    let app = TestApp::new();
    let send = |path: String| {
        let app = &app;
        async move { app.get_as(CallerKind::Stranger, &path).await.status_and_body() }
    };
    let start = send(CHANGES.to_owned()).await.1["next"].as_str().unwrap().to_owned();
    app.create("post", &json!({ "id": "secret", "title": "secret" })).await;
    app.create("author", &json!({ "id": "secret", "title": "secret" })).await;
    app.delete("/api/v1/content/author/secret").await;
    app.delete("/api/v1/internal/contenttype/author").await;
    let all = send(format!("{CHANGES}?since={start}")).await;
    assert_eq!((all.0, &all.1["data"]), (200, &json!([])));
    for name in ["post", "author", "nothing"] {
        assert_eq!(send(format!("{CHANGES}?since={start}&types[]={name}")).await, all, "{name}");
    }
    let from_start = send(format!("{CHANGES}?since=0&limit=1000")).await;
    assert_eq!((from_start.0, &from_start.1["data"]), (200, &json!([])));
}
