//! Writes that one node of a cluster sends to the writer node.

use std::{
    collections::BTreeSet,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use reqwest::{
    Method,
    blocking::{Client, RequestBuilder, Response},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    cluster::{Shared, TAGS, free_address, send, tags},
    support::{Server, client, wait_for},
};

/// The first node writes for both.
struct Nodes {
    writer: Server,
    other: Server,
    shared: Shared,
    folders: [TempDir; 2],
    client: Client,
}

impl Nodes {
    fn start(other_arguments: &[&str]) -> Option<Self> {
        let shared = Shared::start()?;
        let folders = [TempDir::new().unwrap(), TempDir::new().unwrap()];
        let writer = start(&shared, folders[0].path(), "one", &[]);
        let other = start(&shared, folders[1].path(), "two", other_arguments);
        let nodes = Self { writer, other, shared, folders, client: client().build().unwrap() };
        nodes.wait(|| nodes.forwarded("responded") > 0);
        Some(nodes)
    }

    /// Sends writes to the other node until `is_done` returns true.
    fn wait(&self, is_done: impl Fn() -> bool) {
        let started = Instant::now();
        for number in 0.. {
            let sent = send(&self.client, &self.other, &format!("wait-{number}"));
            assert!([200, 400].contains(&sent.unwrap().status().as_u16()), "400 if it exists");
            if is_done() {
                return;
            }
            assert!(started.elapsed() < Duration::from_secs(20), "in time");
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Number of forwarded writes of the other node.
    fn forwarded(&self, result: &str) -> u64 {
        let metrics = self.other.get("/metrics").text().unwrap();
        let name = format!("cms_cluster_forwarded_total{{result=\"{result}\"}} ");
        let value = metrics.lines().find_map(|line| line.strip_prefix(&*name));
        value.map_or(0, |value| value.parse().unwrap())
    }

    /// The name of the node that made the last commit.
    fn last_writer(&self) -> String {
        let sql = "SELECT node FROM cms.commit_log ORDER BY commit_no DESC LIMIT 1";
        self.shared.postgres.sql("cms", sql)
    }

    fn request(&self, node: &Server, method: &Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method.clone(), format!("{}{path}", node.url));
        request.header("X-AUTH-TOKEN", &node.key).header("content-type", "application/json")
    }
}

fn start(shared: &Shared, folder: &Path, name: &str, arguments: &[&str]) -> Server {
    let listen = free_address();
    let address = format!("http://{listen}");
    let mut all = vec!["--listen", &listen, "--node-address", &address, "--node-name", name];
    all.extend(["--log", "info,cms_server::log=debug"]);
    all.extend(arguments);
    shared.node_with(folder, &all)
}

#[track_caller]
fn wait_until_ok(node: &Server, path: &str, limit: Duration) {
    wait_for(limit, &format!("{path} is 200 in time"), || node.get(path).status() == 200);
}

/// Status, names of headers, and the body without the members that differ each time.
fn shape(response: Response) -> (u16, BTreeSet<String>, String) {
    let names = response.headers().keys().map(ToString::to_string);
    let (status, names) = (response.status().as_u16(), names.collect());
    let mut text = response.text().unwrap();
    if let Ok(mut body) = serde_json::from_str::<Value>(&text) {
        for member in ["id", "name", "slug"] {
            body[member] = Value::Null;
        }
        body["internal"] = Value::Null;
        text = body.to_string();
    }
    (status, names, text)
}

#[test]
fn forwarded_write_has_the_response_of_the_writer() {
    let Some(nodes) = Nodes::start(&[]) else { return };
    assert_eq!(nodes.last_writer(), "one");
    assert_eq!(nodes.writer.get("/writerz").status(), 200);
    let other = nodes.other.get("/writerz");
    assert_eq!(
        (other.status().as_u16(), other.headers()["retry-after"].as_bytes()),
        (503, &b"1"[..])
    );

    let both = [&nodes.writer, &nodes.other];
    let post = Method::POST;
    let large = format!(r#"{{"id": "large", "name": "{}"}}"#, "x".repeat(11 * 1024 * 1024));
    let bodies = [r#"{"name": "N@"}"#, r#"{"name": 5}"#, "{", large.as_str()];
    for body in bodies {
        let [direct, forwarded] = [0, 1].map(|index| {
            let body = body.replace('@', &index.to_string());
            shape(nodes.request(both[index], &post, TAGS).body(body).send().unwrap())
        });
        assert_eq!(direct, forwarded, "{}", &body[..body.len().min(20)]);
    }
    let unknown = |node: &Server| {
        let request = nodes.client.post(format!("{}{TAGS}", node.url)).body("{}");
        shape(request.header("X-AUTH-TOKEN", "unknown").send().unwrap())
    };
    assert_eq!(unknown(&nodes.writer), unknown(&nodes.other));

    // Both nodes accept the same number of headers, and heads of the same length.
    for (headers, bytes) in (88..=100).map(|number| (number, 1)).chain([(1, 130_500), (1, 131_100)])
    {
        let [direct, forwarded] = both.map(|node| {
            let mut request = nodes.request(node, &post, TAGS).body(r#"{"name": 5}"#);
            for number in 0..headers {
                request = request.header(format!("x-{number}"), "x".repeat(bytes));
            }
            request.send().unwrap().status().as_u16()
        });
        assert_eq!(direct, forwarded, "{headers} headers of {bytes} bytes");
    }

    // A repeated request gets the same response from any node, and changes nothing.
    let create = |node: &Server| {
        let request = nodes.request(node, &post, TAGS).header("Idempotency-Key", "once");
        let response = request.body(r#"{"name": "Once"}"#).send().unwrap();
        assert_eq!(response.status(), 200);
        serde_json::from_str::<Value>(&response.text().unwrap()).unwrap()["id"].clone()
    };
    assert_eq!(create(&nodes.other), create(&nodes.writer));
    // The writer checks a forwarded `If-Match`.
    let put = |version: &str| {
        let path = format!("{TAGS}/wait-0");
        let request = nodes.request(&nodes.other, &Method::PATCH, &path);
        let request = request.header("If-Match", version).body(r#"{"name": "Changed"}"#);
        request.send().unwrap().status().as_u16()
    };
    assert_eq!(put("\"none\""), 412);
    let read = nodes.other.get(&format!("{TAGS}/wait-0"));
    assert_eq!(put(read.headers()["etag"].to_str().unwrap()), 200);

    // The `x-cms-position` of a forwarded write is the position of the writer. The node that forwarded
    // the write serves a read with it.
    let sent = send(&nodes.client, &nodes.other, "position").unwrap();
    let position = sent.headers()["x-cms-position"].clone();
    let own = nodes.request(&nodes.other, &Method::GET, &format!("{TAGS}/position"));
    assert_eq!(own.header("x-cms-position", position).send().unwrap().status(), 200);
    let Nodes { writer, other, shared, folders, .. } = nodes;
    let all = tags(&writer);
    assert_eq!(tags(&other), all);
    // The node that stops last stores the times at which keys were used: only its replica has that
    // commit.
    drop(other);
    writer.terminate();
    shared.assert_equal(folders[0].path());
}

#[test]
fn forwarded_client_address_needs_the_token_of_a_node() {
    let Some(nodes) = Nodes::start(&["--trust-proxy"]) else { return };
    let request = nodes.request(&nodes.other, &Method::POST, TAGS);
    let request = request.header("x-forwarded-for", "203.0.113.7").body(r#"{"name": "A"}"#);
    assert_eq!(request.send().unwrap().status(), 200);
    let request = nodes.request(&nodes.writer, &Method::POST, TAGS);
    let request = request.header("x-cms-forwarded", "token 203.0.113.9").body(r#"{"name": "B"}"#);
    assert_eq!(request.send().unwrap().status(), 200);
    let log = nodes.writer.wait_for_log(Duration::from_secs(5), "203.0.113.7");
    assert!(!log.contains("203.0.113.9"), "{log}");
    // A request with the header of a forwarded one is not forwarded again, even without a valid token.
    let before = nodes.forwarded("responded");
    let request = nodes.request(&nodes.other, &Method::POST, TAGS);
    let request = request.header("x-cms-forwarded", "x").body(r#"{"name": "C"}"#);
    assert_eq!(request.send().unwrap().status(), 200);
    assert_eq!((nodes.forwarded("responded"), nodes.last_writer()), (before, "two".to_owned()));
}

#[test]
fn new_key_is_accepted_by_a_node_that_may_read_older_content() {
    let Some(nodes) = Nodes::start(&["--read-consistency", "within=30s"]) else { return };
    for number in 0..10 {
        let key = json!({ "name": format!("key-{number}"), "kind": "read_only" });
        let created = nodes.writer.post("internal/key", key.to_string());
        let request = nodes.client.get(format!("{}{TAGS}", nodes.other.url));
        let request = request.header("x-auth-token", created["key"].as_str().unwrap());
        assert_eq!(request.send().unwrap().status(), 200);
    }
}

#[test]
fn read_with_the_position_of_a_write_sees_it_on_a_node_that_may_read_older_content() {
    let Some(nodes) = Nodes::start(&["--read-consistency", "within=30s"]) else { return };
    for number in 0..10 {
        let id = format!("own-{number}");
        let created = send(&nodes.client, &nodes.writer, &id).unwrap();
        let position = created.headers()["x-cms-position"].clone();
        let own = nodes.request(&nodes.other, &Method::GET, &format!("{TAGS}/{id}"));
        assert_eq!(own.header("x-cms-position", position).send().unwrap().status(), 200);
    }
}

/// The writer node treats a forwarded request of the admin page as same-origin, although another node served the page.
#[test]
fn session_of_the_admin_page_writes_through_another_node() {
    let Some(nodes) = Nodes::start(&[]) else { return };
    let user = json!({
        "email": "ada@example.com", "name": "Ada", "role": "admin", "password": "a good password",
    });
    nodes.other.post("internal/user", user.to_string());
    let sign_in = nodes.client.post(format!("{}/api/v1/session", nodes.other.url));
    let sign_in = sign_in.header("x-cms-request", "1").header("content-type", "application/json");
    let credentials = json!({ "email": "ada@example.com", "password": "a good password" });
    let signed_in = sign_in.body(credentials.to_string()).send().unwrap();
    assert_eq!(signed_in.status(), 200);
    let cookie = signed_in.headers()["set-cookie"].to_str().unwrap();
    let cookie = cookie.split(';').next().unwrap();
    let before = nodes.forwarded("responded");
    let write = |site: &str| {
        let request = nodes.client.post(format!("{}{TAGS}", nodes.other.url));
        let request = request.header("cookie", cookie).header("x-cms-request", "1");
        let request = request.header("content-type", "application/json");
        let request = request.header("sec-fetch-site", site);
        request.body(json!({ "name": site }).to_string()).send().unwrap().status().as_u16()
    };
    assert_eq!((write("same-origin"), write("cross-site")), (200, 403));
    assert_eq!(nodes.forwarded("responded"), before + 2);
}

/// Whatever happens to the writer node, another node serves its clients.
#[test]
fn node_writes_itself_when_the_writer_is_gone() {
    let Some(nodes) = Nodes::start(&[]) else { return };
    let Nodes { writer, other, shared, folders, client } = nodes;
    let mut sent = BTreeSet::new();
    let mut create = |id: String| {
        let status = send(&client, &other, &id).unwrap().status().as_u16();
        if status == 200 {
            sent.insert(id);
        }
        status
    };
    // A writer that is stopped: no write fails.
    let stopping = thread::spawn(move || writer.terminate());
    for number in 0..40 {
        assert_eq!(create(format!("stopped-{number}")), 200);
        // The writes go on while the writer stops.
        thread::sleep(Duration::from_millis(20));
    }
    stopping.join().unwrap();
    wait_until_ok(&other, "/writerz", Duration::from_secs(10));
    // A writer that is killed: only a request under way has an unknown outcome.
    let again = start(&shared, folders[0].path(), "one", &[]);
    let forwards = |node: &Server| {
        let text = node.get("/metrics").text().unwrap();
        text.contains("cms_cluster_forwarded_total{result=\"responded\"}")
    };
    let started = Instant::now();
    while !forwards(&again) {
        assert_eq!(
            send(&client, &again, &format!("again-{}", started.elapsed().as_millis()))
                .unwrap()
                .status(),
            200
        );
        assert!(started.elapsed() < Duration::from_secs(10), "writes are forwarded");
        thread::sleep(Duration::from_millis(50));
    }
    drop(other);
    for number in 0..20 {
        let sent = send(&client, &again, &format!("killed-{number}")).unwrap();
        assert_eq!(sent.status(), 200, "{}", sent.text().unwrap());
    }
    let all = tags(&again);
    assert!(sent.is_subset(&all));
    assert!((0..20).all(|number| all.contains(&format!("killed-{number}"))));
}

/// After a 504, a client reads whether its write was stored. The result must not change later.
#[test]
fn paused_writer_drops_writes_that_have_waited_too_long() {
    let Some(nodes) = Nodes::start(&[]) else { return };
    let status = |id: &str| send(&nodes.client, &nodes.other, id).unwrap().status().as_u16();
    thread::scope(|scope| {
        // The first write waits for this lock in its commit, the second one for the end of that commit.
        let sql = "BEGIN; LOCK TABLE cms.commit_log IN EXCLUSIVE MODE; SELECT pg_sleep(3); COMMIT";
        scope.spawn(|| nodes.shared.postgres.sql("cms", sql));
        // The sleeps let each step take effect: the lock is taken, then both writes wait.
        thread::sleep(Duration::from_secs(1));
        let first = scope.spawn(|| status("first"));
        thread::sleep(Duration::from_millis(500));
        let second = scope.spawn(|| status("second"));
        thread::sleep(Duration::from_millis(500));
        nodes.writer.signal("STOP");
        assert_eq!((first.join().unwrap(), second.join().unwrap()), (504, 504));
    });
    let all = tags(&nodes.other);
    assert!(all.contains("first") && !all.contains("second"), "{all:?}");
    nodes.writer.signal("CONT");
    wait_until_ok(&nodes.writer, "/readyz", Duration::from_secs(20));
    assert_eq!(tags(&nodes.writer), all);
}
