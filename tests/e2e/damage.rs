//! A database in which pages hold something else: responses are right or errors, the server refuses
//! writes once it met such a page, and the command line lists what is damaged.

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
    support::{Place, Server},
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

/// A folder with notes, whose database is one file.
fn with_notes() -> Place {
    let place = Place::with_data();
    place.write("project.yaml", PROJECT);
    let mut lines = String::new();
    for number in 0..NOTES {
        writeln!(lines, "{}", note(number)).unwrap();
    }
    place.write("notes.ndjson", &lines);
    place.run(&["ctd", "apply", "project.yaml"]).ok();
    place.run(&["import", "note", "notes.ndjson"]).ok();
    place
}

/// Writes over some pages, from so many hundredths of the file on.
fn spoil(database: &Path, hundredths: u64) {
    let mut file = File::options().write(true).open(database).unwrap();
    let pages = file.metadata().unwrap().len() / 4096;
    let first = (pages * hundredths / 100).max(1);
    for page in (first..pages).step_by(3).take(8) {
        file.seek(SeekFrom::Start(page * 4096)).unwrap();
        file.write_all(&[0xa5; 4096]).unwrap();
    }
}

#[test]
fn a_damaged_database_is_never_answered_from_wrongly() {
    let mut refused = 0;
    for hundredths in [5, 20, 40, 60, 90] {
        let place = with_notes();
        spoil(&place.path("data/cms.db"), hundredths);
        for repair in [&["check"][..], &["check", "--repair"]] {
            let checked = place.run(repair);
            assert_eq!(checked.exit, 6, "{hundredths}: {}", checked.whole());
            assert!(checked.stdout.starts_with("database"), "{hundredths}: {}", checked.whole());
            assert!(checked.stderr.contains("restore a backup"), "{}", checked.whole());
            for wrong in ["panicked", "nternal", "no problems"] {
                assert!(!checked.whole().contains(wrong), "{}", checked.whole());
            }
        }
        let backup = place.run(&["backup", "site.tar"]);
        assert_ne!(backup.exit, 0, "{hundredths}: {}", backup.whole());
        assert!(!place.path("site.tar").exists());

        // A folder that cannot even be opened is refused by all commands alike, and one that takes
        // no keys by a server that starts on it for the first time.
        let key = ["key", "create", "web", "--kind", "read-only"];
        if place.run(&["ctd", "list"]).exit != 0 || place.run(&key).exit != 0 {
            continue;
        }
        let server = Server::start_in(&place.path(""), &[]);
        let http = Http::new(&server);
        let refused_before = refused;
        let get = |path: &str| http.ask(&Method::GET, path, &Value::Null).unwrap();
        for number in 0..NOTES {
            let (status, body) = get(&format!("/api/v1/content/note/note-{number}"));
            if status == 200 {
                let body: Value = serde_json::from_str(&body).unwrap();
                assert_eq!(body["text"], note(number)["text"], "{hundredths}");
            } else {
                refused += 1;
                assert_eq!(status, 500, "{hundredths}: {body}");
            }
        }
        let (status, body) = get("/api/v1/content/note?limit=1000");
        if status == 200 {
            let body: Value = serde_json::from_str(&body).unwrap();
            assert_eq!(body["total_count"], NOTES, "{hundredths}");
        }
        assert_eq!(get("/healthz").0, 200, "the server lives");
        if refused == refused_before {
            continue;
        }
        let (status, body) = get("/readyz");
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((status, &body["parts"]["database"]), (503, &json!("not ready")));
        let (status, body) = http.ask(&Method::POST, "/api/v1/content/note", &note(NOTES)).unwrap();
        let unavailable = r#"{"code":503,"message":"Service Unavailable"}"#;
        assert_eq!((status, &*body), (503, unavailable));
        // Also when it was met before the server listened.
        let logged = server.said.join("\n") + &server.logged();
        assert!(logged.contains("database is damaged"), "{logged}");
        let checked = Place::with_server(&server).run(&["check"]);
        assert_eq!(checked.exit, 6, "{}", checked.whole());
        assert!(checked.stdout.contains("objects note"), "{}", checked.whole());
    }
    assert!(refused > 0, "nothing was damaged");
}

/// Also when not even the first page can be read, which every command needs.
#[test]
fn damaged_first_page_is_listed() {
    let place = with_notes();
    let database = place.path("data/cms.db");
    for (from, length) in [(100, 1000), (0, 16), (0, 4096)] {
        let mut file = File::options().write(true).open(&database).unwrap();
        file.seek(SeekFrom::Start(from)).unwrap();
        file.write_all(&vec![0xa5; length]).unwrap();
        drop(file);
        let checked = place.run(&["check"]);
        assert_eq!(checked.exit, 6, "{from}: {}", checked.whole());
        assert!(checked.stdout.starts_with("database: "), "{from}: {}", checked.whole());
        let listed = place.run(&["ctd", "list"]);
        assert_eq!(listed.exit, 2, "{}", listed.whole());
    }
}
