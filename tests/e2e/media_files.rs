//! Files of media, on both targets: uploaded once, listed, fetched, checked, exported, imported.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{
    spaces::tree,
    support::{Place, Ran, Server, fixtures},
};

/// A folder and a server to run the same commands on.
fn places(server: &Server) -> [Place; 2] {
    let places = [Place::with_data(), Place::with_server(server)];
    places[0].run(&["key", "create", "first", "--kind", "read-only"]).ok();
    places
}

/// Writes a file of some size that begins like a PNG and is like no other one.
fn write_picture(place: &Place, name: &str, size: usize) {
    let mut bytes = fs::read(fixtures().join("media/still.png")).unwrap();
    let mut noise =
        name.bytes().fold(7_u64, |state, byte| (state << 5) ^ (state >> 3) ^ u64::from(byte));
    while bytes.len() < size {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        bytes.push(noise.to_be_bytes()[0]);
    }
    let path = place.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn rows(ran: &Ran) -> Vec<Value> {
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// File and outcome of each row.
fn outcomes(rows: &[Value]) -> Vec<String> {
    let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    rows.iter().map(|row| format!("{} {}", text(row, "file"), text(row, "outcome"))).collect()
}

fn library(place: &Place) -> Vec<Value> {
    let ran = place.run(&["media", "list", "--all", "-o", "ndjson"]);
    assert_eq!(ran.exit, 0, "{}", ran.whole());
    rows(&ran)
}

/// Fetches a file as bytes, which a transcript cannot hold.
fn fetched(place: &Place, id: &str) -> Vec<u8> {
    place.run(&["media", "get", id, "-o", "fetched"]).ok();
    fs::read(place.path("fetched")).unwrap()
}

#[test]
fn the_same_bytes_are_uploaded_once() {
    let server = Server::start();
    let [folder, remote] = places(&server);
    for place in [&folder, &remote] {
        for name in ["in/a.png", "in/b \"quoted\" ä.png", "in/deep/c.png", "d.png"] {
            write_picture(place, name, 70_000);
        }
        fs::copy(place.path("in/a.png"), place.path("in/same.png")).unwrap();
        fs::copy(place.path("in/a.png"), place.path("in/z.bin")).unwrap();
        place.write("in/deep/note.txt", "a note");
        place.write("in/.hidden.txt", "not meant");
        let command = ["media", "upload", "in", "--tag", "Sea", "--tag", "sea", "--alt", "A view"];
        let rehearsed = place.run(&[&command[..], &["--dry-run", "-o", "ndjson"]].concat());
        assert_eq!(rehearsed.exit, 0, "{}", rehearsed.whole());
        assert!(rehearsed.stderr.ends_with(
            "would create the tag \"Sea\"\nwould create the tag \"sea\"\nwould upload 5, kept 1, refused 0\nnothing was changed\n"
        ), "{}", rehearsed.whole());
        assert_eq!(library(place), [Value::Null; 0]);

        let ran = place.run(&[&command[..], &["-o", "ndjson"]].concat());
        assert_eq!(ran.exit, 0, "{}", ran.whole());
        assert!(ran.stderr.ends_with("uploaded 5, kept 1, refused 0\n"), "{}", ran.whole());
        let uploaded = rows(&ran);
        assert_eq!(
            outcomes(&uploaded),
            [
                "in/a.png uploaded",
                "in/b \"quoted\" ä.png uploaded",
                "in/deep/c.png uploaded",
                "in/deep/note.txt uploaded",
                "in/same.png kept",
                // As a file it is another object.
                "in/z.bin uploaded",
            ]
        );
        assert_eq!(uploaded[0]["id"], uploaded[4]["id"]);

        let again = place.run(&[&command[..], &["-o", "ndjson", "--parallel", "1"]].concat());
        let kept = rows(&again);
        assert!(kept.iter().all(|row| row["outcome"] == "kept"), "{}", again.whole());
        let ids = |rows: &[Value]| rows.iter().map(|row| row["id"].clone()).collect::<Vec<_>>();
        assert_eq!(ids(&uploaded), ids(&kept));

        let objects = library(place);
        assert_eq!(objects.len(), 5);
        let find = |id: &Value| objects.iter().find(|object| object["id"] == *id).unwrap();
        let quoted = find(&uploaded[1]["id"]);
        assert_eq!(
            (&quoted["fileName"], &quoted["alt"], &quoted["mimeType"], &quoted["width"]),
            (&"b \"quoted\" ä.png".into(), &"A view".into(), &"image/png".into(), &40.into())
        );
        assert_eq!(quoted["tags"].as_array().unwrap().len(), 2, "{quoted}");
        assert_eq!(find(&uploaded[5]["id"])["type"], "file");
        for row in &uploaded {
            let sent = fs::read(place.path(row["file"].as_str().unwrap())).unwrap();
            assert!(fetched(place, row["id"].as_str().unwrap()) == sent, "{row}");
        }
    }
}

#[test]
fn refused_files_do_not_keep_others_out() {
    let server = Server::start();
    for place in places(&server) {
        write_picture(&place, "p/good.png", 200);
        write_picture(&place, "p/large.png", 10 * 1024 * 1024 + 1);
        place.write("p/table.csv", "a,b\n");
        place.write("p/empty.png", "");
        place.write("p/text.png", "no picture");
        let ran = place.run(&["media", "upload", "p/*", "-o", "csv"]);
        assert_eq!(ran.exit, 7, "{}", ran.whole());
        assert!(ran.stderr.contains("refused p/empty.png: An empty file is not allowed.\n"));
        for fault in
            ["(\"\"text/csv\"\")", "The file is not an image", "Allowed maximum size is 10 MB."]
        {
            assert!(ran.stdout.contains(fault), "{}", ran.whole());
        }
        assert!(ran.stderr.ends_with("uploaded 1, kept 0, refused 4\n"), "{}", ran.whole());

        let ran = place.run(&["media", "upload", "p/table.csv", "p/empty.png"]);
        assert_eq!(ran.exit, 6, "{}", ran.whole());
        assert_eq!(library(&place).len(), 1);
        for missing in ["none.png", "none/*"] {
            assert_eq!(place.run(&["media", "upload", missing]).exit, 2);
        }
    }
}

/// A server that takes less than a file of it has may answer before it has the file.
#[test]
fn what_a_server_does_not_read_is_refused() {
    let folder = tempfile::TempDir::new().unwrap();
    let server = Server::start_in(folder.path(), &["--upload-limit", "1100000"]);
    let place = Place::with_server(&server);
    write_picture(&place, "p/a.png", 1000);
    write_picture(&place, "p/b.png", 9_000_000);
    write_picture(&place, "p/c.png", 2000);
    let ran = place.run(&["media", "upload", "p", "--parallel", "1"]);
    assert_eq!(ran.exit, 7, "{}", ran.whole());
    assert!(ran.stderr.ends_with("uploaded 2, kept 0, refused 1\n"), "{}", ran.whole());
}

#[test]
fn files_are_fetched_whole_or_not_at_all() {
    let server = Server::start();
    for place in places(&server) {
        write_picture(&place, "a.png", 3_000_000);
        let ran = place.run(&["media", "upload", "a.png", "--json"]);
        let row: Value = serde_json::from_str(&ran.ok()).unwrap();
        let id = row[0]["id"].as_str().unwrap();
        let ran = place.run(&["media", "get", id, "-o", "b.png"]);
        assert_eq!((ran.exit, &*ran.stderr), (0, "3000000 bytes in b.png\n"));
        assert!(fs::read(place.path("b.png")).unwrap() == fs::read(place.path("a.png")).unwrap());
        let table = [
            (["get", "nosuch", "-o", "b.png"], 4, "error: object \"_media/nosuch\" not found\n"),
            (["get", id, "-o", "."], 1, "error: cannot write .: is a directory\n"),
            (["get", id, "-o", "none/b.png"], 1, ""),
        ];
        for (arguments, exit, said) in table {
            let ran = place.run(&[&["media"], &arguments[..]].concat());
            assert_eq!(ran.exit, exit, "{}", ran.whole());
            assert!(ran.stderr.ends_with(said), "{}", ran.whole());
        }
        // Standard output gets the bytes and nothing else.
        let text = place.path("note.txt");
        fs::write(&text, "\u{1b}[31mred\u{1b}[0m\r\n").unwrap();
        let row: Value =
            serde_json::from_str(&place.run(&["media", "upload", "note.txt", "--json"]).ok())
                .unwrap();
        for dash in [&["-o", "-"][..], &[]] {
            let get = ["media", "get", row[0]["id"].as_str().unwrap()];
            let ran = place.run(&[&get, dash].concat());
            assert_eq!(ran.ok(), fs::read_to_string(&text).unwrap());
        }
        let left = fs::read_dir(place.path("")).unwrap();
        assert!(
            left.flatten().all(|entry| !entry.file_name().to_string_lossy().ends_with(".part"))
        );
    }
}

#[test]
fn a_check_says_what_lost_its_file() {
    let folder = tempfile::TempDir::new().unwrap();
    let server = Server::start_in(folder.path(), &[]);
    let direct = Place::with_data();
    let remote = Place::with_server(&server);
    for (place, data) in [(&direct, direct.path("data")), (&remote, folder.path().join("data"))] {
        write_picture(place, "a.png", 300);
        write_picture(place, "b.png", 300);
        place.run(&["media", "upload", "a.png", "b.png"]).ok();
        assert_eq!(place.run(&["check"]).ok(), "2 stored files\nno problems found\n");
        let id = library(place)[0]["id"].as_str().unwrap().to_owned();
        fs::remove_file(data.join("media").join(&id)).unwrap();
        for repair in [&["check"][..], &["check", "--repair"]] {
            let ran = place.run(repair);
            assert_eq!(ran.exit, 6, "{}", ran.whole());
            assert_eq!(ran.stdout, format!("1 stored file\nmissing file: {id}\n"));
        }
        place.run(&["object", "delete", "_media", &id]).ok();
        assert_eq!(place.run(&["check"]).ok(), "1 stored file\nno problems found\n");
    }
}

#[test]
fn check_backup_and_export_refuse_files_that_are_not_what_was_uploaded() {
    let folder = tempfile::TempDir::new().unwrap();
    let server = Server::start_in(folder.path(), &[]);
    let direct = Place::with_data();
    let remote = Place::with_server(&server);
    for (place, data) in [(&direct, direct.path("data")), (&remote, folder.path().join("data"))] {
        write_picture(place, "a.png", 300);
        place.run(&["media", "upload", "a.png"]).ok();
        place.run(&["backup", "site.tar"]).ok();
        let older = fs::read(place.path("site.tar")).unwrap();
        let id = library(place)[0]["id"].as_str().unwrap().to_owned();
        let path = data.join("media").join(&id);
        let uploaded = fs::read(&path).unwrap();
        let remedy = "put the file back from an earlier backup, or delete the media object";
        let hint = "hint: `cms check --digests` names stored files that are damaged\n";

        fs::write(&path, &uploaded[..200]).unwrap();
        let message =
            format!("the stored file {id} has 200 bytes, 300 bytes were uploaded; {remedy}");
        for check in [&["check"][..], &["check", "--digests"], &["check", "--repair"]] {
            let ran = place.run(check);
            let stdout = format!("1 stored file\nfiles _media/{id}: {message}\n");
            assert_eq!((ran.exit, &ran.stdout), (6, &stdout), "{}", ran.whole());
        }
        let backup = place.run(&["backup", "site.tar"]);
        assert_eq!(backup.exit, 1, "{}", backup.whole());
        assert_eq!(backup.stderr, format!("error: {message}\n{hint}"));
        for command in [&["media", "get", &id, "-o", "-"][..], &["export", "out"]] {
            let ran = place.run(command);
            assert_eq!((ran.exit, ran.stdout.as_str()), (1, ""), "{}", ran.whole());
        }

        fs::write(&path, [&uploaded[..299], b"!"].concat()).unwrap();
        let message = format!(
            "the content of the stored file {id} is not what was uploaded: its SHA-256 differs; \
             {remedy}"
        );
        assert_eq!(place.run(&["check"]).ok(), "1 stored file\nno problems found\n");
        let check = place.run(&["check", "--digests"]);
        let stdout = format!("1 stored file\nfiles _media/{id}: {message}\n");
        assert_eq!((check.exit, check.stdout), (6, stdout));
        let backup = place.run(&["backup", "site.tar"]);
        assert!(backup.stderr.ends_with(hint), "{}", backup.whole());
        if data == direct.path("data") {
            assert_eq!((backup.exit, backup.stderr), (1, format!("error: {message}\n{hint}")));
        } else {
            assert_eq!(backup.exit, 9, "{}", backup.whole());
            let line = format!("stored file has the wrong content id={id}");
            let begun = Instant::now();
            while !server.logged().contains(&line) {
                assert!(begun.elapsed() < Duration::from_secs(10), "{}", server.logged());
                thread::yield_now();
            }
        }
        assert_eq!(fs::read(place.path("site.tar")).unwrap(), older);
        assert!(!place.path("site.tar.part").exists());

        fs::write(&path, &uploaded).unwrap();
        assert_eq!(place.run(&["check", "--digests"]).ok(), "1 stored file\nno problems found\n");
        place.run(&["backup", "site.tar"]).ok();
    }
}

/// Files go with their objects: out, in, out again, and nothing differs.
#[test]
fn files_move_with_their_objects() {
    let server = Server::start();
    let content = fixtures().join("content");
    let content = content.to_str().unwrap();
    let project = fixtures().join("project.yaml");
    let pictures = |folder: &Path| -> Vec<_> {
        let mut files = tree(&folder.join("InternalContentTypeMedia"));
        files.retain(|(name, _)| name.starts_with("_media-"));
        files
    };
    for place in places(&server) {
        place.run(&["ctd", "apply", project.to_str().unwrap()]).ok();
        let rehearsed = place.run(&["import", content, "--dry-run"]).ok();
        assert!(rehearsed.ends_with("\nfiles: stored 10, unchanged 0, refused 0\n"), "{rehearsed}");
        let imported = place.run(&["import", content, "--json"]).ok();
        let imported: Value = serde_json::from_str(&imported).unwrap();
        let counts = serde_json::json!({
            "stored": 10, "unchanged": 0, "refused": 0, "missing": 0, "withoutObject": 0,
        });
        assert_eq!(imported["files"], counts);
        assert_eq!(place.run(&["check"]).ok(), "10 stored files\nno problems found\n");

        let exported = place.run(&["export", "out"]).ok();
        assert!(exported.ends_with(" objects, 10 files\n"), "{exported}");
        assert_eq!(pictures(Path::new(content)), pictures(&place.path("out")));
        let first = tree(&place.path("out"));
        let again = place.run(&["import", "out", "--update-existing"]).ok();
        assert!(
            again.ends_with(", refused 0\nfiles: stored 0, unchanged 10, refused 0\n"),
            "{again}"
        );

        // What is gone leaves an earlier export.
        write_picture(&place, "new.png", 500);
        place.run(&["media", "upload", "new.png"]).ok();
        place.run(&["export", "out"]).ok();
        assert_eq!(pictures(&place.path("out")).len(), 11);
        let filter = r#"{"fileName":{"type":"equals","filter":"new.png"}}"#;
        let new = rows(&place.run(&["media", "list", "--filters", filter, "-o", "ndjson"]));
        place.run(&["object", "delete", "_media", new[0]["id"].as_str().unwrap()]).ok();
        place.run(&["export", "out"]).ok();
        assert_eq!(first, tree(&place.path("out")));
    }
}

#[test]
fn an_import_says_which_files_are_missing_or_refused() {
    let server = Server::start();
    for place in places(&server) {
        let content = fixtures().join("content/InternalContentTypeMedia");
        let folder = place.path("in/InternalContentTypeMedia");
        fs::create_dir_all(&folder).unwrap();
        for (name, bytes) in tree(&content) {
            fs::write(folder.join(name), bytes).unwrap();
        }
        let tags = fixtures().join("content/InternalContentTypeTag");
        fs::create_dir_all(place.path("in/InternalContentTypeTag")).unwrap();
        for (name, bytes) in tree(&tags) {
            fs::write(place.path("in/InternalContentTypeTag").join(name), bytes).unwrap();
        }
        let file = |id: &str| folder.join(format!("_media-{id}"));
        fs::remove_file(file("37bd5a46-505c-4867-be29-ba7de75bcddb.png")).unwrap();
        fs::write(file("f4532732-7e0f-4aaa-8f52-2af3f02ee6f5.png"), "no picture").unwrap();
        fs::write(file("00000000-0000-4000-8000-000000000000.png"), "alone").unwrap();
        fs::write(folder.join(".hidden"), "not meant").unwrap();

        let command = ["import", "in", "--rejects", "rejects.ndjson"];
        let ran = place.run(&command);
        assert_eq!(ran.exit, 7, "{}", ran.whole());
        assert!(
            ran.stdout.ends_with("refused 0\nfiles: stored 8, unchanged 0, refused 1\n"),
            "{}",
            ran.whole()
        );
        for note in [
            "): type: The file is not an image\n",
            "1 media object without a file in the folder\n",
            "skipped 1 file without a media object in the folder\n",
        ] {
            assert!(ran.stderr.contains(note), "{}", ran.whole());
        }
        let reject: Value =
            serde_json::from_str(&fs::read_to_string(place.path("rejects.ndjson")).unwrap())
                .unwrap();
        assert_eq!(reject["data"]["id"], "_media-f4532732-7e0f-4aaa-8f52-2af3f02ee6f5");

        // Another file of an id that has one is refused, and the stored one stays.
        let changed = "82e407ec-b957-493e-85cd-01eb1cf02aa0.jpg";
        let stored = fs::read(file(changed)).unwrap();
        fs::write(file(changed), fs::read(fixtures().join("media/still.jpg")).unwrap()).unwrap();
        let ran = place.run(&["import", "in", "--update-existing"]);
        assert!(
            ran.stdout.ends_with("files: stored 0, unchanged 7, refused 2\n"),
            "{}",
            ran.whole()
        );
        assert!(ran.stderr.contains("): id: This value is already used"), "{}", ran.whole());
        assert!(fetched(&place, "_media-82e407ec-b957-493e-85cd-01eb1cf02aa0") == stored);

        let exported = place.run(&["export", "out"]);
        assert_eq!(exported.exit, 0, "{}", exported.whole());
        assert_eq!(exported.stderr, "2 media objects without a file\n");
        let check = place.run(&["check"]);
        assert_eq!((check.exit, check.stdout.matches("missing file").count()), (6, 2));
    }
}

/// A new server gets the files of its content folder; one that is started again reads none of them.
#[test]
fn a_server_starts_with_files() {
    let place = Place::with_data();
    let (project, content) = (fixtures().join("project.yaml"), fixtures().join("content"));
    let arguments = ["--apply", project.to_str().unwrap(), "--import", content.to_str().unwrap()];
    let said = |server: &Server, part: &str| server.said.iter().any(|line| line.contains(part));
    let server = Server::start_in(&place.path(""), &arguments);
    assert!(said(&server, "files: stored 10, unchanged 0, refused 0"), "{:?}", server.said);
    drop(server);
    assert_eq!(place.run(&["check"]).ok(), "10 stored files\nno problems found\n");
    let id = "_media-f4532732-7e0f-4aaa-8f52-2af3f02ee6f5";
    fs::remove_file(place.path("data/media").join(id)).unwrap();
    let deleted = "_media-a7f97e83-8d97-4c4f-85d2-9c5797e961b4";
    place.run(&["object", "delete", "_media", deleted, "--yes"]);
    let server = Server::start_in(&place.path(""), &arguments);
    assert!(said(&server, "files: stored 1, unchanged 9, refused 0"), "{:?}", server.said);
    drop(server);
    let server = Server::start_in(&place.path(""), &arguments);
    assert!(!said(&server, "files: "), "{:?}", server.said);
}

/// Whenever an upload is killed, the library is sound, and the same command goes on.
#[test]
fn a_killed_upload_leaves_nothing_half() {
    let server = Server::start();
    for place in places(&server) {
        let count = 60;
        for number in 0..count {
            write_picture(&place, &format!("in/{number:03}.png"), 400_000);
        }
        let mut left = 0;
        for (signal, pause) in [("KILL", 40), ("INT", 80), ("KILL", 120), ("INT", 160)] {
            let mut child = place.start(&["media", "upload", "in", "--parallel", "8"]);
            thread::sleep(Duration::from_millis(pause));
            let (_, said) = place.shell(&format!("kill -{signal} {}", child.id()));
            assert_eq!(said, "");
            let exit = child.wait().unwrap().code();
            // On a busy machine the signal may come before the command is ready for it.
            assert!(signal == "KILL" || matches!(exit, None | Some(0 | 7)), "{exit:?}");
            let objects = library(&place);
            assert!(objects.len() >= left, "an object is gone");
            left = objects.len();
            assert!(objects.iter().all(|object| object["size"] == 400_000));
            assert_eq!(place.run(&["check"]).exit, 0);
        }
        let ran = place.run(&["media", "upload", "in"]);
        assert_eq!(ran.exit, 0, "{}", ran.whole());
        // A server may still have been at work for a killed command.
        assert!(library(&place).len() >= count, "{}", ran.whole());
        let again = place.run(&["media", "upload", "in"]);
        assert!(again.stderr.ends_with("uploaded 0, kept 60, refused 0\n"), "{}", again.whole());
    }
}
