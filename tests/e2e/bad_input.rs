//! Every command with a wrong key, without a server, with a response of another program, and with
//! errors in files: one error, its location, a hint, and the exit code.

use serde_json::{Value, json};

use super::{
    cluster::free_address,
    support::{Cli, CommandOutput, NOTE_PROJECT, Server, both_targets, files, on_both_targets},
    wait::stub,
};

/// Commands of a server. `URL` is its address.
const COMMANDS: [&str; 36] = [
    "wait --timeout 0s",
    "open",
    "open api",
    "login URL",
    "whoami",
    "status",
    "ctd list",
    "ctd get post",
    "ctd plan shop.yaml",
    "ctd apply shop.yaml",
    "object list post",
    "object get post a",
    "object create post new.json",
    "import product rows.ndjson",
    "export out",
    "publish post a",
    "unpublish post a",
    "archive post a",
    "schedule list",
    "workflow list",
    "media upload rows.json",
    "media get _media-22cc5c6b-553d-4af8-8274-b555f6a2fa3c",
    "trash list",
    "search a",
    "reindex",
    "graphql schema",
    "openapi",
    "types typescript",
    "preview post a",
    "key list",
    "job list",
    "activity",
    "user list",
    "webhook list",
    "backup backup.tar",
    "check",
];

/// The commands that send no key.
const WITHOUT_KEY: [&str; 3] = ["wait --timeout 0s", "open", "open api"];

/// Runs a command with the files that it needs.
fn run(url: &str, key: &str, command: &str) -> CommandOutput {
    let home = std::env::temp_dir().join("cms-no-such-folder").display().to_string();
    let variables = [("CMS_SERVER", url), ("CMS_KEY", key), ("XDG_CONFIG_HOME", &home)];
    let cli = Cli::with_variables(variables.map(|(name, value)| (name, value.to_owned())).into());
    cli.copy(&files());
    let arguments: Vec<_> = command.split(' ').map(|word| word.replace("URL", url)).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    cli.run_with(&arguments, key)
}

/// Asserts one error that contains `parts`, a hint, and the exit code.
#[track_caller]
fn assert_error(command: &str, output: &CommandOutput, exit: i32, parts: &[&str]) {
    let shown = format!("{command}\n{}", output.transcript());
    assert_eq!((output.exit, output.stdout.as_str()), (exit, ""), "{shown}");
    let lines: Vec<_> = output.stderr.lines().collect();
    let count = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count();
    assert_eq!(count("error: "), 1, "{shown}");
    assert!(count("hint: ") > 0, "{shown}");
    for part in parts {
        assert!(output.stderr.contains(part), "{part}: {shown}");
    }
}

#[test]
fn responses_of_other_programs_are_recognised_by_every_command() {
    let down = format!("http://{}", free_address());
    let page = stub(200, "<!doctype html>\n<title>Sign in to the network</title>");
    let gateway = stub(502, "<html><h1>502 Bad Gateway</h1></html>");
    let api = stub(404, r#"{"detail":"Not Found"}"#);
    for command in COMMANDS {
        let reason = if WITHOUT_KEY.contains(&command) { "efused" } else { "cannot be reached" };
        assert_error(command, &run(&down, "key", command), 9, &[&down, reason]);
        for (url, response) in [
            (&page, "(status 200, HTML)"),
            (&gateway, "(status 502, HTML)"),
            (&api, "(status 404)"),
        ] {
            let expected = format!("the response {response} is not from cms, but from a proxy");
            assert_error(command, &run(url, "key", command), 9, &[url, &expected]);
        }
    }
}

#[test]
fn wrong_key_is_reported_by_every_command() {
    let server = Server::start();
    for command in COMMANDS {
        if !WITHOUT_KEY.contains(&command) {
            assert_error(command, &run(&server.url, "wrong", command), 3, &["Unauthorized", "key"]);
        }
    }
}

#[test]
fn errors_in_project_files_have_a_location() {
    let cli = Cli::with_data();
    cli.copy(&files());
    for command in [
        "validate faulty.yaml",
        "ctd plan faulty.yaml",
        "ctd apply faulty.yaml",
        "serve --apply faulty.yaml --listen 127.0.0.1:0",
    ] {
        let output = cli.run_line(command);
        output.exits(6).stderr_contains("faulty.yaml:").stderr_contains("error: the input has ");
    }
    for command in ["validate nosuch.yaml", "ctd plan nosuch.yaml", "ctd apply nosuch.yaml"] {
        let output = cli.run_line(command);
        output.exits(2).stderr_contains("nosuch.yaml");
    }
    // A file of objects is no project file.
    cli.write("content.json", "[1, 2]");
    cli.run(&["ctd", "plan", "content.json"]).exits(6).stderr_contains("content.json:1:");
}

#[test]
fn empty_files_are_named() {
    let server = Server::start();
    for cli in both_targets(&server) {
        cli.copy(&files());
        cli.run(&["ctd", "apply", "shop.yaml"]).ok();
        // A file without objects is no error.
        for (name, text) in [
            ("empty.json", ""),
            ("empty.yaml", ""),
            ("a.ndjson", " \n"),
            ("a.csv", ""),
            ("b.json", "[]"),
        ] {
            cli.write(name, text);
            let output = cli.run(&["import", "product", name]);
            output.exits(0).stderr_contains(&format!("{name} has no objects\n"));
        }
        cli.run(&["import", "product", "-"]).exits(0).stderr_contains("<stdin> has no objects\n");
        for name in ["empty.json", "empty.yaml", "-"] {
            for command in [&["object", "create", "product", name][..], &["ctd", "plan", name]] {
                let output = cli.run(command);
                output.exits(6).prints("").stderr_contains("the file is empty");
            }
        }
    }
}

/// The file would be emptied before it is read.
#[test]
fn rejects_never_replace_an_imported_file() {
    let cli = Cli::with_data();
    cli.copy(&files());
    let rows = std::fs::read(cli.path("rows.ndjson")).unwrap();
    cli.run(&["ctd", "apply", "shop.yaml"]).exits(0);
    for more in [&[][..], &["--dry-run"]] {
        let import = ["import", "product", "rows.ndjson", "--rejects", "./rows.ndjson"];
        let output = cli.run(&[&import, more].concat());
        output.exits(2);
        assert!(output.stderr.contains("would overwrite"), "{}", output.transcript());
        assert_eq!(std::fs::read(cli.path("rows.ndjson")).unwrap(), rows);
    }
}

/// The import would read the file, or overwrite one that it reads.
#[test]
fn rejects_are_never_in_the_imported_folder() {
    let cli = Cli::with_data();
    cli.copy(&files());
    cli.run(&["ctd", "apply", "shop.yaml"]).exits(0);
    cli.run(&["export", "out"]).exits(0);
    let objects = "out/ContentTypeProduct/contentObjectProduct.json";
    cli.write(objects, "{}\n");
    for rejects in [objects, "./out/ContentTypeProduct/contentObjectNew.json", "out/rejects.json"] {
        let output = cli.run(&["import", "out", "--rejects", rejects]);
        output.exits(2).stderr_contains("is in the imported folder");
        assert_eq!(std::fs::read_to_string(cli.path(objects)).unwrap(), "{}\n");
        assert!(rejects == objects || !cli.path(rejects).exists());
    }
    cli.run(&["import", "out", "--rejects", "rejects.json"]).exits(7);
}

#[test]
fn elements_that_are_no_objects_are_refused_alone() {
    let cli = Cli::with_data();
    cli.copy(&files());
    cli.run(&["ctd", "apply", "shop.yaml"]).exits(0);
    let rows = r#"[{"id":"a","title":"A"},7,{"id":"b","price":1e999},{"id":"c","title":"C"}]"#;
    cli.write("rows.json", rows);
    let output = cli.run(&["import", "product", "rows.json"]);
    output.exits(7).stderr_contains("(rows.json[2])").stderr_contains("(rows.json[3])");
    output.prints("created 2, updated 0, unchanged 0, refused 2\n");
}

#[test]
fn import_skips_a_byte_order_mark() {
    let cli = Cli::with_data();
    cli.copy(&files());
    cli.run(&["ctd", "apply", "shop.yaml"]).exits(0);
    for (name, text) in
        [("a.json", r#"[{"id":"a","title":"A"}]"#), ("b.ndjson", r#"{"id":"b","title":"B"}"#)]
    {
        cli.write(name, &format!("\u{feff}{text}"));
        let output = cli.run(&["import", "product", name, "--dry-run"]);
        output.exits(0);
        assert!(output.transcript().contains("created 1"), "{}", output.transcript());
    }
}

#[test]
fn every_input_file_may_have_a_byte_order_mark() {
    let server = Server::start();
    let cli = Cli::with_data();
    cli.write("p.yaml", &format!("\u{feff}{NOTE_PROJECT}"));
    cli.run(&["ctd", "apply", "p.yaml"]).exits(0);
    cli.write("o.json", "\u{feff}{\"id\": \"a\", \"text\": \"A\"}");
    cli.run(&["object", "create", "note", "o.json"]).exits(0);
    cli.run(&["export", "out"]).exits(0);
    let definition = "out/ContentTypeNote/ContentTypeDefinition.json";
    let text = std::fs::read_to_string(cli.path(definition)).unwrap();
    cli.write(definition, &format!("\u{feff}{text}"));
    cli.run(&["import", "out", "--data", "other"]).exits(0);
    let cli = Cli::empty();
    cli.write("key", &format!("\u{feff}{}\n", server.key));
    cli.run(&["ctd", "list", "--server", &server.url, "--key-file", "key"]).exits(0);
}

/// An import must not skip objects that it cannot read.
#[test]
fn object_files_that_are_no_files_are_reported() {
    let cli = Cli::with_data();
    cli.copy(&files());
    cli.run(&["ctd", "apply", "shop.yaml"]).exits(0);
    cli.run(&["export", "out"]).exits(0);
    let file = cli.path("out/ContentTypeProduct/contentObjectProduct.json");
    std::fs::remove_file(&file).ok();
    std::os::unix::fs::symlink("/missing", &file).unwrap();
    cli.run(&["import", "out"]).exits(2).stderr_contains("it is not a file");
    cli.run(&["validate", "out"]).exits(2);
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    cli.run(&["import", "out"]).exits(2).stderr_contains("it is not a file");
}

/// The file of rejects is created before anything is changed.
#[test]
fn unwritable_rejects_end_an_import_before_any_change() {
    let cli = Cli::with_data();
    cli.copy(&files());
    cli.run(&["ctd", "apply", "shop.yaml"]).exits(0);
    cli.run(&["export", "out"]).exits(0);
    cli.run(&["import", "out", "--data", "new", "--rejects", "none/r"]).exits(1);
    assert_eq!(
        cli.run(&["ctd", "list", "--data", "new", "-o", "ndjson"])
            .stdout
            .matches("product")
            .count(),
        0
    );
}

/// As in one batch, the last of several objects with one id counts, however far they are apart.
#[test]
fn repeated_ids_keep_the_last_object() {
    on_both_targets(|cli| {
        cli.apply("p.yaml", NOTE_PROJECT);
        let mut rows = vec![json!({ "id": "A", "text": "first" })];
        rows.extend((0..1100).map(|n| json!({ "id": format!("n{n}"), "text": "x" })));
        rows.push(json!({ "id": "a", "text": "last" }));
        cli.write("rows.json", &json!(rows).to_string());
        for flags in [&[][..], &["--update-existing"]] {
            let output = cli.run(&[&["import", "note", "rows.json"], flags].concat());
            output.exits(7).stderr_contains("There are duplications in object data, key: id");
            let stored: Value = cli.run(&["object", "get", "note", "a", "-o", "json"]).json();
            assert_eq!(stored["text"], "last");
        }
    });
}
