//! A database with overwritten pages: responses are correct or errors, the server refuses writes
//! after it read such a page, and `cms check` lists the damage.

use std::{
    fmt::Write as _,
    fs::File,
    io::{Seek, SeekFrom, Write},
    path::Path,
};

use reqwest::Method;
use serde_json::{Value, json};

use super::{
    recovery::Http,
    support::{Cli, Server},
};

const NOTES: usize = 400;

const PROJECT: &str = "\
version: 1
contentTypes:
  - name: note
    properties:
      title: {type: text, required: true}
      text: {type: textarea}
";

fn note(number: usize) -> Value {
    let text = format!("the text of note {number} ").repeat(40);
    json!({ "id": format!("note-{number}"), "title": format!("Note {number}"), "text": text })
}

/// A data directory with notes, whose database is one file.
fn with_notes() -> Cli {
    let cli = Cli::with_data();
    cli.write("project.yaml", PROJECT);
    let mut lines = String::new();
    for number in 0..NOTES {
        writeln!(lines, "{}", note(number)).unwrap();
    }
    cli.write("notes.ndjson", &lines);
    cli.run(&["ctd", "apply", "project.yaml"]).ok();
    cli.run(&["import", "note", "notes.ndjson"]).ok();
    cli
}

/// Overwrites some pages, from this percentage of the file on.
fn corrupt(database: &Path, percent: u64) {
    let mut file = File::options().write(true).open(database).unwrap();
    let pages = file.metadata().unwrap().len() / 4096;
    let first = (pages * percent / 100).max(1);
    for page in (first..pages).step_by(3).take(8) {
        file.seek(SeekFrom::Start(page * 4096)).unwrap();
        file.write_all(&[0xa5; 4096]).unwrap();
    }
}

#[test]
fn damaged_database_never_gives_wrong_responses() {
    let mut refused = 0;
    for percent in [5, 20, 40, 60, 90] {
        let cli = with_notes();
        corrupt(&cli.path("data/cms.db"), percent);
        for repair in [&["check"][..], &["check", "--repair"]] {
            let checked = cli.run(repair);
            assert_eq!(checked.exit, 6, "{percent}: {}", checked.transcript());
            assert!(checked.stdout.starts_with("database"), "{percent}: {}", checked.transcript());
            checked.stderr_contains("restore a backup");
            for wrong in ["panicked", "nternal", "no problems"] {
                assert!(!checked.transcript().contains(wrong), "{}", checked.transcript());
            }
        }
        let backup = cli.run(&["backup", "site.tar"]);
        assert_ne!(backup.exit, 0, "{percent}: {}", backup.transcript());
        assert!(!cli.path("site.tar").exists());

        // All commands refuse a directory that cannot be opened. A server that starts for the first
        // time also refuses a directory in which it cannot store keys.
        let key = ["key", "create", "web", "--kind", "read-only"];
        if cli.run(&["ctd", "list"]).exit != 0 || cli.run(&key).exit != 0 {
            continue;
        }
        let server = Server::start_in(&cli.path(""), &[]);
        let http = Http::new(&server);
        let refused_before = refused;
        let get = |path: &str| http.send(&Method::GET, path, &Value::Null).unwrap();
        for number in 0..NOTES {
            let (status, body) = get(&format!("/api/v1/content/note/note-{number}"));
            if status == 200 {
                let body: Value = serde_json::from_str(&body).unwrap();
                assert_eq!(body["text"], note(number)["text"], "{percent}");
            } else {
                refused += 1;
                assert_eq!(status, 500, "{percent}: {body}");
            }
        }
        let (status, body) = get("/api/v1/content/note?limit=1000");
        if status == 200 {
            let body: Value = serde_json::from_str(&body).unwrap();
            assert_eq!(body["total_count"], NOTES, "{percent}");
        }
        assert_eq!(get("/healthz").0, 200, "the server lives");
        if refused == refused_before {
            continue;
        }
        let (status, body) = get("/readyz");
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((status, &body["parts"]["database"]), (503, &json!("not ready")));
        let (status, body) =
            http.send(&Method::POST, "/api/v1/content/note", &note(NOTES)).unwrap();
        let unavailable = r#"{"code":503,"message":"Service Unavailable"}"#;
        assert_eq!((status, &*body), (503, unavailable));
        // The server may have read the page before it listened.
        let logged = server.startup_log.join("\n") + &server.logged();
        assert!(logged.contains("database is damaged"), "{logged}");
        let checked = Cli::with_server(&server).run(&["check"]);
        checked.exits(6);
        assert!(checked.stdout.contains("objects note"), "{}", checked.transcript());
    }
    assert!(refused > 0, "nothing was damaged");
}

/// Every command needs the first page; `cms check` works without it.
#[test]
fn damaged_first_page_is_listed() {
    let cli = with_notes();
    let database = cli.path("data/cms.db");
    for (from, length) in [(100, 1000), (0, 16), (0, 4096)] {
        let mut file = File::options().write(true).open(&database).unwrap();
        file.seek(SeekFrom::Start(from)).unwrap();
        file.write_all(&vec![0xa5; length]).unwrap();
        drop(file);
        let checked = cli.run(&["check"]);
        assert_eq!(checked.exit, 6, "{from}: {}", checked.transcript());
        assert!(checked.stdout.starts_with("database: "), "{from}: {}", checked.transcript());
        cli.run(&["ctd", "list"]).exits(2);
    }
}
