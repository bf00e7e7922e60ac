//! The limit: bare axum routes over one prepared rusqlite statement each, on the same texts.
//!
//! No keys, no validation, no visibility, no counts. Reads run on the worker threads with a
//! connection each; writes go to one thread that commits what has gathered, durably.

use std::{
    cell::RefCell,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::mpsc,
};

use axum::{
    Router,
    body::Body,
    extract::{Path as UrlPath, State},
    http::header::CONTENT_TYPE,
    response::Response,
    routing::{get, post},
};
use bytes::Bytes;
use rusqlite::{Connection, params};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::corpus;

/// The rows and indexes that the server keeps for the same posts, on plain columns.
const SCHEMA: &str = "
    PRAGMA journal_mode = WAL;
    CREATE TABLE author (pk INTEGER PRIMARY KEY, id TEXT UNIQUE, data TEXT) STRICT;
    CREATE TABLE post (
        pk INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT COLLATE NOCASE, created_at INTEGER,
        updated_at INTEGER, title TEXT, slug TEXT, category TEXT, rank INTEGER, date TEXT,
        featured INTEGER, author TEXT, data TEXT
    ) STRICT;
    CREATE UNIQUE INDEX post_id ON post (id);
    CREATE INDEX post_created ON post (created_at);
    CREATE INDEX post_updated ON post (updated_at);
    CREATE INDEX post_title ON post (title);
    CREATE INDEX post_slug ON post (slug);
    CREATE INDEX post_category ON post (category);
    CREATE INDEX post_rank ON post (rank);
    CREATE INDEX post_date ON post (date);
    CREATE INDEX post_featured ON post (featured);
    CREATE TABLE link (target TEXT, post INTEGER, PRIMARY KEY (target, post)) STRICT, WITHOUT ROWID;
    CREATE INDEX link_post ON link (post);
    CREATE TABLE journal (seq INTEGER PRIMARY KEY AUTOINCREMENT, nonce INTEGER, at INTEGER,
        kind TEXT, post INTEGER) STRICT;
    CREATE TABLE state (live INTEGER, changes INTEGER) STRICT;
    INSERT INTO state VALUES (0, 0);
";

const INTERNAL: &str = r#""internal":{"contentType":"post","createdAt":"2026-01-02T03:04:05+00:00","updatedAt":"2026-01-02T03:04:05+00:00","deletedAt":"","workflowState":"saved","objectTitle":"","latestVersion":1,"workflowPublicVersion":"","workflowPublishedAt":-1,"status":"public","publicVersion":-1,"publishedAt":""},"#;

fn connect(path: &Path) -> Connection {
    let connection = Connection::open(path).expect("the baseline's file opens");
    connection
        .execute_batch(
            "PRAGMA busy_timeout = 10000; PRAGMA synchronous = FULL; PRAGMA cache_size = -32000;
             PRAGMA mmap_size = 1073741824; PRAGMA temp_store = MEMORY;
             PRAGMA wal_autocheckpoint = 4000;",
        )
        .expect("settings are accepted");
    connection
}

/// Makes the file and the authors.
pub(crate) fn create(path: &Path) {
    let connection = connect(path);
    connection.execute_batch(SCHEMA).expect("the schema is valid");
    for number in 0..corpus::AUTHORS {
        let author = corpus::author(number);
        let text = answer_text(&author);
        connection
            .execute("INSERT INTO author (id, data) VALUES (?1, ?2)", params![author["id"].as_str(), text])
            .expect("authors are new");
    }
}

/// Inserts posts in transactions of 500.
pub(crate) fn import(path: &Path, lines: impl Iterator<Item = String>) {
    let connection = connect(path);
    let lines: Vec<String> = lines.collect();
    for batch in lines.chunks(500) {
        connection.execute_batch("BEGIN IMMEDIATE").expect("nobody else writes");
        for line in batch {
            insert(&connection, &serde_json::from_str(line).expect("lines are JSON"));
        }
        connection.execute_batch("COMMIT").expect("the disk has room");
    }
}

/// What a create answers: as long as what the server sends for it.
fn answer_text(object: &Value) -> String {
    let text = object.to_string();
    format!("{{{INTERNAL}{}", &text[1..])
}

fn insert(connection: &Connection, object: &Value) -> String {
    let text = answer_text(object);
    let value = |name: &str| object[name].as_str().unwrap_or_default().to_owned();
    let author = object["author"][0]["dataUrl"].as_str().unwrap_or_default();
    let author = author.rsplit('/').next().unwrap_or_default();
    let statement = |sql: &str, parameters: &[&dyn rusqlite::ToSql]| {
        connection.prepare_cached(sql).and_then(|mut s| s.execute(parameters)).expect("rows fit")
    };
    statement(
        "INSERT INTO post (id, created_at, updated_at, title, slug, category, rank, date,
             featured, author, data)
         VALUES (?1, 1, 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![
            value("id"),
            value("title"),
            value("slug"),
            value("category"),
            object["rank"].as_i64(),
            value("date"),
            object["featured"].as_bool(),
            author,
            text
        ],
    );
    let pk = connection.last_insert_rowid();
    statement("INSERT INTO link VALUES (?1, ?2)", params![author, pk]);
    statement(
        "INSERT INTO journal (nonce, at, kind, post) VALUES (random(), 1, 'object.create', ?1)",
        params![pk],
    );
    statement("UPDATE state SET live = live + 1, changes = changes + 1", params![]);
    text
}

struct Create {
    object: Value,
    done: oneshot::Sender<String>,
}

#[derive(Clone)]
struct Shared {
    path: PathBuf,
    creates: mpsc::Sender<Create>,
}

thread_local! {
    static READER: RefCell<Option<Connection>> = const { RefCell::new(None) };
}

/// Runs the routes until the process is killed; prints the address.
#[expect(clippy::print_stdout, reason = "the parent process reads the address")]
pub(crate) async fn serve(path: PathBuf) {
    let (creates, queue) = mpsc::channel();
    let writer = connect(&path);
    std::thread::spawn(move || write(&writer, &queue));
    let app = Router::new()
        .route("/id/{id}", get(by_id))
        .route("/ordered", get(|s: State<Shared>| async move {
            list(&s, "SELECT data FROM post ORDER BY rank, pk LIMIT 20")
        }))
        .route("/filtered", get(|s: State<Shared>| async move {
            list(&s, "SELECT data FROM post WHERE category = 'category-7' ORDER BY pk LIMIT 20")
        }))
        .route("/hydrated", get(|s: State<Shared>| async move {
            list(&s, "SELECT post.data, author.data FROM post JOIN author ON author.id = post.author ORDER BY rank, post.pk LIMIT 20")
        }))
        .route("/page", get(|s: State<Shared>| async move {
            list(&s, "SELECT data FROM post ORDER BY rank, pk LIMIT 20 OFFSET 7980")
        }))
        .route("/create", post(create_post))
        .with_state(Shared { path, creates });
    let listener = tokio::net::TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0)))
        .await
        .expect("a port is free");
    println!("listening on http://{}", listener.local_addr().expect("it is bound"));
    axum::serve(listener, app).await.expect("serving does not end");
}

fn with_reader<T>(shared: &Shared, read: impl FnOnce(&Connection) -> T) -> T {
    READER.with_borrow_mut(|reader| read(reader.get_or_insert_with(|| connect(&shared.path))))
}

fn json(body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    response.headers_mut().insert(CONTENT_TYPE, "application/json".parse().expect("a valid value"));
    response
}

async fn by_id(State(shared): State<Shared>, UrlPath(id): UrlPath<String>) -> Response {
    let body = with_reader(&shared, |reader| {
        reader
            .prepare_cached("SELECT data FROM post WHERE id = ?1")
            .and_then(|mut statement| {
                statement.query_row([id], |row| {
                    Ok(Bytes::copy_from_slice(row.get_ref(0)?.as_str()?.as_bytes()))
                })
            })
            .expect("the id exists")
    });
    json(body)
}

fn list(shared: &Shared, sql: &str) -> Response {
    let body = with_reader(shared, |reader| {
        let mut body = b"{\"data\":[".to_vec();
        let mut statement = reader.prepare_cached(sql).expect("the statement is valid");
        let columns = statement.column_count();
        let mut rows = statement.query([]).expect("it has no parameters");
        while let Some(row) = rows.next().expect("rows can be read") {
            for column in 0..columns {
                let text = row.get_ref(column).and_then(|v| Ok(v.as_str()?)).expect("texts");
                body.extend_from_slice(text.as_bytes());
                body.push(b',');
            }
        }
        body.pop();
        body.extend_from_slice(b"]}");
        body
    });
    json(body)
}

async fn create_post(State(shared): State<Shared>, body: Bytes) -> Response {
    let object = serde_json::from_slice(&body).expect("bodies are JSON");
    let (done, answer) = oneshot::channel();
    shared.creates.send(Create { object, done }).expect("the writer runs");
    json(answer.await.expect("the writer answers"))
}

/// Takes what has gathered, writes it, commits once, answers all.
fn write(connection: &Connection, queue: &mpsc::Receiver<Create>) {
    while let Ok(first) = queue.recv() {
        connection.execute_batch("BEGIN IMMEDIATE").expect("nobody else writes");
        let mut answers = Vec::new();
        for create in std::iter::once(first).chain(queue.try_iter().take(255)) {
            answers.push((insert(connection, &create.object), create.done));
        }
        connection.execute_batch("COMMIT").expect("the disk has room");
        for (text, done) in answers {
            drop(done.send(text));
        }
    }
}
