//! The same command completes an import that was killed, whenever that happens.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::Child,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    export_import::{tree, undated},
    support::{Cli, PUBLISHING_PROJECT, Server, fixtures, link},
};

/// Objects in one request, so that a small import takes many requests.
const BATCH: &str = "8";
const POSTS: usize = 24;
/// Number of points in the import at which a test kills it.
const KILLS: u64 = 14;

/// The content to import, and the result of an import without interruption.
struct Origin {
    folder: TempDir,
    imported: State,
    /// Number of changes of that import.
    changes: u64,
}

/// The state of a space without dates: files of an export, and versions in the order of creation.
type State = (Vec<(String, Vec<u8>)>, Vec<String>);

static ORIGIN: LazyLock<Origin> = LazyLock::new(|| {
    let folder = TempDir::new().unwrap();
    let cli = Cli::with_data();
    fill(&cli);
    cli.run(&["export", "out"]).ok();
    for (name, bytes) in tree(&cli.path("out")) {
        let path = folder.path().join("in").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let copy = data_directory();
    let before = changes(&open(&copy.path("data")));
    start(&copy, &folder.path().join("in")).stop();
    let changes = changes(&open(&copy.path("data"))) - before;
    let imported = state(&copy);
    assert_eq!(imported.0, undated(tree(&folder.path().join("in"))));
    Origin { folder, imported, changes }
});

impl Origin {
    fn path(&self) -> PathBuf {
        self.folder.path().join("in")
    }
}

/// Circular links, required links, statuses, workflow states, files, an image of a type.
fn fill(cli: &Cli) {
    cli.apply("project.yaml", PUBLISHING_PROJECT);
    let write = |name: &str, rows: Vec<Value>| {
        let lines: Vec<String> = rows.iter().map(|row| format!("{row}\n")).collect();
        cli.write(name, &lines.concat());
    };
    let post = |number: usize| format!("p{:02}", number % POSTS);
    let posts = || 0..POSTS;
    let new = posts().map(|n| {
        json!({ "id": post(n), "title": format!("Post {n}"), "next": link("post", &post(n + 1)) })
    });
    write("posts.ndjson", new.collect());
    cli.run(&["import", "post", "posts.ndjson"]).ok();
    let notes = (0..8).map(|n| json!({ "id": format!("n{n}"), "about": link("post", &post(n)) }));
    write("notes.ndjson", notes.collect());
    cli.run(&["import", "note", "notes.ndjson"]).ok();
    let chapters = (0..10).map(|n| {
        let next = if n == 9 { json!([]) } else { link("chapter", &format!("c{}", n + 1)) };
        json!({ "id": format!("c{n}"), "after": next, "also": link("chapter", &format!("c{}", 9 - n)) })
    });
    write("chapters.ndjson", chapters.collect());
    cli.run(&["import", "chapter", "chapters.ndjson"]).ok();

    let with_remainder = |remainder: usize| posts().filter(move |n| n % 4 == remainder).map(post);
    let run = |command: &[&str], ids: Vec<String>| {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        cli.run(&[command, &ids].concat()).ok();
    };
    run(&["publish", "post"], with_remainder(1).chain(with_remainder(2)).collect());
    run(&["archive", "post"], with_remainder(3).collect());
    let edited = posts().filter(|n| n % 4 == 2).map(|n| {
        json!({ "id": post(n), "title": format!("Draft of {n}"), "next": link("post", &post(n + 2)),
            "notes": link("note", "n7") })
    });
    write("edited.ndjson", edited.collect());
    cli.run(&["import", "post", "edited.ndjson", "--update-existing"]).ok();
    cli.run(&["workflow", "run", "note", "n2", "n3", "n4", "_draft_review"]).ok();
    cli.run(&["workflow", "run", "note", "n3", "n4", "_review_public"]).ok();
    cli.run(&["workflow", "run", "note", "n4", "_public_archive"]).ok();
    let images = fixtures().join("media");
    cli.run(&["media", "upload", images.join("still.png").to_str().unwrap()]).ok();
}

/// An initialized data directory, so that all further commits are those of an import.
fn data_directory() -> Cli {
    let cli = Cli::with_data();
    cli.initialize();
    cli
}

fn start(cli: &Cli, from: &Path) -> Server {
    let arguments = ["--import", from.to_str().unwrap(), "--batch-limit", BATCH];
    Server::start_in(&cli.path(""), &arguments)
}

/// Reads the state: an export, the version numbers and the order of creation.
fn state(cli: &Cli) -> State {
    cli.run(&["export", "out"]).ok();
    let sql = "SELECT format('%s/%s %d %d %d', ctd.name, object.id, version, public_version,
                             workflow_public_version)
               FROM object JOIN ctd ON ctd.pk = ctd ORDER BY ctd.name, object.pk";
    let database = open(&cli.path("data"));
    let mut statement = database.prepare(sql).unwrap();
    let versions = statement.query_map([], |row| row.get(0)).unwrap();
    let versions = versions.collect::<Result<_, _>>().unwrap();
    (undated(tree(&cli.path("out"))), versions)
}

fn open(data: &Path) -> Connection {
    Connection::open_with_flags(data.join("cms.db"), OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap()
}

/// Number of changes in the journal of a database.
fn changes(database: &Connection) -> u64 {
    let sql = "SELECT coalesce(max(seq), 0) FROM journal";
    database.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Starts a process and kills it after `number` changes of the database, or when its import is
/// over.
fn kill_after(start: impl FnOnce() -> Child, data: &Path, number: u64) {
    let database = open(data);
    // Counted before the process starts.
    let last = changes(&database) + number;
    let mut child = start();
    let log = BufReader::new(child.stderr.take().unwrap());
    let is_over = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&is_over);
    let reader = thread::spawn(move || {
        for line in log.lines().map_while(Result::ok) {
            flag.fetch_or(line.starts_with("listening on"), Ordering::Relaxed);
        }
        flag.store(true, Ordering::Relaxed);
    });
    while changes(&database) < last && !is_over.load(Ordering::Relaxed) {
        thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap();
}

fn is_unfinished(data: &Path) -> bool {
    let sql = "SELECT count(*) FROM unfinished_import";
    open(data).query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap() > 0
}

/// Starts a server that imports, and kills it after `number` changes.
fn kill_server_after(cli: &Cli, from: &Path, number: u64) {
    let from = from.to_str().unwrap();
    let server = ["serve", "--listen", "127.0.0.1:0", "--import", from, "--batch-limit", BATCH];
    kill_after(|| cli.start_with_log(&server), &cli.path("data"), number);
}

/// After any number of kills, a start with the same arguments has the result of an import without
/// interruption.
#[test]
fn serve_resumes_an_interrupted_import() {
    let origin = &*ORIGIN;
    assert!(origin.changes > 100, "{}", origin.changes);
    let mut resumed = 0;
    for number in 0..KILLS {
        let cli = data_directory();
        let changes = 1 + number * (origin.changes - 1) / KILLS;
        kill_server_after(&cli, &origin.path(), changes);
        if number % 3 == 1 {
            kill_server_after(&cli, &origin.path(), (origin.changes - changes) / 3);
        }
        let was_unfinished = is_unfinished(&cli.path("data"));
        resumed += u64::from(was_unfinished);
        let server = start(&cli, &origin.path());
        let resumes =
            server.startup_log.iter().any(|line| line.starts_with("resuming the interrupted"));
        assert_eq!(resumes, was_unfinished, "{:?}", server.startup_log);
        server.stop();
        assert!(!is_unfinished(&cli.path("data")));
        let (files, versions) = state(&cli);
        assert_eq!(names(&files), names(&origin.imported.0), "killed after {changes}");
        for (found, expected) in files.iter().zip(&origin.imported.0) {
            assert!(
                found == expected,
                "killed after {changes}: {}\n{}\ninstead of\n{}",
                found.0,
                String::from_utf8_lossy(&found.1),
                String::from_utf8_lossy(&expected.1)
            );
        }
        assert_eq!(versions, origin.imported.1, "killed after {changes}");
    }
    assert!(resumed >= KILLS / 2, "{resumed}");
}

fn names(files: &[(String, Vec<u8>)]) -> Vec<&str> {
    files.iter().map(|(name, _)| name.as_str()).collect()
}

/// Objects edited after the interruption keep the edit, and a complete import changes no existing
/// object.
#[test]
fn serve_keeps_objects_edited_after_an_interrupted_import() {
    let origin = &*ORIGIN;
    let cli = data_directory();
    // `p01` exists before the import, as in the exported files, except for its status.
    cli.write(
        "project.yaml",
        "version: 1
contentTypes:
  - name: note
    properties: {title: {type: text}, about: {type: datasource, to: post}}
  - name: post
    draftPublic: true
    properties:
      title: {type: text, required: true, titlePart: true}
      next: {type: datasource, to: post}
      notes: {type: datasource, to: note, many: true}
",
    );
    cli.run(&["ctd", "apply", "project.yaml"]).ok();
    cli.write("first.ndjson", "{\"id\":\"p01\",\"title\":\"Post 1\"}\n");
    cli.run(&["import", "post", "first.ndjson"]).ok();
    kill_server_after(&cli, &origin.path(), origin.changes / 2);
    cli.write("change.json", r#"{"title":"An editor was here"}"#);
    cli.run(&["object", "update", "post", "p02", "change.json", "--patch"]).ok();
    let listened = Server::start_in(&cli.path(""), &[]);
    let warned =
        listened.startup_log.iter().any(|line| line.contains("is not complete: resume it with"));
    assert!(warned, "{:?}", listened.startup_log);
    listened.stop();

    start(&cli, &origin.path()).stop();
    let get =
        |id: &str| -> Value { cli.run(&["object", "get", "post", id, "--json"]).exits(0).json() };
    assert_eq!(get("p02")["title"], "An editor was here");
    assert_eq!(get("p01")["internal"]["status"], "draft");
    assert_eq!(get("p01")["next"], Value::Null);
    assert_eq!(get("p05")["internal"]["status"], "public");
    assert_eq!(get("p05")["next"], link("post", "p06"));

    cli.run(&["unpublish", "post", "p05"]).ok();
    cli.write("change.json", "{\"title\": \"Post 9\"}");
    cli.run(&["object", "update", "post", "p09", "change.json"]).ok();
    cli.run(&["workflow", "run", "note", "n2", "_review_draft"]);
    let before = state(&cli);
    let server = start(&cli, &origin.path());
    assert!(
        !server.startup_log.iter().any(|line| line.contains("resuming")),
        "{:?}",
        server.startup_log
    );
    server.stop();
    assert_eq!(state(&cli), before);
}

/// `--update-existing` completes a command that was killed, on both targets.
#[test]
fn import_completes_a_killed_import() {
    let origin = &*ORIGIN;
    let from = origin.path();
    let from = from.to_str().unwrap();
    for quarter in 1..4 {
        let server = Server::start();
        let cli = data_directory();
        let data = cli.path("data");
        for (cli, data) in [(cli, data), (Cli::with_server(&server), server.data())] {
            let import = || cli.start_with_log(&["import", from]);
            kill_after(import, &data, origin.changes * quarter / 4);
            cli.run(&["import", from, "--update-existing"]).ok();
            cli.run(&["export", "out"]).ok();
            assert!(undated(tree(&cli.path("out"))) == origin.imported.0, "{quarter}");
        }
    }
}

/// If several servers start together on one data directory, only one imports.
#[test]
fn serve_imports_once_when_servers_start_together() {
    let origin = &*ORIGIN;
    let cli = data_directory();
    let startup_logs: Vec<Vec<String>> = thread::scope(|scope| {
        let servers: Vec<_> = (0..3)
            .map(|_| scope.spawn(|| start(&cli, &origin.path()).startup_log.clone()))
            .collect();
        servers.into_iter().map(|server| server.join().unwrap()).collect()
    });
    let imported = |lines: &&Vec<String>| lines.iter().any(|line| line.starts_with("created "));
    assert_eq!(startup_logs.iter().filter(imported).count(), 1, "{startup_logs:?}");
    assert!(state(&cli) == origin.imported);
}
