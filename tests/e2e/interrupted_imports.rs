//! Imports that are killed: whenever it happens, the same command completes them.

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
    spaces::{tree, undated},
    support::{Place, Server, fixtures},
};

/// Objects in one request, so that a small import takes many.
const BATCH: &str = "8";
const POSTS: usize = 24;
/// After how many parts of the import it is killed.
const KILLS: u64 = 14;

/// What is imported, and what an import that nobody disturbs makes of it.
struct Origin {
    folder: TempDir,
    imported: State,
    /// How many changes it is.
    changes: u64,
}

/// Everything of a space but dates: files of an export, and versions in the order of creation.
type State = (Vec<(String, Vec<u8>)>, Vec<String>);

static ORIGIN: LazyLock<Origin> = LazyLock::new(|| {
    let folder = TempDir::new().unwrap();
    let place = Place::with_data();
    fill(&place);
    place.run(&["export", "out"]).ok();
    for (name, bytes) in tree(&place.path("out")) {
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

fn link(content_type: &str, id: &str) -> Value {
    json!([{ "type": "internal", "dataUrl": format!("/api/v1/content/{content_type}/{id}") }])
}

/// Links in circles, links that are required, statuses, workflow states, files, a picture of a type.
fn fill(place: &Place) {
    place.write(
        "project.yaml",
        "version: 1
contentTypes:
  - name: post
    draftPublic: true
    properties:
      title: {type: text, required: true, titlePart: true}
      next: {type: datasource, to: post}
      notes: {type: datasource, to: note, many: true}
  - name: note
    workflow: editorial
    properties:
      title: {type: text}
      about: {type: datasource, to: post}
  - name: chapter
    properties:
      after: {type: datasource, to: chapter, required: true, minItems: 0}
      also: {type: datasource, to: chapter}
workflows:
  - id: editorial
    name: Editorial desk
    states: [draft, review, public, archive]
    transitions: [draft>review, review>draft, review>public, public>archive]
",
    );
    place.run(&["ctd", "apply", "project.yaml"]).ok();
    let write = |name: &str, rows: Vec<Value>| {
        let lines: Vec<String> = rows.iter().map(|row| format!("{row}\n")).collect();
        place.write(name, &lines.concat());
    };
    let post = |number: usize| format!("p{:02}", number % POSTS);
    let posts = || 0..POSTS;
    let new = posts().map(|n| {
        json!({ "id": post(n), "title": format!("Post {n}"), "next": link("post", &post(n + 1)) })
    });
    write("posts.ndjson", new.collect());
    place.run(&["import", "post", "posts.ndjson"]).ok();
    let notes = (0..8).map(|n| json!({ "id": format!("n{n}"), "about": link("post", &post(n)) }));
    write("notes.ndjson", notes.collect());
    place.run(&["import", "note", "notes.ndjson"]).ok();
    let chapters = (0..10).map(|n| {
        let next = if n == 9 { json!([]) } else { link("chapter", &format!("c{}", n + 1)) };
        json!({ "id": format!("c{n}"), "after": next, "also": link("chapter", &format!("c{}", 9 - n)) })
    });
    write("chapters.ndjson", chapters.collect());
    place.run(&["import", "chapter", "chapters.ndjson"]).ok();

    let some = |rest: usize| posts().filter(move |n| n % 4 == rest).map(post);
    let run = |command: &[&str], ids: Vec<String>| {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        place.run(&[command, &ids].concat()).ok();
    };
    run(&["publish", "post"], some(1).chain(some(2)).collect());
    run(&["archive", "post"], some(3).collect());
    let edited = posts().filter(|n| n % 4 == 2).map(|n| {
        json!({ "id": post(n), "title": format!("Draft of {n}"), "next": link("post", &post(n + 2)),
            "notes": link("note", "n7") })
    });
    write("edited.ndjson", edited.collect());
    place.run(&["import", "post", "edited.ndjson", "--update-existing"]).ok();
    place.run(&["workflow", "run", "note", "n2", "n3", "n4", "_draft_review"]).ok();
    place.run(&["workflow", "run", "note", "n3", "n4", "_review_public"]).ok();
    place.run(&["workflow", "run", "note", "n4", "_public_archive"]).ok();
    let pictures = fixtures().join("media");
    place.run(&["media", "upload", pictures.join("still.png").to_str().unwrap()]).ok();
}

/// A data directory that exists, so that all commits after this are those of an import.
fn data_directory() -> Place {
    let place = Place::with_data();
    place.run(&["key", "create", "first", "--kind", "read-only"]).ok();
    place
}

fn start(place: &Place, from: &Path) -> Server {
    let arguments = ["--import", from.to_str().unwrap(), "--batch-limit", BATCH];
    Server::start_in(&place.path(""), &arguments)
}

/// What is exported, and the numbers of versions and the order of creation.
fn state(place: &Place) -> State {
    place.run(&["export", "out"]).ok();
    let sql = "SELECT format('%s/%s %d %d %d', ctd.name, object.id, version, public_version,
                             workflow_public_version)
               FROM object JOIN ctd ON ctd.pk = ctd ORDER BY ctd.name, object.pk";
    let database = open(&place.path("data"));
    let mut statement = database.prepare(sql).unwrap();
    let versions = statement.query_map([], |row| row.get(0)).unwrap();
    let versions = versions.collect::<Result<_, _>>().unwrap();
    (undated(tree(&place.path("out"))), versions)
}

fn open(data: &Path) -> Connection {
    Connection::open_with_flags(data.join("cms.db"), OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap()
}

/// How many changes of a database its journal has.
fn changes(database: &Connection) -> u64 {
    let sql = "SELECT coalesce(max(seq), 0) FROM journal";
    database.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Starts a process and kills it after so many changes of the database, or when its import is over:
/// how many changes are left after a kill depends on when that came.
fn kill_after(start: impl FnOnce() -> Child, data: &Path, number: u64) {
    let database = open(data);
    // Counted before the process can change anything.
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

/// Starts a server that imports, and kills it after so many changes.
fn kill_server_after(place: &Place, from: &Path, number: u64) {
    let from = from.to_str().unwrap();
    let server = ["serve", "--listen", "127.0.0.1:0", "--import", from, "--batch-limit", BATCH];
    kill_after(|| place.start_with_log(&server), &place.path("data"), number);
}

/// After any kill the next start with the same arguments makes what an undisturbed one makes: also
/// when it is killed, too.
#[test]
fn serve_resumes_an_interrupted_import() {
    let origin = &*ORIGIN;
    assert!(origin.changes > 100, "{}", origin.changes);
    let mut resumed = 0;
    for number in 0..KILLS {
        let place = data_directory();
        let changes = 1 + number * (origin.changes - 1) / KILLS;
        kill_server_after(&place, &origin.path(), changes);
        if number % 3 == 1 {
            kill_server_after(&place, &origin.path(), (origin.changes - changes) / 3);
        }
        let was_unfinished = is_unfinished(&place.path("data"));
        resumed += u64::from(was_unfinished);
        let server = start(&place, &origin.path());
        let resumes = server.said.iter().any(|line| line.starts_with("resuming the interrupted"));
        assert_eq!(resumes, was_unfinished, "{:?}", server.said);
        server.stop();
        assert!(!is_unfinished(&place.path("data")));
        let (files, versions) = state(&place);
        assert_eq!(names(&files), names(&origin.imported.0), "killed after {changes}");
        for (found, wanted) in files.iter().zip(&origin.imported.0) {
            assert!(
                found == wanted,
                "killed after {changes}: {}\n{}\ninstead of\n{}",
                found.0,
                String::from_utf8_lossy(&found.1),
                String::from_utf8_lossy(&wanted.1)
            );
        }
        assert_eq!(versions, origin.imported.1, "killed after {changes}");
    }
    assert!(resumed >= KILLS / 2, "{resumed}");
}

fn names(files: &[(String, Vec<u8>)]) -> Vec<&str> {
    files.iter().map(|(name, _)| name.as_str()).collect()
}

/// Who edits what an interrupted import left behind keeps it, and once the import is complete it
/// touches nothing that exists.
#[test]
fn serve_leaves_objects_alone_that_somebody_edited() {
    let origin = &*ORIGIN;
    let place = data_directory();
    // It exists before the import begins, just as the folder has it, but for the status.
    place.write(
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
    place.run(&["ctd", "apply", "project.yaml"]).ok();
    place.write("first.ndjson", "{\"id\":\"p01\",\"title\":\"Post 1\"}\n");
    place.run(&["import", "post", "first.ndjson"]).ok();
    kill_server_after(&place, &origin.path(), origin.changes / 2);
    place.write("change.json", r#"{"title":"An editor was here"}"#);
    place.run(&["object", "update", "post", "p02", "change.json", "--patch"]).ok();
    let listened = Server::start_in(&place.path(""), &[]);
    let warned = listened.said.iter().any(|line| line.contains("is not complete: resume it with"));
    assert!(warned, "{:?}", listened.said);
    listened.stop();

    start(&place, &origin.path()).stop();
    let get = |id: &str| -> Value {
        serde_json::from_str(&place.run(&["object", "get", "post", id, "--json"]).ok()).unwrap()
    };
    assert_eq!(get("p02")["title"], "An editor was here");
    assert_eq!(get("p01")["internal"]["status"], "draft");
    assert_eq!(get("p01")["next"], Value::Null);
    assert_eq!(get("p05")["internal"]["status"], "public");
    assert_eq!(get("p05")["next"], link("post", "p06"));

    place.run(&["unpublish", "post", "p05"]).ok();
    place.write("change.json", "{\"title\": \"Post 9\"}");
    place.run(&["object", "update", "post", "p09", "change.json"]).ok();
    place.run(&["workflow", "run", "note", "n2", "_review_draft"]);
    let before = state(&place);
    let server = start(&place, &origin.path());
    assert!(!server.said.iter().any(|line| line.contains("resuming")), "{:?}", server.said);
    server.stop();
    assert_eq!(state(&place), before);
}

/// A command that was killed is completed by the same one with `--update-existing`, on both targets.
#[test]
fn import_completes_what_a_killed_import_left() {
    let origin = &*ORIGIN;
    let from = origin.path();
    let from = from.to_str().unwrap();
    for quarter in 1..4 {
        let server = Server::start();
        let place = data_directory();
        let data = place.path("data");
        for (place, data) in [(place, data), (Place::with_server(&server), server.data())] {
            let import = || place.start_with_log(&["import", from]);
            kill_after(import, &data, origin.changes * quarter / 4);
            place.run(&["import", from, "--update-existing"]).ok();
            place.run(&["export", "out"]).ok();
            assert!(undated(tree(&place.path("out"))) == origin.imported.0, "{quarter}");
        }
    }
}

/// Of servers that start together on one data directory one imports, and the others find it done.
#[test]
fn serve_imports_once_when_servers_start_together() {
    let origin = &*ORIGIN;
    let place = data_directory();
    let said: Vec<Vec<String>> = thread::scope(|scope| {
        let servers: Vec<_> =
            (0..3).map(|_| scope.spawn(|| start(&place, &origin.path()).said.clone())).collect();
        servers.into_iter().map(|server| server.join().unwrap()).collect()
    });
    let imported = |lines: &&Vec<String>| lines.iter().any(|line| line.starts_with("created "));
    assert_eq!(said.iter().filter(imported).count(), 1, "{said:?}");
    assert!(state(&place) == origin.imported);
}
