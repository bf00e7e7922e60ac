//! Media files on both targets: uploaded, listed, fetched, checked, exported, imported.

use std::{fs, path::Path, thread, time::Duration};

use serde_json::Value;

use super::{
    export_import::tree,
    support::{Cli, CommandOutput, Server, both_targets, fixtures},
};

/// Both targets, with an initialized data directory.
fn targets(server: &Server) -> [Cli; 2] {
    let targets = both_targets(server);
    targets[0].initialize();
    targets
}

/// Runs the same checks on both targets, with the data directory of each and the server of the second.
fn on_both_data_directories(check: impl Fn(&Cli, &Path, Option<&Server>)) {
    let folder = tempfile::TempDir::new().unwrap();
    let server = Server::start_in(folder.path(), &[]);
    let [direct, remote] = both_targets(&server);
    check(&direct, &direct.path("data"), None);
    check(&remote, &folder.path().join("data"), Some(&server));
}

/// Writes a unique file of `size` bytes that begins with a PNG.
fn write_image(cli: &Cli, name: &str, size: usize) {
    let mut bytes = fs::read(fixtures().join("media/still.png")).unwrap();
    let mut noise =
        name.bytes().fold(7_u64, |state, byte| (state << 5) ^ (state >> 3) ^ u64::from(byte));
    while bytes.len() < size {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        bytes.push(noise.to_be_bytes()[0]);
    }
    let path = cli.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn rows(output: &CommandOutput) -> Vec<Value> {
    output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// File and outcome of each row.
fn outcomes(rows: &[Value]) -> Vec<String> {
    let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    rows.iter().map(|row| format!("{} {}", text(row, "file"), text(row, "outcome"))).collect()
}

fn library(cli: &Cli) -> Vec<Value> {
    let output = cli.run(&["media", "list", "--all", "-o", "ndjson"]);
    output.exits(0);
    rows(&output)
}

/// Downloads a file as bytes, which a transcript cannot contain.
fn fetched(cli: &Cli, id: &str) -> Vec<u8> {
    cli.run(&["media", "get", id, "-o", "fetched"]).ok();
    fs::read(cli.path("fetched")).unwrap()
}

#[test]
fn equal_files_are_uploaded_once() {
    let server = Server::start();
    let [folder, remote] = targets(&server);
    for cli in [&folder, &remote] {
        for name in ["in/a.png", "in/b \"quoted\" ä.png", "in/deep/c.png", "d.png"] {
            write_image(cli, name, 70_000);
        }
        fs::copy(cli.path("in/a.png"), cli.path("in/same.png")).unwrap();
        fs::copy(cli.path("in/a.png"), cli.path("in/z.bin")).unwrap();
        cli.write("in/deep/note.txt", "a note");
        cli.write("in/.hidden.txt", "not meant");
        let command = ["media", "upload", "in", "--tag", "Sea", "--tag", "sea", "--alt", "A view"];
        let dry_run = cli.run(&[&command[..], &["--dry-run", "-o", "ndjson"]].concat());
        dry_run.exits(0);
        assert!(dry_run.stderr.ends_with(
            "would create the tag \"Sea\"\nwould create the tag \"sea\"\nwould upload 5, existing 1, refused 0\nnothing was changed\n"
        ), "{}", dry_run.transcript());
        assert_eq!(library(cli), [Value::Null; 0]);

        let output = cli.run(&[&command[..], &["-o", "ndjson"]].concat());
        output.exits(0);
        assert!(
            output.stderr.ends_with("uploaded 5, existing 1, refused 0\n"),
            "{}",
            output.transcript()
        );
        let uploaded = rows(&output);
        assert_eq!(
            outcomes(&uploaded),
            [
                "in/a.png uploaded",
                "in/b \"quoted\" ä.png uploaded",
                "in/deep/c.png uploaded",
                "in/deep/note.txt uploaded",
                "in/same.png existing",
                // A file of type `file` is another object.
                "in/z.bin uploaded",
            ]
        );
        assert_eq!(uploaded[0]["id"], uploaded[4]["id"]);

        let again = cli.run(&[&command[..], &["-o", "ndjson", "--parallel", "1"]].concat());
        let existing = rows(&again);
        assert!(existing.iter().all(|row| row["outcome"] == "existing"), "{}", again.transcript());
        let ids = |rows: &[Value]| rows.iter().map(|row| row["id"].clone()).collect::<Vec<_>>();
        assert_eq!(ids(&uploaded), ids(&existing));

        let objects = library(cli);
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
            let sent = fs::read(cli.path(row["file"].as_str().unwrap())).unwrap();
            assert!(fetched(cli, row["id"].as_str().unwrap()) == sent, "{row}");
        }
    }
}

#[test]
fn refused_files_do_not_stop_the_upload() {
    let server = Server::start();
    for cli in targets(&server) {
        write_image(&cli, "p/good.png", 200);
        write_image(&cli, "p/large.png", 10 * 1024 * 1024 + 1);
        cli.write("p/table.csv", "a,b\n");
        cli.write("p/empty.png", "");
        cli.write("p/text.png", "no image");
        let output = cli.run(&["media", "upload", "p/*", "-o", "csv"]);
        output.exits(7);
        assert!(output.stderr.contains("refused p/empty.png: An empty file is not allowed.\n"));
        for error in
            ["(\"\"text/csv\"\")", "The file is not an image", "Allowed maximum size is 10 MB."]
        {
            assert!(output.stdout.contains(error), "{}", output.transcript());
        }
        assert!(
            output.stderr.ends_with("uploaded 1, existing 0, refused 4\n"),
            "{}",
            output.transcript()
        );

        cli.run(&["media", "upload", "p/table.csv", "p/empty.png"]).exits(6);
        assert_eq!(library(&cli).len(), 1);
        for missing in ["none.png", "none/*"] {
            assert_eq!(cli.run(&["media", "upload", missing]).exit, 2);
        }
    }
}

/// The server responds before it has read a file that is over its limit.
#[test]
fn files_over_the_limit_of_the_server_are_refused() {
    let folder = tempfile::TempDir::new().unwrap();
    let server = Server::start_in(folder.path(), &["--upload-limit", "1100000"]);
    let cli = Cli::with_server(&server);
    write_image(&cli, "p/a.png", 1000);
    write_image(&cli, "p/b.png", 9_000_000);
    write_image(&cli, "p/c.png", 2000);
    let output = cli.run(&["media", "upload", "p", "--parallel", "1"]);
    output.exits(7);
    assert!(
        output.stderr.ends_with("uploaded 2, existing 0, refused 1\n"),
        "{}",
        output.transcript()
    );
}

#[test]
fn files_are_fetched_completely_or_not_at_all() {
    let server = Server::start();
    for cli in targets(&server) {
        write_image(&cli, "a.png", 3_000_000);
        let output = cli.run(&["media", "upload", "a.png", "--json"]);
        let row: Value = output.exits(0).json();
        let id = row[0]["id"].as_str().unwrap();
        let output = cli.run(&["media", "get", id, "-o", "b.png"]);
        assert_eq!((output.exit, &*output.stderr), (0, "3000000 bytes in b.png\n"));
        assert!(fs::read(cli.path("b.png")).unwrap() == fs::read(cli.path("a.png")).unwrap());
        let table = [
            (["get", "nosuch", "-o", "b.png"], 4, "error: object \"_media/nosuch\" not found\n"),
            (["get", id, "-o", "."], 1, "error: cannot write .: is a directory\n"),
            (["get", id, "-o", "none/b.png"], 1, ""),
        ];
        for (arguments, exit, message) in table {
            let output = cli.run(&[&["media"], &arguments[..]].concat());
            output.exits(exit);
            assert!(output.stderr.ends_with(message), "{}", output.transcript());
        }
        // Standard output contains the bytes only.
        let text = cli.path("note.txt");
        fs::write(&text, "\u{1b}[31mred\u{1b}[0m\r\n").unwrap();
        let row: Value = cli.run(&["media", "upload", "note.txt", "--json"]).exits(0).json();
        for dash in [&["-o", "-"][..], &[]] {
            let get = ["media", "get", row[0]["id"].as_str().unwrap()];
            let output = cli.run(&[&get, dash].concat());
            assert_eq!(output.ok(), fs::read_to_string(&text).unwrap());
        }
        let left = fs::read_dir(cli.path("")).unwrap();
        assert!(
            left.flatten().all(|entry| !entry.file_name().to_string_lossy().ends_with(".part"))
        );
    }
}

#[test]
fn check_lists_media_objects_without_a_file() {
    on_both_data_directories(|cli, data, _| {
        write_image(cli, "a.png", 300);
        write_image(cli, "b.png", 300);
        cli.run(&["media", "upload", "a.png", "b.png"]).ok();
        assert_eq!(cli.run(&["check"]).ok(), "2 stored files\nno problems found\n");
        let id = library(cli)[0]["id"].as_str().unwrap().to_owned();
        fs::remove_file(data.join("media").join(&id)).unwrap();
        for repair in [&["check"][..], &["check", "--repair"]] {
            let output = cli.run(repair);
            output.exits(6);
            assert_eq!(output.stdout, format!("1 stored file\nmissing file: {id}\n"));
        }
        cli.run(&["object", "delete", "_media", &id]).ok();
        assert_eq!(cli.run(&["check"]).ok(), "1 stored file\nno problems found\n");
    });
}

#[test]
fn damaged_files_are_reported_by_check_backup_and_export() {
    on_both_data_directories(|cli, data, server| {
        write_image(cli, "a.png", 300);
        cli.run(&["media", "upload", "a.png"]).ok();
        cli.run(&["backup", "site.tar"]).ok();
        let older = fs::read(cli.path("site.tar")).unwrap();
        let id = library(cli)[0]["id"].as_str().unwrap().to_owned();
        let path = data.join("media").join(&id);
        let uploaded = fs::read(&path).unwrap();
        let remedy = "restore the file from an earlier backup, or delete the media object and remove it \
     from the trash";
        let hint = "hint: `cms check --digests` names stored files that are damaged\n";

        fs::write(&path, &uploaded[..200]).unwrap();
        let message =
            format!("the stored file {id} has 200 bytes, 300 bytes were uploaded; {remedy}");
        for check in [&["check"][..], &["check", "--digests"], &["check", "--repair"]] {
            let output = cli.run(check);
            let stdout = format!("1 stored file\nfiles _media/{id}: {message}\n");
            assert_eq!((output.exit, &output.stdout), (6, &stdout), "{}", output.transcript());
        }
        let backup = cli.run(&["backup", "site.tar"]);
        backup.exits(1);
        assert_eq!(backup.stderr, format!("error: {message}\n{hint}"));
        for command in [&["media", "get", &id, "-o", "-"][..], &["export", "out"]] {
            let output = cli.run(command);
            assert_eq!((output.exit, output.stdout.as_str()), (1, ""), "{}", output.transcript());
        }

        fs::write(&path, [&uploaded[..299], b"!"].concat()).unwrap();
        let message = format!(
            "the content of the stored file {id} is not what was uploaded: its SHA-256 differs; \
             {remedy}"
        );
        assert_eq!(cli.run(&["check"]).ok(), "1 stored file\nno problems found\n");
        let check = cli.run(&["check", "--digests"]);
        let stdout = format!("1 stored file\nfiles _media/{id}: {message}\n");
        assert_eq!((check.exit, check.stdout), (6, stdout));
        let backup = cli.run(&["backup", "site.tar"]);
        assert!(backup.stderr.ends_with(hint), "{}", backup.transcript());
        if let Some(server) = server {
            backup.exits(9);
            let line = format!("stored file has the wrong content id={id}");
            server.wait_for_log(Duration::from_secs(10), &line);
        } else {
            assert_eq!((backup.exit, backup.stderr), (1, format!("error: {message}\n{hint}")));
        }
        assert_eq!(fs::read(cli.path("site.tar")).unwrap(), older);
        assert!(!cli.path("site.tar.part").exists());

        fs::write(&path, &uploaded).unwrap();
        assert_eq!(cli.run(&["check", "--digests"]).ok(), "1 stored file\nno problems found\n");
        cli.run(&["backup", "site.tar"]).ok();
    });
}

/// An export includes the files of objects; an import of it and a second export reproduce them.
#[test]
fn files_are_exported_and_imported_with_their_objects() {
    let server = Server::start();
    let content = fixtures().join("content");
    let content = content.to_str().unwrap();
    let project = fixtures().join("project.yaml");
    let images = |folder: &Path| -> Vec<_> {
        let mut files = tree(&folder.join("InternalContentTypeMedia"));
        files.retain(|(name, _)| name.starts_with("_media-"));
        files
    };
    for cli in targets(&server) {
        cli.run(&["ctd", "apply", project.to_str().unwrap()]).ok();
        let dry_run = cli.run(&["import", content, "--dry-run"]).ok();
        assert!(dry_run.ends_with("\nfiles: stored 10, unchanged 0, refused 0\n"), "{dry_run}");
        let imported: Value = cli.run(&["import", content, "--json"]).exits(0).json();
        let counts = serde_json::json!({
            "stored": 10, "unchanged": 0, "refused": 0, "missing": 0, "withoutObject": 0,
        });
        assert_eq!(imported["files"], counts);
        assert_eq!(cli.run(&["check"]).ok(), "10 stored files\nno problems found\n");

        let exported = cli.run(&["export", "out"]).ok();
        assert!(exported.ends_with(" objects, 10 files\n"), "{exported}");
        assert_eq!(images(Path::new(content)), images(&cli.path("out")));
        let first = tree(&cli.path("out"));
        let again = cli.run(&["import", "out", "--update-existing"]).ok();
        assert!(
            again.ends_with(", refused 0\nfiles: stored 0, unchanged 10, refused 0\n"),
            "{again}"
        );

        // Files of deleted objects are removed from an earlier export.
        write_image(&cli, "new.png", 500);
        cli.run(&["media", "upload", "new.png"]).ok();
        cli.run(&["export", "out"]).ok();
        assert_eq!(images(&cli.path("out")).len(), 11);
        let filter = r#"{"fileName":{"type":"equals","filter":"new.png"}}"#;
        let new = rows(&cli.run(&["media", "list", "--filters", filter, "-o", "ndjson"]));
        cli.run(&["object", "delete", "_media", new[0]["id"].as_str().unwrap()]).ok();
        cli.run(&["export", "out"]).ok();
        assert_eq!(first, tree(&cli.path("out")));

        // A deleted object has no file, which is not reported as missing.
        cli.run(&["export", "trash", "--trash"]).ok();
        let import = ["import", "trash", "--keep-dates", "--update-existing"];
        let imported = cli.run(&import).exits(0).transcript();
        assert!(!imported.contains("without a file"), "{imported}");
    }
}

#[test]
fn import_lists_missing_and_refused_files() {
    let server = Server::start();
    for cli in targets(&server) {
        let content = fixtures().join("content/InternalContentTypeMedia");
        let folder = cli.path("in/InternalContentTypeMedia");
        fs::create_dir_all(&folder).unwrap();
        for (name, bytes) in tree(&content) {
            fs::write(folder.join(name), bytes).unwrap();
        }
        let tags = fixtures().join("content/InternalContentTypeTag");
        fs::create_dir_all(cli.path("in/InternalContentTypeTag")).unwrap();
        for (name, bytes) in tree(&tags) {
            fs::write(cli.path("in/InternalContentTypeTag").join(name), bytes).unwrap();
        }
        let file = |id: &str| folder.join(format!("_media-{id}"));
        fs::remove_file(file("37bd5a46-505c-4867-be29-ba7de75bcddb.png")).unwrap();
        fs::write(file("f4532732-7e0f-4aaa-8f52-2af3f02ee6f5.png"), "no image").unwrap();
        fs::write(file("00000000-0000-4000-8000-000000000000.png"), "alone").unwrap();
        fs::write(folder.join(".hidden"), "not meant").unwrap();

        let command = ["import", "in", "--rejects", "rejects.ndjson"];
        let output = cli.run(&command);
        output.exits(7);
        assert!(
            output.stdout.ends_with("refused 0\nfiles: stored 8, unchanged 0, refused 1\n"),
            "{}",
            output.transcript()
        );
        for note in [
            "): type: The file is not an image\n",
            "1 media object without a file in the folder\n",
            "skipped 1 file without a media object in the folder\n",
        ] {
            output.stderr_contains(note);
        }
        let reject: Value =
            serde_json::from_str(&fs::read_to_string(cli.path("rejects.ndjson")).unwrap()).unwrap();
        assert_eq!(reject["data"]["id"], "_media-f4532732-7e0f-4aaa-8f52-2af3f02ee6f5");

        // Another file for a stored id is refused, and the stored one stays.
        let changed = "82e407ec-b957-493e-85cd-01eb1cf02aa0.jpg";
        let stored = fs::read(file(changed)).unwrap();
        fs::write(file(changed), fs::read(fixtures().join("media/still.jpg")).unwrap()).unwrap();
        let output = cli.run(&["import", "in", "--update-existing"]);
        assert!(
            output.stdout.ends_with("files: stored 0, unchanged 7, refused 2\n"),
            "{}",
            output.transcript()
        );
        assert!(
            output.stderr.contains("): id: This value is already used"),
            "{}",
            output.transcript()
        );
        assert!(fetched(&cli, "_media-82e407ec-b957-493e-85cd-01eb1cf02aa0") == stored);

        let exported = cli.run(&["export", "out"]);
        exported.exits(0);
        assert_eq!(exported.stderr, "2 media objects without a file\n");
        let check = cli.run(&["check"]);
        assert_eq!((check.exit, check.stdout.matches("missing file").count()), (6, 2));
    }
}

/// The first start imports the files of the content folder; later starts do not read them.
#[test]
fn serve_imports_files_at_the_first_start() {
    let cli = Cli::with_data();
    let (project, content) = (fixtures().join("project.yaml"), fixtures().join("content"));
    let arguments = ["--apply", project.to_str().unwrap(), "--import", content.to_str().unwrap()];
    let output =
        |server: &Server, part: &str| server.startup_log.iter().any(|line| line.contains(part));
    let server = Server::start_in(&cli.path(""), &arguments);
    assert!(
        output(&server, "files: stored 10, unchanged 0, refused 0"),
        "{:?}",
        server.startup_log
    );
    drop(server);
    assert_eq!(cli.run(&["check"]).ok(), "10 stored files\nno problems found\n");
    let id = "_media-f4532732-7e0f-4aaa-8f52-2af3f02ee6f5";
    fs::remove_file(cli.path("data/media").join(id)).unwrap();
    let deleted = "_media-a7f97e83-8d97-4c4f-85d2-9c5797e961b4";
    cli.run(&["object", "delete", "_media", deleted, "--yes"]);
    let server = Server::start_in(&cli.path(""), &arguments);
    assert!(output(&server, "files: stored 1, unchanged 9, refused 0"), "{:?}", server.startup_log);
    drop(server);
    let server = Server::start_in(&cli.path(""), &arguments);
    assert!(!output(&server, "files: "), "{:?}", server.startup_log);
}

/// After a killed upload the library is sound, and the same command completes the upload.
#[test]
fn killed_upload_leaves_no_incomplete_files() {
    let server = Server::start();
    for cli in targets(&server) {
        let count = 60;
        for number in 0..count {
            write_image(&cli, &format!("in/{number:03}.png"), 400_000);
        }
        let mut left = 0;
        for (signal, pause) in [("KILL", 40), ("INT", 80), ("KILL", 120), ("INT", 160)] {
            let mut child = cli.start(&["media", "upload", "in", "--parallel", "8"]);
            // The signal arrives in the middle of the upload.
            thread::sleep(Duration::from_millis(pause));
            let (_, output) = cli.shell(&format!("kill -{signal} {}", child.id()));
            assert_eq!(output, "");
            let exit = child.wait().unwrap().code();
            // On a busy machine the signal may arrive before the command handles it.
            assert!(signal == "KILL" || matches!(exit, None | Some(0 | 7)), "{exit:?}");
            let objects = library(&cli);
            assert!(objects.len() >= left, "an object is missing");
            left = objects.len();
            assert!(objects.iter().all(|object| object["size"] == 400_000));
            assert_eq!(cli.run(&["check"]).exit, 0);
        }
        let output = cli.run(&["media", "upload", "in"]);
        output.exits(0);
        // The server may still have processed requests of a killed command.
        assert!(library(&cli).len() >= count, "{}", output.transcript());
        let again = cli.run(&["media", "upload", "in"]);
        assert!(
            again.stderr.ends_with("uploaded 0, existing 60, refused 0\n"),
            "{}",
            again.transcript()
        );
    }
}
