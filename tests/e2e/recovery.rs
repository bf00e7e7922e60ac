//! Durability: a server that is killed during writes, several processes on one data directory, and
//! a database of a newer version.
//!
//! Each writer keeps a ledger: per object the last acknowledged state and the one under way when
//! the server was killed. After a restart an object has one of the two, and so has the search
//! index. At the end the tables of the database are compared with each other.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    hash::{BuildHasher, RandomState},
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use reqwest::{
    Method,
    blocking::Client,
    header::{CONTENT_TYPE, HeaderMap, HeaderValue},
};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::{Cli, Server, wait_for};

const ROUNDS: usize = 20;
const WRITERS: usize = 8;
/// Acknowledged writes in each round.
const MIN_WRITES: usize = 4 * WRITERS;
const NOTES: &str = "/api/v1/content/note";

/// A search waits until the index has every change, however busy the machine is.
const WAIT_FOR_INDEX: [&str; 2] = ["--search-wait", "60000"];

/// The version and the properties of a live object; none for a deleted one.
type State = Option<(u64, Value)>;

/// A writer's knowledge of one object.
#[derive(Default)]
struct Entry {
    acknowledged: State,
    /// Whether it was ever created.
    existed: bool,
    /// Requested, but not acknowledged.
    attempted: Option<State>,
}

/// Objects by id. Every object belongs to one writer.
type Ledger = BTreeMap<String, Entry>;

#[test]
fn killed_server_keeps_all_acknowledged_writes() {
    let folder = TempDir::new().unwrap();
    let mut ledger: Vec<Ledger> = (0..WRITERS).map(|_| Ledger::new()).collect();
    let random = RandomState::new();
    for round in 0..ROUNDS {
        let server = Server::start_in(folder.path(), &WAIT_FOR_INDEX);
        let http = Http::new(&server);
        if round == 0 {
            assert_eq!(
                http.send(&Method::POST, "/api/v1/internal/contenttype", &note()).unwrap().0,
                200
            );
        }
        reconcile(&http, &mut ledger);
        let acknowledged = AtomicUsize::new(0);
        thread::scope(|scope| {
            for (writer, ledger) in ledger.iter_mut().enumerate() {
                let (http, acknowledged) = (&http, &acknowledged);
                let numbers = Numbers(random.hash_one((round, writer)) | 1);
                scope.spawn(move || write(http, writer, ledger, numbers, acknowledged));
            }
            // The server is killed at a random moment of the writes, also on a busy machine.
            thread::sleep(Duration::from_millis(40 + random.hash_one(round) % 200));
            let has_written = || acknowledged.load(Ordering::Relaxed) >= MIN_WRITES;
            wait_for(Duration::from_mins(1), "too few writes are acknowledged", has_written);
            server.stop();
        });
    }
    let server = Server::start_in(folder.path(), &WAIT_FOR_INDEX);
    let http = Http::new(&server);
    reconcile(&http, &mut ledger);
    let states = ledger.iter().flat_map(Ledger::values).filter_map(|e| e.acknowledged.as_ref());
    let numbers: Vec<u64> = states.map(|(number, _)| *number).collect();
    assert_indexed(&http, &numbers);
    server.stop();
    assert_sound(&folder.path().join("data/cms.db"), numbers.len());
}

/// A server and two imports write into one data directory at the same time.
#[test]
fn processes_write_into_one_data_directory_together() {
    let cli = Cli::with_data();
    let server = Server::start_in(&cli.path(""), &[]);
    let http = Http::new(&server);
    assert_eq!(http.send(&Method::POST, "/api/v1/internal/contenttype", &note()).unwrap().0, 200);
    let new = |id| json!({ "id": id, "number": 1, "text": text(1), "related": [] });
    for name in ["north", "south"] {
        let objects: Vec<Value> = (0..800).map(|number| new(format!("{name}-{number}"))).collect();
        cli.write(&format!("{name}.json"), &json!(objects).to_string());
    }
    thread::scope(|scope| {
        for file in ["north.json", "south.json"] {
            let cli = &cli;
            scope.spawn(move || {
                cli.run(&["import", "note", file]).ok();
            });
        }
        for writer in 0..4 {
            let (http, new) = (&http, &new);
            scope.spawn(move || {
                for number in 0..50 {
                    let object = new(format!("{writer}-{number}"));
                    assert_eq!(http.send(&Method::POST, NOTES, &object).unwrap().0, 200);
                }
            });
        }
    });
    // Each process sees the writes of the others.
    assert_eq!(http.live().len(), 1800);
    let listed = cli.run(&["object", "list", "note", "--all", "-o", "ndjson"]).ok();
    assert_eq!(listed.lines().count(), 1800);
    server.stop();
    assert_sound(&cli.path("data/cms.db"), 1800);
}

#[test]
fn database_of_a_newer_version_is_refused() {
    let cli = Cli::with_data();
    cli.run(&["key", "create", "web", "--kind", "read-only"]).ok();
    let database = Connection::open(cli.path("data/cms.db")).unwrap();
    let later = "INSERT INTO refinery_schema_history (version, name, applied_on, checksum)
        SELECT max(version) + 1, 'later', applied_on, checksum FROM refinery_schema_history";
    database.execute(later, []).unwrap();
    drop(database);
    for command in [&["ctd", "list"][..], &["serve", "--listen", "127.0.0.1:0"]] {
        let refused = cli.run(command);
        refused.exits(5);
        assert_eq!(refused.stdout, "");
        assert!(refused.stderr.contains("was written by a newer version"), "{}", refused.stderr);
        assert!(refused.stderr.contains("data/cms.db"), "{}", refused.stderr);
    }
}

/// A type with an indexed property `number` and links.
fn note() -> Value {
    json!({
        "name": "note",
        "label": "Note",
        "schemaDefinition": {
            "type": "object",
            "allOf": [
                { "$ref": "#/components/schemas/AbstractContentTypeSchemaDefinition" },
                { "type": "object", "properties": {
                    "number": { "type": "number" },
                    "text": { "type": "string" },
                    "related": { "type": "array", "items": { "$ref": "#/components/schemas/DataSource" } },
                } },
            ],
            "required": ["number", "text"],
            "additionalProperties": false,
        },
        "metaDefinition": {
            "order": ["number", "text", "related"],
            "propertiesConfig": {
                "number": { "label": "Number", "inputType": "number", "unique": false },
                "text": { "label": "Text", "inputType": "textarea", "unique": false },
                "related": { "label": "Related", "inputType": "datasource", "unique": false,
                    "validation": { "relationContenttype": "note", "relationMultiple": true } },
            },
        },
    })
}

/// The text of an object: long enough that a partial write would be detected.
fn text(number: u64) -> String {
    format!("{number} ").repeat(300)
}

/// Writes until the server is killed.
fn write(
    http: &Http,
    writer: usize,
    ledger: &mut Ledger,
    mut numbers: Numbers,
    acknowledged: &AtomicUsize,
) {
    loop {
        let live: Vec<&String> =
            ledger.iter().filter(|(_, e)| e.acknowledged.is_some()).map(|(id, _)| id).collect();
        let mut pick = || live.get(numbers.below(live.len().max(1))).map(|id| (*id).clone());
        let (some, other) = (pick(), pick());
        let related =
            other.map(|id| json!({ "type": "internal", "dataUrl": format!("{NOTES}/{id}") }));
        let (method, id, number) = match (numbers.below(10), some) {
            (0..5, _) | (_, None) => (Method::POST, format!("{writer}-{}", ledger.len()), 1),
            (5..9, Some(id)) => {
                let version = ledger[&id].acknowledged.as_ref().map_or(0, |(version, _)| *version);
                (Method::PATCH, id, version + 1)
            }
            (_, Some(id)) => (Method::DELETE, id, 0),
        };
        let object = json!({ "id": id, "number": number, "text": text(number), "related": Vec::from_iter(related) });
        let next = (number > 0).then(|| (number, object.clone()));
        let entry = ledger.entry(id.clone()).or_default();
        entry.attempted = Some(next.clone());
        let path = if number == 1 { NOTES.to_owned() } else { format!("{NOTES}/{id}") };
        let Ok((status, response)) = http.send(&method, &path, &object) else { return };
        entry.attempted = None;
        match status {
            200 | 204 => {
                entry.existed = true;
                entry.acknowledged = next;
                acknowledged.fetch_add(1, Ordering::Relaxed);
            }
            // Another object links to it.
            400 if method == Method::DELETE => {}
            _ => panic!("{method} {path}: {status} {response}"),
        }
    }
}

/// Compares the objects with the ledgers, and updates the ledgers.
fn reconcile(http: &Http, ledger: &mut [Ledger]) {
    let (mut live, removed) = (http.live(), http.removed());
    assert_searchable(http, &live);
    for (id, entry) in ledger.iter_mut().flatten() {
        let found = live.remove(id);
        let is_known = found == entry.acknowledged || Some(&found) == entry.attempted.as_ref();
        assert!(
            is_known,
            "{id}: {found:?}, but {:?} then {:?}",
            entry.acknowledged, entry.attempted
        );
        entry.existed |= found.is_some();
        assert_eq!(removed.contains(id), entry.existed && found.is_none(), "{id}");
        entry.acknowledged = found;
        entry.attempted = None;
    }
    assert!(live.is_empty(), "unexpected objects: {:?}", live.keys());
}

/// Compares every document of the search index with its object: each contains its number as a value
/// and in its text.
fn assert_searchable(http: &Http, live: &HashMap<String, (u64, Value)>) {
    let mut by_number: BTreeMap<u64, BTreeSet<&str>> = BTreeMap::new();
    for (id, (number, _)) in live {
        by_number.entry(*number).or_default().insert(id);
    }
    assert_eq!(http.search("").len(), live.len());
    let highest = by_number.keys().next_back().copied().unwrap_or_default();
    for number in 1..=highest + 1 {
        let expected = by_number.remove(&number).unwrap_or_default();
        for filter in ["number", "text"] {
            let found = http.search(&format!("&filters[{filter}]={number}"));
            let found: BTreeSet<&str> = found.iter().map(String::as_str).collect();
            assert_eq!(found, expected, "{filter}: {number}");
        }
    }
}

/// Finds each number through its index.
fn assert_indexed(http: &Http, numbers: &[u64]) {
    let highest = numbers.iter().max().copied().unwrap_or_default();
    assert!(highest > 2, "hardly anything was patched");
    for number in 1..=highest + 1 {
        let condition = json!({ "number": { "type": "equals", "filter": number } });
        let found = http.get(&format!("{NOTES}?filters={condition}"));
        assert_eq!(found["total_count"], numbers.iter().filter(|n| **n == number).count());
    }
}

/// Compares the tables with each other; the server is stopped.
fn assert_sound(path: &Path, live: usize) {
    let database = Connection::open(path).unwrap();
    let texts = |sql: &str| -> Vec<String> {
        let mut statement = database.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get::<_, rusqlite::types::Value>(0)).unwrap();
        rows.map(|row| format!("{:?}", row.unwrap())).collect()
    };
    let none = |what: &str, sql: &str| assert_eq!(texts(sql), [""; 0], "{what}");
    let ok = [format!("{:?}", rusqlite::types::Value::Text("ok".to_owned()))];
    // Indexes of properties call functions of the program: `assert_indexed` checks them.
    assert_eq!(texts("PRAGMA quick_check"), ok);
    for table in ["meta", "ctd", "ctd_state", "trash", "object_version", "link", "journal"] {
        assert_eq!(texts(&format!("PRAGMA integrity_check({table})")), ok, "{table}");
    }
    none("foreign keys", "PRAGMA foreign_key_check");
    let notes = "SELECT count(*) FROM object JOIN ctd ON ctd.pk = object.ctd WHERE name = 'note'";
    let count: usize = database.query_row(notes, [], |row| row.get(0)).unwrap();
    assert_eq!(count, live);
    none(
        "a counter of live objects is wrong",
        "SELECT ctd FROM ctd_state
         WHERE live <> (SELECT count(*) FROM object WHERE object.ctd = ctd_state.ctd)",
    );
    none(
        "versions have gaps",
        "SELECT pk FROM (SELECT pk, version FROM object UNION ALL SELECT pk, version FROM trash)
         LEFT JOIN (SELECT object, count(*) AS n, min(version) AS low, max(version) AS high
                    FROM object_version GROUP BY object) ON object = pk
         WHERE coalesce(n, 0) <> version - 1 OR (n > 0 AND (low <> 1 OR high <> version - 1))",
    );
    none(
        "a version has no object",
        "SELECT object FROM object_version
         WHERE object NOT IN (SELECT pk FROM object UNION ALL SELECT pk FROM trash)",
    );
    none(
        "a version holds the properties of another one",
        "SELECT pk FROM (SELECT pk, version, data FROM object
                         UNION ALL SELECT pk, version, data FROM trash
                         UNION ALL SELECT object, version, data FROM object_version)
         WHERE data ->> '$.number' <> version",
    );
    none(
        "the journal does not match the objects",
        "SELECT coalesce(o.pk, j.object)
         FROM (SELECT pk, version, 0 AS deleted FROM object
               UNION ALL SELECT pk, version, 1 FROM trash) AS o
         FULL JOIN (SELECT object, count(*) AS n, sum(kind = 'object.create') AS created,
                           sum(kind = 'object.update') AS updated,
                           sum(kind = 'object.delete') AS deleted
                    FROM journal WHERE object IS NOT NULL GROUP BY object) AS j ON j.object = o.pk
         WHERE o.pk IS NULL OR j.object IS NULL OR j.created <> 1 OR j.updated <> o.version - 1
            OR j.deleted <> o.deleted OR j.n <> j.created + j.updated + j.deleted",
    );
    let expected = "SELECT DISTINCT pk || ' ' || (value ->> '$.dataUrl')
                  FROM object, json_each(data, '$.related')";
    let kept = "SELECT object || ' /api/v1/content/' || target_type || '/' || target_id FROM link";
    none("a link is missing in the table", &format!("{expected} EXCEPT {kept}"));
    none("the table has a link that no object has", &format!("{kept} EXCEPT {expected}"));
}

/// A small random number generator.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }
}

/// A client with the admin key and kept-alive connections.
pub(crate) struct Http {
    base: String,
    client: Client,
}

impl Http {
    pub(crate) fn new(server: &Server) -> Self {
        // Fails only when a provider is installed already.
        rustls::crypto::ring::default_provider().install_default().ok();
        let mut headers = HeaderMap::new();
        headers.insert("x-auth-token", server.key.parse().unwrap());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let client = Client::builder().default_headers(headers).timeout(Duration::from_secs(30));
        Self { base: server.url.clone(), client: client.build().unwrap() }
    }

    /// Sends a request with a body; fails if the response is missing or incomplete.
    pub(crate) fn send(
        &self,
        method: &Method,
        path: &str,
        body: &Value,
    ) -> reqwest::Result<(u16, String)> {
        let url = format!("{}{path}", self.base);
        let reply = self.client.request(method.clone(), url).body(body.to_string()).send()?;
        Ok((reply.status().as_u16(), reply.text()?))
    }

    fn get(&self, path: &str) -> Value {
        let (status, text) = self.send(&Method::GET, path, &Value::Null).unwrap();
        assert_eq!(status, 200, "{path}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    /// All live notes by id.
    fn live(&self) -> HashMap<String, (u64, Value)> {
        let mut live = HashMap::new();
        for page in 1.. {
            let list = self.get(&format!("{NOTES}?limit=1000&page={page}"));
            for object in list["data"].as_array().unwrap() {
                let mut object = object.clone();
                let internal = object.as_object_mut().unwrap().shift_remove("internal").unwrap();
                let id = object["id"].as_str().unwrap().to_owned();
                let version = internal["latestVersion"].as_u64().unwrap();
                assert_eq!(live.insert(id, (version, object)), None, "listed twice");
            }
            if list["count"].as_u64() < Some(1000) {
                assert_eq!(list["total_count"], live.len());
                break;
            }
        }
        live
    }

    /// Ids of the notes that a search finds.
    fn search(&self, parameters: &str) -> Vec<String> {
        let mut ids = Vec::new();
        for page in 1.. {
            let path = "/api/v1/search?q=*&content_type[]=note&limit=1000";
            let response = self.get(&format!("{path}&page={page}{parameters}"));
            let hits = response["data"].as_array().unwrap();
            ids.extend(hits.iter().map(|hit| hit["item"]["id"].as_str().unwrap().to_owned()));
            if hits.len() < 1000 {
                assert_eq!(response["total_count"], ids.len());
                break;
            }
        }
        ids
    }

    /// Ids of deleted notes.
    fn removed(&self) -> BTreeSet<String> {
        serde_json::from_value(self.get(&format!("{NOTES}/removed"))).unwrap()
    }
}
