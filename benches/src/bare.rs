//! The database of the baseline: the same posts in plain columns, without a content model.
//!
//! It has neither validation nor versions, and counts only ranges. The load program measures it behind
//! bare routes; the benchmarks of the core call it directly.

use std::path::Path;

use rusqlite::{Connection, Params, params};
use serde_json::Value;

use crate::corpus;

pub(crate) const ORDERED: &str = "SELECT data FROM post ORDER BY rank, pk LIMIT 20";
pub(crate) const FILTERED: &str =
    "SELECT data FROM post WHERE category = 'category-7' ORDER BY pk LIMIT 20";
pub(crate) const HYDRATED: &str = "SELECT post.data, author.data FROM post
    JOIN author ON author.id = post.author ORDER BY rank, post.pk LIMIT 20";
pub(crate) const RANGE: &str =
    "SELECT data FROM post WHERE rank BETWEEN ?1 AND ?2 ORDER BY rank, pk LIMIT 20";
pub(crate) const RANGE_FILTERED: &str =
    "SELECT data FROM post WHERE rank BETWEEN ?1 AND ?2 ORDER BY pk LIMIT 20";
pub(crate) const RANGE_HYDRATED: &str = "SELECT post.data, author.data FROM post
    JOIN author ON author.id = post.author
    WHERE rank BETWEEN ?1 AND ?2 ORDER BY rank, post.pk LIMIT 20";
pub(crate) const RANGE_COUNT: &str = "SELECT count(*) FROM post WHERE rank BETWEEN ?1 AND ?2";
pub(crate) const PAGE_400: &str = "SELECT data FROM post ORDER BY rank, pk LIMIT 20 OFFSET 7980";

/// The same rows and indexes as those of the server, on plain columns.
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

/// A connection to a file of posts.
pub(crate) struct Bare(Connection);

impl Bare {
    /// Creates a file with the authors and without posts.
    pub(crate) fn create(path: &Path, synchronous: &str) -> Self {
        let bare = Self::open(path, synchronous);
        bare.0.execute_batch(SCHEMA).expect("the schema is valid");
        for number in 0..corpus::AUTHORS {
            let author = corpus::author(number);
            let text = response_text(&author);
            bare.0
                .execute(
                    "INSERT INTO author (id, data) VALUES (?1, ?2)",
                    params![author["id"].as_str(), text],
                )
                .expect("authors are new");
        }
        bare
    }

    /// `synchronous` is `FULL` or `NORMAL`.
    pub(crate) fn open(path: &Path, synchronous: &str) -> Self {
        let connection = Connection::open(path).expect("the baseline's file opens");
        connection
            .execute_batch(&format!(
                "PRAGMA busy_timeout = 10000; PRAGMA synchronous = {synchronous};
                 PRAGMA cache_size = -32000; PRAGMA mmap_size = 1073741824;
                 PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 4000;"
            ))
            .expect("settings are accepted");
        Self(connection)
    }

    pub(crate) fn begin(&self) {
        self.0.execute_batch("BEGIN IMMEDIATE").expect("nobody else writes");
    }

    pub(crate) fn commit(&self) {
        self.0.execute_batch("COMMIT").expect("the disk has space");
    }

    /// Inserts posts in one transaction.
    pub(crate) fn insert_all(&self, posts: &[Value]) {
        self.begin();
        for post in posts {
            self.insert(post);
        }
        self.commit();
    }

    /// Inserts a post; returns the response of a create.
    pub(crate) fn insert(&self, object: &Value) -> String {
        let text = response_text(object);
        let value = |name: &str| object[name].as_str().unwrap_or_default().to_owned();
        let author = object["author"][0]["dataUrl"].as_str().unwrap_or_default();
        let author = author.rsplit('/').next().unwrap_or_default();
        let statement = |sql: &str, parameters: &[&dyn rusqlite::ToSql]| {
            self.0.prepare_cached(sql).and_then(|mut s| s.execute(parameters)).expect("rows fit")
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
        let pk = self.0.last_insert_rowid();
        statement("INSERT INTO link VALUES (?1, ?2)", params![author, pk]);
        statement(
            "INSERT INTO journal (nonce, at, kind, post) VALUES (random(), 1, 'object.create', ?1)",
            params![pk],
        );
        statement("UPDATE state SET live = live + 1, changes = changes + 1", params![]);
        text
    }

    pub(crate) fn by_id(&self, id: &str) -> Vec<u8> {
        self.0
            .prepare_cached("SELECT data FROM post WHERE id = ?1")
            .and_then(|mut statement| {
                statement.query_row([id], |row| Ok(row.get_ref(0)?.as_str()?.as_bytes().to_vec()))
            })
            .expect("the id exists")
    }

    /// Returns the posts of these primary keys.
    pub(crate) fn by_pks(&self, pks: &[i64]) -> Vec<u8> {
        let sql = "SELECT data FROM post WHERE pk = ?1";
        let mut statement = self.0.prepare_cached(sql).expect("the statement is valid");
        let mut body = b"{\"data\":[".to_vec();
        for pk in pks {
            let post = |row: &rusqlite::Row<'_>| {
                body.extend_from_slice(row.get_ref(0)?.as_str()?.as_bytes());
                body.push(b',');
                Ok(())
            };
            statement.query_row([pk], post).expect("the post exists");
        }
        body.pop();
        body.extend_from_slice(b"]}");
        body
    }

    /// Returns the number of posts in a range of `rank`.
    pub(crate) fn count(&self, range: [u64; 2]) -> i64 {
        let statement = self.0.prepare_cached(RANGE_COUNT);
        statement
            .and_then(|mut statement| statement.query_row(range, |row| row.get(0)))
            .expect("the statement is valid")
    }

    /// Runs one of the statements above.
    pub(crate) fn list(&self, sql: &str, parameters: impl Params) -> Vec<u8> {
        let mut body = b"{\"data\":[".to_vec();
        let mut statement = self.0.prepare_cached(sql).expect("the statement is valid");
        let columns = statement.column_count();
        let mut rows = statement.query(parameters).expect("they fit the statement");
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
    }
}

/// The response of a create, with the same length as that of the server.
fn response_text(object: &Value) -> String {
    let text = object.to_string();
    format!("{{{INTERNAL}{}", &text[1..])
}
