//! Working copies on a server that is killed, and in backups.

use std::{
    collections::BTreeMap,
    hash::{BuildHasher, RandomState},
    thread,
    time::Duration,
};

use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    recovery::Http,
    support::{Cli, Server},
};

const ROUNDS: usize = 10;
const WRITERS: usize = 6;

/// The last acknowledged data of a working copy, and the data of a request whose response was lost.
/// `None` stands for a deleted working copy.
#[derive(Default)]
struct Entry {
    acknowledged: Option<Value>,
    #[expect(clippy::option_option, reason = "nothing was attempted, or a deletion, or data")]
    attempted: Option<Option<Value>>,
}

fn path(writer: usize, number: usize) -> String {
    format!("/api/v1/content/_tag/~00000000-0000-4000-8000-{writer:04}{number:08}/working-copy")
}

/// Saves and deletes until the server is killed. The text is long enough that a partial write would
/// be detected.
fn write(http: &Http, writer: usize, ledger: &mut BTreeMap<usize, Entry>, from: usize) {
    for step in from.. {
        let number = step % 7;
        let entry = ledger.entry(number).or_default();
        let next = (step % 5 != 0).then(|| json!({ "name": format!("{step} ").repeat(500) }));
        entry.attempted = Some(next.clone());
        let method = if next.is_some() { Method::PUT } else { Method::DELETE };
        let body = json!({ "base": null, "data": next });
        let Ok((status, text)) = http.send(&method, &path(writer, number), &body) else { return };
        assert_eq!(status, if next.is_some() { 200 } else { 204 }, "{text}");
        entry.acknowledged = next;
        entry.attempted = None;
    }
}

/// Compares the stored copies with what was acknowledged; returns their number.
fn reconcile(http: &Http, ledgers: &mut [BTreeMap<usize, Entry>]) -> usize {
    let mut stored = 0;
    for (writer, ledger) in ledgers.iter_mut().enumerate() {
        for (&number, entry) in ledger.iter_mut() {
            let path = path(writer, number);
            let (status, text) = http.send(&Method::GET, &path, &Value::Null).unwrap();
            let found = (status == 200).then(|| {
                let copy: Value = serde_json::from_str(&text).unwrap();
                copy["data"].clone()
            });
            let is_known = found == entry.acknowledged || Some(&found) == entry.attempted.as_ref();
            assert!(is_known, "{path}: {status} {text}");
            stored += usize::from(found.is_some());
            entry.acknowledged = found;
            entry.attempted = None;
        }
    }
    stored
}

#[test]
fn killed_server_keeps_acknowledged_working_copies() {
    let folder = TempDir::new().unwrap();
    let mut ledgers: Vec<BTreeMap<usize, Entry>> = (0..WRITERS).map(|_| BTreeMap::new()).collect();
    let random = RandomState::new();
    for round in 0..ROUNDS {
        let server = Server::start_in(folder.path(), &[]);
        let http = Http::new(&server);
        reconcile(&http, &mut ledgers);
        thread::scope(|scope| {
            for (writer, ledger) in ledgers.iter_mut().enumerate() {
                let http = &http;
                scope.spawn(move || write(http, writer, ledger, round * 3));
            }
            // The server is killed at a random moment of the writes.
            thread::sleep(Duration::from_millis(40 + random.hash_one(round) % 200));
            server.stop();
        });
    }
    let server = Server::start_in(folder.path(), &[]);
    let stored = reconcile(&Http::new(&server), &mut ledgers);
    assert!(stored > WRITERS, "too few working copies to prove anything: {stored}");
}

/// Exports have no working copies, backups do.
#[test]
fn backup_contains_working_copies() {
    let cli = Cli::with_data();
    let server = Server::start_in(&cli.path(""), &[]);
    let http = Http::new(&server);
    let body = json!({ "base": null, "data": { "name": "half-written words" } });
    assert_eq!(http.send(&Method::PUT, &path(1, 1), &body).unwrap().0, 200);
    server.stop();
    cli.run(&["export", "exported"]).ok();
    let grep = std::process::Command::new("grep")
        .args(["-r", "half-written words"])
        .arg(cli.path("exported"))
        .output()
        .unwrap();
    assert_eq!(grep.status.code(), Some(1), "{grep:?}");
    cli.run(&["backup", "site.tar"]).ok();
    let restored = TempDir::new().unwrap();
    let backup = cli.path("site.tar");
    Cli::with_data_in(restored.path()).run(&["restore", backup.to_str().unwrap()]).ok();
    let server = Server::start_in(restored.path(), &[]);
    let (status, text) = Http::new(&server).send(&Method::GET, &path(1, 1), &Value::Null).unwrap();
    assert_eq!((status, text.contains("half-written words")), (200, true), "{text}");
}
