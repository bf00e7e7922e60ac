//! Several nodes on one PostgreSQL server and one bucket, as processes: kills of nodes and of the
//! database, a restored database, and moves of content into a cluster and out of it.
//!
//! These tests need the programs that `CMS_TEST_POSTGRES` and `CMS_TEST_S3` name; without them they
//! report so and pass.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use reqwest::blocking::{Client, Response};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    bucket::BucketServer,
    postgres,
    support::{Cli, Server, client, fixtures, wait_for},
};

pub(crate) const TAGS: &str = "/api/v1/content/_tag";

/// The services that all nodes share.
pub(crate) struct Shared {
    pub(crate) postgres: postgres::Server,
    bucket: BucketServer,
}

impl Shared {
    pub(crate) fn start() -> Option<Self> {
        let shared = Self { bucket: BucketServer::start()?, postgres: postgres::Server::start()? };
        shared.postgres.create_database("cms");
        Some(shared)
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        self.variables_of("cms")
    }

    /// The settings of a node of the cluster in a database.
    pub(crate) fn variables_of(&self, database: &str) -> Vec<(&'static str, String)> {
        let port = self.postgres.port();
        let url = format!("postgres://cms@127.0.0.1:{port}/{database}");
        let mut variables = vec![("CMS_DATABASE", url)];
        variables.extend(self.bucket.variables(database));
        variables
    }

    /// Starts a node on the data directory `data` in a folder.
    fn node(&self, folder: &Path) -> Server {
        self.node_with(folder, &[])
    }

    pub(crate) fn node_with(&self, folder: &Path, arguments: &[&str]) -> Server {
        Server::start_with_variables(folder, arguments, &self.variables())
    }

    /// Runs `cms` with the settings of the cluster.
    fn cli(&self) -> Cli {
        Cli::with_variables(self.variables())
    }

    /// Asserts that the replica in a folder equals the shared database.
    pub(crate) fn assert_equal(&self, folder: &Path) {
        let data = folder.join("data");
        let compared =
            self.cli().run(&["--data", data.to_str().unwrap(), "cluster", "compare"]).ok();
        assert_eq!(compared, "no differences\n");
    }
}

pub(crate) fn send(client: &Client, node: &Server, id: &str) -> reqwest::Result<Response> {
    client
        .post(format!("{}{TAGS}", node.url))
        .header("X-AUTH-TOKEN", &node.key)
        .header("content-type", "application/json")
        .body(json!({ "id": id, "name": id }).to_string())
        .send()
}

/// The ids of all tags.
pub(crate) fn tags(node: &Server) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    for page in 1.. {
        let response = node.get(&format!("{TAGS}?limit=500&page={page}"));
        assert_eq!(response.status(), 200);
        let list: Value = serde_json::from_str(&response.text().unwrap()).unwrap();
        let data = list["data"].as_array().unwrap();
        ids.extend(data.iter().map(|tag| tag["id"].as_str().unwrap().to_owned()));
        if list["total_pages"].as_u64().unwrap() <= page {
            assert_eq!(ids.len() as u64, list["total_count"].as_u64().unwrap(), "none twice");
            return ids;
        }
    }
    unreachable!("a list has a last page")
}

#[test]
fn node_reads_what_another_node_has_written() {
    let Some(shared) = Shared::start() else { return };
    let folders = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let [first, second] = [0, 1].map(|index| shared.node(folders[index].path()));
    let client = client().build().unwrap();
    for number in 0..50 {
        let id = format!("tag-{number}");
        let created = send(&client, &first, &id).unwrap();
        assert_eq!(created.status(), 200);
        let position = created.headers()["x-cms-position"].clone();
        assert_eq!(second.get(&format!("{TAGS}/{id}")).status(), 200, "strict by default");
        let request = client.get(format!("{}{TAGS}/{id}", first.url));
        let own = request.header("X-AUTH-TOKEN", &first.key).header("x-cms-position", position);
        assert_eq!(own.send().unwrap().status(), 200);
        let found = second.get(&format!("/api/v1/search?q=tag-{number}&query_mode=exact"));
        let found: Value = serde_json::from_str(&found.text().unwrap()).unwrap();
        assert!(found["total_count"].as_u64().unwrap() >= 1, "{found}");
    }
    let invalid = client.get(format!("{}{TAGS}", first.url));
    let invalid = invalid.header("X-AUTH-TOKEN", &first.key);
    let invalid = invalid.header("x-read-consistency", "weak").send().unwrap();
    assert_eq!(invalid.status(), 400);
    // A revoked key is refused by the other node immediately.
    let key = first.post(
        "internal/key",
        json!({ "name": "web", "kind": "read_only", "rules": [] }).to_string(),
    );
    let web = key["key"].as_str().unwrap();
    let read = |node: &Server| {
        let request = client.get(format!("{}{TAGS}", node.url)).header("X-AUTH-TOKEN", web);
        request.send().unwrap().status().as_u16()
    };
    assert_eq!((read(&first), read(&second)), (200, 200));
    let revoke = format!("{}/api/v1/internal/key/{}", first.url, key["id"].as_str().unwrap());
    let revoked = client.delete(revoke).header("X-AUTH-TOKEN", &first.key).send().unwrap();
    assert!(revoked.status().is_success());
    assert_eq!((read(&second), read(&first)), (401, 401));
    drop((first, second));
    for folder in &folders {
        shared.assert_equal(folder.path());
    }
}

#[test]
fn acknowledged_writes_survive_kills_of_nodes_and_of_the_database() {
    let Some(shared) = Shared::start() else { return };
    let folders: Vec<TempDir> = (0..3).map(|_| TempDir::new().unwrap()).collect();
    let nodes: Vec<Mutex<Option<Server>>> =
        folders.iter().map(|folder| Mutex::new(Some(shared.node(folder.path())))).collect();
    let (acknowledged, stop) = (Mutex::new(BTreeSet::new()), AtomicBool::new(false));
    let addresses: Vec<_> = nodes.iter().map(address).collect();
    let addresses = Mutex::new(addresses);
    thread::scope(|scope| {
        for writer in 0..4 {
            let (acknowledged, stop, addresses) = (&acknowledged, &stop, &addresses);
            scope.spawn(move || {
                let client = client().timeout(Duration::from_secs(45)).build().unwrap();
                for number in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let id = format!("w{writer}-{number}");
                    let (url, key) = addresses.lock().unwrap()[(writer + number) % 3].clone();
                    let sent = client
                        .post(format!("{url}{TAGS}"))
                        .header("X-AUTH-TOKEN", key)
                        .header("content-type", "application/json")
                        .body(json!({ "id": id, "name": id }).to_string())
                        .send();
                    match sent {
                        Ok(response) if response.status() == 200 => {
                            acknowledged.lock().unwrap().insert(id);
                        }
                        // Refused, or the connection broke with the node.
                        _ => thread::sleep(Duration::from_millis(20)),
                    }
                }
            });
        }
        for round in 0..6 {
            // The writers work between the crashes.
            thread::sleep(Duration::from_millis(700));
            if round % 3 == 2 {
                shared.postgres.kill();
                // Some writes are sent while the database is down.
                thread::sleep(Duration::from_millis(300));
                shared.postgres.run();
            } else {
                let node = round % 3;
                nodes[node].lock().unwrap().take().unwrap().stop();
                *nodes[node].lock().unwrap() = Some(shared.node(folders[node].path()));
                addresses.lock().unwrap()[node] = address(&nodes[node]);
            }
        }
        // The writers use all nodes once more.
        thread::sleep(Duration::from_millis(500));
        stop.store(true, Ordering::Relaxed);
    });
    let acknowledged = acknowledged.into_inner().unwrap();
    assert!(acknowledged.len() > 100, "too few writes to prove anything: {}", acknowledged.len());
    for node in &nodes {
        let node = node.lock().unwrap();
        let found = tags(node.as_ref().unwrap());
        let lost: Vec<_> = acknowledged.difference(&found).collect();
        assert_eq!(lost, Vec::<&String>::new());
    }
    let status = shared.cli().run(&["cluster", "status"]);
    assert!(status.stdout.contains("commit "), "{}", status.transcript());
    drop(nodes);
    for folder in &folders {
        shared.assert_equal(folder.path());
    }
}

fn address(node: &Mutex<Option<Server>>) -> (String, String) {
    let node = node.lock().unwrap();
    let node = node.as_ref().unwrap();
    (node.url.clone(), node.key.clone())
}

/// A directory becomes a cluster and a directory again, with the same content.
#[test]
fn directory_moves_into_a_cluster_and_back() {
    let Some(shared) = Shared::start() else { return };
    let folder = TempDir::new().unwrap();
    let alone = Cli::with_data_in(folder.path());
    let fixtures = fixtures();
    let fixture = |name: &str| fixtures.join(name).to_str().unwrap().to_owned();
    alone.run(&["import", &fixture("content"), "--yes"]).ok();
    let data = folder.path().join("data");
    let cli = shared.cli();
    let dry = cli.run(&["cluster", "init", "--from", data.to_str().unwrap(), "--dry-run"]).ok();
    assert!(dry.starts_with("75 objects, 10 files, "), "{dry}");
    let init = cli.run(&["cluster", "init", "--from", data.to_str().unwrap()]).ok();
    assert_eq!(init, dry);
    cli.run(&["cluster", "init"]).exits(5);

    let node_folder = TempDir::new().unwrap();
    let node = shared.node(node_folder.path());
    let image = node.get("/api/v1/content/_media?limit=1").text().unwrap();
    let image: Value = serde_json::from_str(&image).unwrap();
    let url = image["data"][0]["url"].as_str().unwrap().to_owned();
    let path = url.split_once("/image").map(|(_, path)| format!("/image{path}"));
    assert_eq!(node.get(&path.unwrap_or(url)).status(), 200, "files are in the bucket");
    drop(node);

    let back = TempDir::new().unwrap();
    let exported = back.path().join("data");
    let exported = exported.to_str().unwrap();
    cli.run(&["cluster", "export", exported, "--with-media"]).ok();
    cli.run(&["--data", exported, "cluster", "compare"]).prints("no differences\n");
    let export = |cli: &Cli| {
        cli.run(&["export", "out"]).ok();
        let (code, listed) = cli.shell("cd out && find . -type f | sort | xargs sha256sum");
        assert_eq!(code, 0, "{listed}");
        listed
    };
    assert_eq!(export(&Cli::with_data_in(back.path())), export(&alone));
    // Commands on a data directory refuse a replica.
    let replica = Cli::with_data_in(node_folder.path()).run(&["status"]);
    replica.exits(5).stderr_contains("is the replica of a node");
}

/// Liveness probes succeed, so that no orchestrator ends a node that copies the database.
#[test]
fn node_responds_while_it_copies_the_database() {
    let Some(shared) = Shared::start() else { return };
    let folders = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let first = shared.node(folders[0].path());
    let address = free_address();
    let client = client().build().unwrap();
    let status = |path: &str| {
        let response = client.get(format!("http://{address}{path}")).send();
        response.map_or(0, |response| response.status().as_u16())
    };
    let second = thread::scope(|scope| {
        let lock =
            "BEGIN; LOCK TABLE cms.object IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(6); COMMIT";
        let locked = scope.spawn(|| shared.postgres.sql("cms", lock));
        let locks = "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted";
        let limit = Duration::from_secs(10);
        wait_for(limit, "the table is locked", || shared.postgres.sql("cms", locks) == "1");
        let second = scope.spawn(|| shared.node_with(folders[1].path(), &["--listen", &*address]));
        wait_for(limit, "the node responds", || status("/healthz") == 200);
        assert_eq!((status("/readyz"), status(TAGS), status("/")), (503, 503, 503));
        assert!(!locked.is_finished() && !second.is_finished(), "it still copies");
        second.join().unwrap()
    });
    assert_eq!((status("/healthz"), tags(&second).len()), (200, 0));
    drop((first, second));
}

/// A load balancer notices only after a moment that a node is no longer ready. Until then, the node
/// responds, and closes each connection after its response.
#[test]
fn node_that_stops_responds_until_load_balancers_have_noticed() {
    let Some(shared) = Shared::start() else { return };
    let folder = TempDir::new().unwrap();
    let node = shared.node(folder.path());
    let kept_open = node.get(TAGS).headers().get("connection").cloned();
    assert_eq!(kept_open, None);
    node.signal("TERM");
    let stopped = Instant::now();
    while node.get("/readyz").status() == 200 {
        assert!(stopped.elapsed() < Duration::from_secs(2), "it is no longer ready");
    }
    // A new connection, two seconds later.
    thread::sleep(Duration::from_secs(2));
    let response = node.get(TAGS);
    assert_eq!(
        (response.status().as_u16(), &response.headers()["connection"]),
        (200, &"close".parse().unwrap())
    );
    node.terminate();
    assert!(stopped.elapsed() < Duration::from_secs(8), "{:?}", stopped.elapsed());
}

/// Waits until a node responds to reads, and returns the ids of all tags.
fn tags_when_current(client: &Client, node: &Server) -> BTreeSet<String> {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let read = client.get(format!("{}{TAGS}", node.url)).header("X-AUTH-TOKEN", &node.key);
        if read.send().is_ok_and(|response| response.status() == 200) {
            return tags(node);
        }
        assert!(Instant::now() < deadline, "{}", node.logged());
        thread::sleep(Duration::from_millis(100));
    }
}

/// A database that was restored from a backup uses the same commit numbers for other content.
#[test]
fn node_copies_its_replica_again_after_a_restore() {
    let Some(shared) = Shared::start() else { return };
    let folder = TempDir::new().unwrap();
    let node = shared.node_with(folder.path(), &["--listen", &free_address()]);
    let client = client().build().unwrap();
    assert_eq!(send(&client, &node, "kept").unwrap().status(), 200);
    shared.postgres.back_up();
    assert_eq!(send(&client, &node, "lost").unwrap().status(), 200);
    shared.postgres.restore();
    assert_eq!(tags_when_current(&client, &node), BTreeSet::from(["kept".to_owned()]));
    assert_eq!(send(&client, &node, "new").unwrap().status(), 200);
    drop(node);
    shared.assert_equal(folder.path());
}

#[test]
fn reads_wait_for_a_restart_of_the_database_but_not_for_long() {
    let Some(shared) = Shared::start() else { return };
    let folder = TempDir::new().unwrap();
    let node = shared.node(folder.path());
    let read = || {
        let started = Instant::now();
        (node.get(TAGS).status().as_u16(), started.elapsed())
    };
    shared.postgres.kill();
    let (status, waited) = thread::scope(|scope| {
        let read = scope.spawn(read);
        // The read begins while the database is gone.
        thread::sleep(Duration::from_secs(1));
        shared.postgres.run();
        read.join().unwrap()
    });
    assert_eq!(status, 200, "after {waited:?}");
    assert!(waited > Duration::from_secs(1), "{waited:?}");

    shared.postgres.kill();
    let (status, waited) = read();
    assert_eq!(status, 503);
    assert!(waited > Duration::from_secs(4), "{waited:?}");
    // Reads fail sooner when the database has been gone for a while.
    thread::sleep(Duration::from_secs(1));
    let (status, waited) = read();
    assert_eq!(status, 503);
    assert!(waited < Duration::from_secs(2), "{waited:?}");
    shared.postgres.run();
    tags_when_current(&client().build().unwrap(), &node);
}

#[test]
fn strict_read_waits_longer_while_the_replica_applies_a_commit() {
    let Some(shared) = Shared::start() else { return };
    let folders = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let [writer, reader] = folders.each_ref().map(|folder| shared.node(folder.path()));
    tags(&reader);
    reader.signal("STOP");
    let client = client().build().unwrap();
    assert_eq!(send(&client, &writer, "slow").unwrap().status(), 200);
    thread::scope(|scope| {
        // The reader cannot fetch rows while this lock is held.
        let sql = "BEGIN; LOCK TABLE cms.object; SELECT pg_sleep(7); COMMIT";
        scope.spawn(|| shared.postgres.sql("cms", sql));
        // The lock is taken before the reader continues.
        thread::sleep(Duration::from_secs(1));
        reader.signal("CONT");
        let started = Instant::now();
        assert!(tags(&reader).contains("slow"));
        assert!(started.elapsed() > Duration::from_secs(5), "{:?}", started.elapsed());
    });
}

/// The standby lacks the last commits, and becomes the primary server.
#[test]
fn nodes_copy_their_replicas_again_after_a_failover_with_loss() {
    let Some(shared) = Shared::start() else { return };
    let folders = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let [first, second] = folders
        .each_ref()
        .map(|folder| shared.node_with(folder.path(), &["--listen", &free_address()]));
    let client = client().build().unwrap();
    assert_eq!(send(&client, &first, "kept").unwrap().status(), 200);
    shared.postgres.create_standby();
    for id in ["lost-1", "lost-2"] {
        assert_eq!(send(&client, &first, id).unwrap().status(), 200);
    }
    assert_eq!(tags(&second).len(), 3);
    shared.postgres.fail_over();
    assert_eq!(tags_when_current(&client, &first), BTreeSet::from(["kept".to_owned()]));
    // This commit gets the number of the first lost one, before the other node has checked the head.
    assert_eq!(send(&client, &first, "new").unwrap().status(), 200);
    let expected = BTreeSet::from(["kept".to_owned(), "new".to_owned()]);
    // The first node is read twice, because the other one writes a set-up link when it starts again.
    for node in [&first, &second, &first] {
        assert_eq!(tags_when_current(&client, node), expected);
    }
    drop((first, second));
    for folder in &folders {
        shared.assert_equal(folder.path());
    }
}

#[test]
fn node_that_copies_its_replica_again_ends_on_a_signal() {
    let Some(shared) = Shared::start() else { return };
    let folder = TempDir::new().unwrap();
    let node = shared.node_with(folder.path(), &["--listen", &free_address()]);
    let client = client().build().unwrap();
    shared.postgres.create_standby();
    assert_eq!(send(&client, &node, "lost").unwrap().status(), 200);
    // Paused, so that it notices the loss when the table is locked.
    node.signal("STOP");
    shared.postgres.fail_over();
    thread::scope(|scope| {
        let lock =
            "BEGIN; LOCK TABLE cms.object IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(10); COMMIT";
        scope.spawn(|| shared.postgres.sql("cms", lock));
        let locks = "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted";
        let limit = Duration::from_secs(10);
        wait_for(limit, "the table is locked", || shared.postgres.sql("cms", locks) == "1");
        node.signal("CONT");
        node.wait_for_log(limit, "copying it again");
        thread::sleep(Duration::from_secs(1));
        let asked = Instant::now();
        node.terminate();
        assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    });
}

/// An address that the server can bind again.
pub(crate) fn free_address() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

#[test]
fn settings_of_a_cluster_are_checked_before_the_start() {
    let key = ("AWS_ACCESS_KEY_ID", "id".to_owned());
    let secret = ("AWS_SECRET_ACCESS_KEY", "secret".to_owned());
    let cli = Cli::with_variables(vec![key, secret]);
    let serve = |arguments: &[&str]| {
        let all = [&["serve", "--data", "data", "--listen", "127.0.0.1:0"], arguments].concat();
        cli.run(&all)
    };
    let local = "postgres://cms@127.0.0.1:1/cms";
    serve(&["--database", local]).exits(2).stderr_contains("a cluster needs --media s3://");
    let refused = serve(&["--database", "postgres://cms:hunter2@127.0.0.1:1/cms"]);
    refused.exits(2).stderr_contains("--database has a password");
    assert!(!refused.stderr.contains("hunter2"), "{}", refused.stderr);
    serve(&["--database", "mysql://a/b"]).exits(2);
    serve(&["--read-consistency", "soon"]).exits(2);
    let unreachable = serve(&["--database", local, "--media", "s3://site"]);
    unreachable.exits(9).stderr_contains("does not respond");
    cli.run(&["cluster", "status"]).exits(2).stderr_contains("no database is given");
    cli.run(&["cluster", "init", "--database", local]).exits(2);
}
