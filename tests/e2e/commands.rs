//! Every command, with valid and with refused arguments, as transcripts of sessions: exit code,
//! standard output, standard error. The transcripts are in `snapshots/`, with ids, keys and times
//! masked; the files that the commands read are in `files/`.

use std::{
    fmt::Write as _,
    net::{TcpListener, TcpStream},
    process::{Command, Stdio},
};

use super::support::{Cli, NOTE_PROJECT, files};

/// Runs commands in order on a new data directory.
fn transcript(commands: &[&str]) -> String {
    let cli = Cli::with_data();
    cli.copy(&files());
    let mut transcript = String::new();
    for command in commands {
        let output = cli.run_line(command);
        writeln!(transcript, "$ cms {command}\n{}", output.transcript()).unwrap();
    }
    transcript
}

/// Types: plan, apply, list, get, export, delete.
#[test]
fn types_are_planned_applied_listed_exported_and_deleted() {
    insta::assert_snapshot!(transcript(&[
        "ctd list",
        "ctd apply shop.yaml",
        "ctd apply shop.yaml",
        "ctd plan faulty.yaml",
        "ctd plan faulty.yaml --json",
        "ctd apply nosuch.yaml",
        "ctd list",
        "ctd get product",
        "ctd get nosuch",
        "ctd export",
        "ctd export -o out.yaml",
        "ctd plan out.yaml",
        "ctd plan none.yaml --prune",
        "ctd delete product --dry-run",
        "ctd delete product",
        "ctd delete product",
        "ctd plan shop.yaml --exit-code --out plan.json",
        "ctd apply plan.json",
        "ctd apply plan.json",
    ]));
}

/// Warnings of a plan about stored values, and errors that stop an apply.
#[test]
fn values_are_lost_with_consent_only() {
    insta::assert_snapshot!(transcript(&[
        "ctd apply shop.yaml",
        "import product rows.json",
        "object create product new.json",
        "object update product n full.json",
        "ctd plan smaller.yaml",
        "ctd apply smaller.yaml",
        "ctd apply smaller.yaml --dry-run",
        "ctd plan needy.yaml",
        "ctd apply needy.yaml",
        "ctd apply smaller.yaml --allow-data-loss=product.price",
    ]));
}

/// Import of JSON lines, arrays, CSV and YAML, with refused rows.
#[test]
fn objects_are_imported_from_every_file_format() {
    insta::assert_snapshot!(transcript(&[
        "ctd apply shop.yaml",
        "import product rows.ndjson --dry-run",
        "import product rows.ndjson --rejects rejects.ndjson",
        "import product rows.json --stop-on-error",
        "import product rows.csv",
        "import product rows.yaml",
        "import product rows.yaml --update-existing",
        "import product rows.txt",
        "import nosuch rows.yaml",
        "import nowhere",
        "object list product",
        "export out",
        "export out --type nosuch",
        "import out --update-existing",
    ]));
}

/// One object: create, get, update, versions, list, delete.
#[test]
fn objects_are_created_changed_shown_and_deleted() {
    insta::assert_snapshot!(transcript(&[
        "ctd apply shop.yaml",
        "object create product new.json --dry-run",
        "object create product new.json",
        "object create product new.json",
        "object create product new.json --json",
        "object create product list.json",
        "object get product n",
        "object get product none",
        "object update product n change.yaml",
        "object update product n change.yaml --patch --dry-run",
        "object update product none change.yaml",
        "object versions product n",
        "object get product n --version 1 -o csv",
        "object list product -o csv",
        "object list product --order-by title --limit 1",
        "object list nosuch",
        "object delete product n none",
        "object delete product none",
        "object delete product none nothing",
        "object delete product none nothing --json",
        "object delete product n --dry-run",
        "object create product new.json --quiet",
        "object delete product n",
    ]));
}

/// Draft & Public: publish, unpublish, archive, with refused actions, and the public view.
#[test]
fn objects_are_published_unpublished_and_archived() {
    insta::assert_snapshot!(transcript(&[
        "ctd apply desk.yaml",
        "import article items.ndjson",
        "import memo items.ndjson",
        "object list article",
        "object list article --preview",
        "publish article a b --dry-run",
        "publish article a b A",
        "object list article",
        "publish article a none",
        "publish article a none -o json",
        "publish article none",
        "publish article none nothing",
        "publish article none nothing --json",
        "publish article a none --dry-run",
        "publish nosuch a",
        "publish memo a",
        "publish memo a --dry-run",
        "publish article",
        "publish article a --hydrate 2",
        "object update article a change.yaml --patch",
        "object list article -o csv",
        "object list article --preview --id a -o csv",
        "object update article a to-c.json --patch",
        "publish article a --hydrate 1",
        "object list article --preview",
        "unpublish article b",
        "archive article b --hydrate 0",
        "archive article a b --hydrate 1",
        "archive article b",
        "object list article --preview",
    ]));
}

/// Workflows: list, define, delete, and transitions of objects.
#[test]
fn objects_go_through_workflows() {
    insta::assert_snapshot!(transcript(&[
        "ctd apply desk.yaml",
        "import memo items.ndjson",
        "workflow list",
        "workflow define flow.json --dry-run",
        "workflow define flow.json",
        "workflow define flow.yaml",
        "workflow define faulty-flow.yaml",
        "workflow define nosuch.yaml",
        "workflow list -o ndjson",
        "workflow delete short --dry-run",
        "workflow delete short",
        "workflow delete short",
        "workflow delete editorial",
        "workflow delete generic",
        "workflow state memo a",
        "workflow state memo a -o json",
        "workflow state memo none",
        "workflow run memo a b _draft_review --dry-run",
        "workflow run memo a b _draft_review",
        "workflow run memo a _draft_review",
        "workflow run memo a c _review_public",
        "workflow run memo none _review_public -o json",
        "workflow run memo none nothing _review_public",
        "workflow run nosuch a _review_public",
        "workflow run memo a",
        "workflow state memo a",
    ]));
}

/// Workflows and Draft & Public in project files, and the effect of a change on objects.
#[test]
fn plans_list_changes_of_published_objects() {
    insta::assert_snapshot!(transcript(&[
        "ctd plan desk.yaml",
        "ctd apply desk.yaml",
        "ctd apply desk.yaml",
        "ctd export",
        "ctd export -o out.yaml",
        "ctd plan out.yaml --exit-code",
        "ctd plan faulty-desk.yaml",
        "import article items.ndjson",
        "import memo items.ndjson",
        "publish article a",
        "workflow run memo a b _draft_review",
        "ctd plan smaller-desk.yaml",
        "ctd apply smaller-desk.yaml",
        "ctd plan other-desk.yaml",
        "ctd apply other-desk.yaml",
        "object list article",
        "ctd plan desk.yaml",
    ]));
}

/// Keys: create, list, revoke, and from a project file.
#[test]
fn keys_are_created_listed_and_revoked() {
    insta::assert_snapshot!(transcript(&[
        "ctd apply shop.yaml",
        "key create ci --kind read-only",
        "key create shop --kind scoped --rule product:cr",
        "key create shop --kind scoped --rule product:x",
        "key create shop --kind scoped --rule product",
        "key list",
        "key create ci --kind read-write --dry-run",
        "ctd apply keys.yaml",
        "ctd apply keys.yaml",
        "ctd apply other-keys.yaml",
        "key revoke nosuch",
        "key revoke nosuch --dry-run",
    ]));
}

/// A command needs `--server` or `--data`, not both.
#[test]
fn command_needs_exactly_one_target() {
    let cli = Cli::empty();
    // The message of the operating system.
    let reason = TcpStream::connect("127.0.0.1:1").unwrap_err();
    let unreachable = format!(
        "error: http://127.0.0.1:1 cannot be reached: {reason}\n\
         hint: check that the server runs at this URL; it is safe to repeat the command\n"
    );
    let table = [
        (
            vec!["ctd", "list"],
            2,
            "error: neither a server nor a data directory is given\n\
             hint: use --server URL or --data DIR (or set CMS_SERVER or CMS_DATA), or `cms login URL` once\n",
        ),
        (
            vec!["ctd", "list", "--data", "d", "--server", "http://127.0.0.1:1"],
            2,
            "error: --server and --data cannot be used together\n\
             hint: use one of --server, --data and --profile: a flag overrides the variables\n",
        ),
        (
            vec!["ctd", "list", "--server", "http://127.0.0.1:1"],
            3,
            "error: Unauthorized\nhint: set CMS_KEY, or use --key-file FILE\n",
        ),
        (
            vec!["ctd", "list", "--server", "http://127.0.0.1:1", "--key-file", "key"],
            9,
            &unreachable,
        ),
        (
            vec!["ctd", "list", "--server", "localhost:8080", "--key-file", "key"],
            2,
            "error: server URL \"localhost:8080\" is not valid\n\
             hint: use for example --server http://127.0.0.1:8080\n",
        ),
        (
            vec!["ctd", "list", "--server", "http://127.0.0.1:1", "--key-file", "none"],
            2,
            "error: cannot read none: No such file or directory (os error 2)\n",
        ),
        (
            vec!["ctd", "list", "--server", "http://127.0.0.1:1", "--key-file", "empty"],
            3,
            "error: Unauthorized\nhint: the file of --key-file is empty\n",
        ),
        (
            vec!["ctd", "list", "--server", "http://127.0.0.1:1", "--key-file", "keys.env"],
            2,
            "error: the key contains spaces or other characters that a key cannot contain\n\
             hint: give the token alone, without its name\n",
        ),
    ];
    cli.write("key", "a-key\n");
    cli.write("empty", "\n");
    cli.write("keys.env", "CMS_ADMIN_KEY=a\nCMS_RO_KEY=b\n");
    for (arguments, exit, stderr) in table {
        let output = cli.run(&arguments);
        assert_eq!((output.exit, output.stderr.as_str()), (exit, stderr), "{arguments:?}");
        assert_eq!(output.stdout, "", "{arguments:?}");
    }
}

/// Variables replace flags; empty ones are ignored.
#[test]
fn variables_replace_flags() {
    let list = |variables: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cms"));
        command.args(["ctd", "list"]).env_clear().envs(variables.iter().copied());
        command.output().unwrap().status.code()
    };
    let server = ("CMS_SERVER", "http://127.0.0.1:1");
    assert_eq!(list(&[server, ("CMS_KEY", "k"), ("CMS_DATA", "")]), Some(9));
    assert_eq!(list(&[("CMS_SERVER", ""), ("CMS_DATA", "/nonexistent")]), Some(4));
    assert_eq!(list(&[server, ("CMS_DATA", "data")]), Some(2));
    assert_eq!(list(&[server, ("CMS_KEY", "")]), Some(3));
}

/// Usage errors are one JSON object, too.
#[test]
fn errors_are_json_when_the_output_is_json() {
    for flags in [&["--json"][..], &["-ojson"], &["-o", "json"], &["--output=json"]] {
        let output = Cli::empty().run(&[&["ctd", "lst"], flags].concat());
        let body: serde_json::Value = output.json();
        let found = (output.exit, &body["code"], &*output.stderr);
        assert_eq!(found, (2, &serde_json::json!(400), ""), "{}", output.transcript());
    }
}

#[cfg(unix)]
#[test]
fn argument_that_is_not_unicode_is_a_usage_error() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let argument = OsStr::from_bytes(b"\xff");
    let output =
        Command::new(env!("CARGO_BIN_EXE_cms")).args(["ctd".as_ref(), argument]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn completions_manual_and_schema_need_no_target() {
    let cli = Cli::empty();
    assert!(cli.run(&["completions", "bash"]).ok().contains("_cms()"));
    assert_eq!(cli.run(&["completions", "tcsh"]).exit, 2);
    cli.run(&["man", "pages"]).ok();
    assert!(cli.path("pages/cms-ctd-apply.1").is_file());
    cli.write("file", "");
    assert_eq!(cli.run(&["man", "file/pages"]).exit, 1);
    let schema = cli.run(&["ctd", "schema"]).ok();
    assert!(serde_json::from_str::<serde_json::Value>(&schema).is_ok());
}

/// A reader that closes the pipe causes no error message.
#[test]
fn closed_pipe_ends_without_an_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cms"))
        .args(["ctd", "schema"])
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stderr, b"");
}

/// The command does its work, and its exit code says how that ended.
#[test]
fn closed_pipe_does_not_change_the_exit_code() {
    let cli = Cli::with_data();
    cli.apply("p.yaml", NOTE_PROJECT);
    let properties: Vec<String> = (0..200).map(|n| format!("p{n}: {{type: text}}")).collect();
    let properties = properties.join(", ");
    let project =
        format!("{{version: 1, contentTypes: [{{name: big, properties: {{{properties}}}}}]}}");
    cli.write("big.yaml", &project);
    for (command, exit) in [
        ("object get note nope", "4"),
        ("ctd plan big.yaml --exit-code", "10"),
        ("ctd apply big.yaml", "0"),
        ("object list big", "0"),
    ] {
        let line = format!("(sleep 0.2; cms --data data {command} -q 2> log; echo $? >&2) | true");
        let (_, printed) = cli.shell(&line);
        assert_eq!(printed.trim(), exit, "{command}");
    }
}

#[test]
fn serve_refuses_invalid_arguments() {
    let cli = Cli::with_data();
    for (arguments, exit) in [
        (["serve", "--listen", "nowhere"], 2),
        (["serve", "--log", "cms=loud"], 2),
        (["serve", "--apply", "nosuch.yaml"], 2),
        (["serve", "--import", "nosuch"], 2),
    ] {
        let output = cli.run(&arguments);
        assert_eq!(output.exit, exit, "{arguments:?}: {}", output.transcript());
    }
}

/// A port in use is reported before the data directory is created.
#[test]
fn port_in_use_ends_serve_before_any_change() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let cli = Cli::with_data();
    let output = cli.run(&["serve", "--listen", &address]);
    assert_eq!((output.exit, output.stdout.as_str()), (9, ""), "{}", output.transcript());
    output.stderr_contains(&format!("error: cannot listen on {address}: "));
    output.stderr_contains("\nhint: another program uses the address");
    assert!(!cli.path("data").exists());
}

/// A path that cannot be a data directory is an error of the user.
#[test]
fn unusable_data_directory_is_reported() {
    let cli = Cli::with_data();
    cli.write("data", "a file");
    for command in ["serve --listen 127.0.0.1:0", "object delete note a", "import note -"] {
        let output = cli.run_line(command);
        assert_eq!(output.exit, 2, "{command}: {}", output.transcript());
        output.stderr_contains("error: cannot open data directory data: ");
        output.stderr_contains("\nhint: check that it is writable");
    }
}

/// `-` is standard input: project files, objects, one object, ids.
#[test]
fn standard_input_replaces_a_file_named_dash() {
    let cli = Cli::with_data();
    assert_eq!(cli.run_with(&["ctd", "apply", "-"], NOTE_PROJECT).exit, 0);
    let error = cli.run_with(&["ctd", "plan", "-"], "version: 1\ntypes: []\n");
    error.stderr_contains("  <stdin>:2:1: unknown key \"types\"");
    let rows = "{\"id\":\"a\",\"text\":\"A\"}\n{\"id\":\"b\"}\n";
    let created = cli.run_with(&["import", "note", "-"], rows).ok();
    assert_eq!(created, "created 2, updated 0, unchanged 0, refused 0\n");
    assert_eq!(cli.run_with(&["object", "create", "note", "-"], "id: c").exit, 0);
    // As `json.dumps` of Python writes it.
    let emoji = r#"{"id": "e", "text": "\ud83d\ude00"}"#;
    assert_eq!(cli.run_with(&["object", "create", "note", "-"], emoji).exit, 0);
    let deleted = cli.run_with(&["object", "delete", "note", "-"], "a\n\nb\nc\nA\ne\n").ok();
    assert_eq!(deleted, "deleted 4, refused 0\n");

    // Publishing and workflow commands read ids from standard input too.
    cli.copy(&files());
    cli.run(&["ctd", "apply", "desk.yaml"]).ok();
    for name in ["article", "memo"] {
        cli.run(&["import", name, "items.ndjson"]).ok();
    }
    let published = cli.run_with(&["publish", "article", "-"], "a\nb\n").ok();
    assert_eq!(published, "published 2, refused 0\n");
    let moved = cli.run_with(&["workflow", "run", "memo", "-", "_draft_review"], "a\nb\n").ok();
    assert_eq!(moved, "moved 2, refused 0\n");
    let flow = "{id: short, states: [open]}";
    let defined = cli.run_with(&["workflow", "define", "-"], flow).ok();
    assert_eq!(defined, "created the workflow \"short\"\n");

    // More objects than one batch may contain.
    let lines = |form: fn(u32) -> String| (0..1100).map(form).collect::<String>();
    cli.run_with(&["import", "note", "-"], &lines(|n| format!("{{\"id\":\"n{n}\"}}\n"))).ok();
    let ids = lines(|n| if n % 500 == 7 { format!("bad{n}\n") } else { format!("n{n}\n") });
    let deleted = cli.run_with(&["object", "delete", "note", "-"], &ids);
    assert_eq!((deleted.exit, deleted.stdout.as_str()), (7, "deleted 1097, refused 3\n"));
    cli.run_with(&["import", "article", "-"], &lines(|n| format!("{{\"id\":\"n{n}\"}}\n"))).ok();
    let archived = cli.run_with(&["archive", "article", "-", "--json"], &ids);
    archived.exits(7);
    let response: serde_json::Value = archived.json();
    let bad =
        [7, 507, 1007].map(|n| serde_json::json!({"id": format!("bad{n}"), "reason": "not found"}));
    assert_eq!(response, serde_json::json!({"done": 1097, "refused": bad}));
}
