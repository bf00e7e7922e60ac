//! Export and import with `--keep-dates` keep the dates of objects, deleted ones included.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    cli_guide::blocks,
    export_import::tree,
    support::{Cli, Server, both_targets},
};

const PROJECT: &str = "version: 1
contentTypes:
  - name: article
    draftPublic: true
    properties: {title: {type: text}, next: {type: datasource, to: article}}
  - name: page
    properties:
      title: {type: text, unique: true}
      next: {type: datasource, to: page}
";

fn rows(rows: &[Value]) -> String {
    let lines: Vec<String> = rows.iter().map(|row| format!("{row}\n")).collect();
    lines.concat()
}

/// Pages and articles whose dates differ from the order of the file, and pages in the trash.
fn site() -> Cli {
    let cli = Cli::with_data();
    cli.write("project.yaml", PROJECT);
    let object = |id: &str, day: &str, next: &str| {
        let dates = json!({ "createdAt": format!("{day}T08:00:00+00:00"),
            "updatedAt": format!("{day}T09:30:00+00:00") });
        let to = format!("/api/v1/content/page/{next}");
        let next = json!([{ "type": "internal", "dataUrl": to }]);
        json!({ "id": id, "title": id, "next": next, "internal": dates })
    };
    let mut pages = [
        object("third", "2021-03-03", "first"),
        object("first", "2021-01-01", "second"),
        object("second", "2021-02-02", "third"),
        object("gone", "2021-02-03", "nosuch"),
        object("again", "2021-02-04", "nosuch"),
    ];
    for gone in &mut pages[3..] {
        gone["internal"]["deletedAt"] = json!("@1640995200");
        // A live object gets the same value later.
        gone["title"] = json!("first");
    }
    pages[3]["internal"]["deletedAt"] = json!("2022-05-06T07:08:09+00:00");
    let mut articles =
        ["b-public", "a-draft", "c-modified"].map(|id| json!({ "id": id, "title": id }));
    for (article, day) in articles.iter_mut().zip(["02", "01", "03"]) {
        article["internal"] = object("", &format!("2020-12-{day}"), "")["internal"].take();
    }
    cli.write("pages.ndjson", &rows(&pages));
    cli.write("articles.ndjson", &rows(&articles));
    cli.write("again.ndjson", &rows(&[object("again", "2023-01-01", "first")]));
    let mut edited = articles[2].clone();
    edited["title"] = json!("edited");
    edited["internal"]["updatedAt"] = json!("2022-01-01T00:00:00+00:00");
    cli.write("edited.ndjson", &rows(&[edited]));
    for command in [
        "ctd apply project.yaml",
        "import page pages.ndjson --keep-dates",
        "import page again.ndjson --keep-dates",
        "import article articles.ndjson --keep-dates",
        "publish article b-public c-modified",
        "import article edited.ndjson --update-existing --keep-dates",
    ] {
        cli.run_line(command).ok();
    }
    cli
}

fn list(cli: &Cli, command: &str) -> Vec<Value> {
    cli.run_line(command).exits(0).json()
}

fn dates(objects: &[Value], names: &[&str]) -> Vec<String> {
    let date = |object: &Value, name: &str| object["internal"][name].as_str().unwrap().to_owned();
    let line = |object: &Value| {
        let dates: Vec<String> = names.iter().map(|name| date(object, name)).collect();
        format!("{} {}", object["id"].as_str().unwrap(), dates.join(" "))
    };
    objects.iter().map(line).collect()
}

/// Objects keep their dates, and their order by date of creation, after a move to another site.
#[test]
fn import_keeps_dates_of_an_export() {
    let origin = site();
    let both = ["createdAt", "updatedAt"];
    let pages = dates(&list(&origin, "object list page --json"), &both);
    assert_eq!(
        pages[..3],
        [
            "first 2021-01-01T08:00:00+00:00 2021-01-01T09:30:00+00:00",
            "second 2021-02-02T08:00:00+00:00 2021-02-02T09:30:00+00:00",
            "third 2021-03-03T08:00:00+00:00 2021-03-03T09:30:00+00:00",
        ]
    );
    origin.run(&["export", "out"]).ok();
    let exported = origin.path("out");
    let exported = exported.to_str().unwrap();

    let server = Server::start();
    for copy in both_targets(&server) {
        copy.run(&["import", exported, "--keep-dates"]).ok();
        assert_eq!(dates(&list(&copy, "object list page --json"), &both), pages);
        let before = r#"{"internal.createdAt":{"type":"lessThan","filter":"2021-02-02"}}"#;
        let previous = format!("object list page --desc --limit 1 --json --filters {before}");
        assert_eq!(list(&copy, &previous)[0]["id"], "first");

        // Publishing changes `updatedAt` only, in both views.
        let articles = dates(&list(&copy, "object list article --preview --json"), &["createdAt"]);
        assert_eq!(
            articles,
            [
                "a-draft 2020-12-01T08:00:00+00:00",
                "b-public 2020-12-02T08:00:00+00:00",
                "c-modified 2020-12-03T08:00:00+00:00",
            ]
        );
        let public = dates(&list(&copy, "object list article --json"), &["createdAt"]);
        assert_eq!(public, articles[1..]);
        let changed = dates(&list(&copy, "object list article --preview --json"), &["updatedAt"]);
        assert_eq!(changed[0], "a-draft 2020-12-01T09:30:00+00:00");
        assert_eq!(changed[2], "c-modified 2022-01-01T00:00:00+00:00");

        // Equal objects do not change.
        let again = copy.run(&["import", exported, "--update-existing", "--keep-dates"]).ok();
        assert_eq!(again, "created 0, updated 0, unchanged 7, refused 0\n");
    }

    // Objects that were imported without dates get the dates.
    let copy = Cli::with_data();
    copy.run(&["import", exported]).ok();
    let now = dates(&list(&copy, "object list page --json"), &both);
    assert!(now.iter().all(|line| !line.contains("2021-")), "{now:?}");
    let output = copy.run(&["import", exported, "--update-existing", "--keep-dates"]);
    assert_eq!(output.stdout, "created 0, updated 7, unchanged 0, refused 0, statuses set 1\n");
    assert_eq!(dates(&list(&copy, "object list page --json"), &both), pages);
}

/// Deleted objects are exported on request, into files that a plain import ignores.
#[test]
fn export_and_import_move_the_trash() {
    let origin = site();
    origin.run(&["export", "plain"]).ok();
    let note = "2 deleted objects for `cms import --keep-dates`\n";
    let planned = origin.run(&["export", "out", "--trash", "--dry-run"]);
    let output = origin.run(&["export", "out", "--trash"]);
    assert_eq!((&*output.stderr, &output.stdout), (note, &planned.stdout));
    planned.stderr_contains(note);
    let trash = "ContentTypePage/deletedObjectPage.json";
    let mut files = tree(&origin.path("out"));
    let index = files.iter().position(|(name, _)| name == trash).unwrap();
    let deleted = String::from_utf8(files.remove(index).1).unwrap();
    let deleted: Vec<Value> =
        deleted.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        dates(&deleted, &["createdAt", "updatedAt", "deletedAt"]),
        [
            "again 2021-02-04T08:00:00+00:00 2021-02-04T09:30:00+00:00 2022-01-01T00:00:00+00:00",
            "gone 2021-02-03T08:00:00+00:00 2021-02-03T09:30:00+00:00 2022-05-06T07:08:09+00:00",
        ]
    );
    assert_eq!(files, tree(&origin.path("plain")));

    let exported = origin.path("out");
    let exported = exported.to_str().unwrap();
    let site = TempDir::new().unwrap();
    let server = Server::start_in(site.path(), &[]);
    let [folder, remote] = both_targets(&server);
    let data = site.path().join("data");
    for (copy, data) in [(&folder, folder.path("data")), (&remote, data)] {
        let data = data.to_str().unwrap();
        for flags in [&[][..], &["--update-existing"], &["--update-existing"]] {
            copy.run(&[&["import", exported, "--keep-dates"], flags].concat()).exits(0);
            let read = Cli::empty();
            read.run(&["export", "again", "--trash", "--data", data]).ok();
            let again = tree(&read.path("again"));
            let file = |files: &[(String, Vec<u8>)], name: &str| {
                let found = files.iter().find(|(found, _)| found == name);
                String::from_utf8(found.unwrap().1.clone()).unwrap()
            };
            assert_eq!(file(&again, trash), file(&tree(&origin.path("out")), trash));
            let pages = "ContentTypePage/contentObjectPage.json";
            assert_eq!(file(&again, pages), file(&tree(&origin.path("out")), pages));
        }
    }
    remote.run(&["export", "remote", "--trash"]).ok();
    let read = |folder: &Cli, name: &str| std::fs::read(folder.path(name).join(trash)).unwrap();
    assert_eq!(read(&remote, "remote"), read(&origin, "out"), "from a server");
    // A plain import ignores deleted objects.
    let copy = Cli::with_data();
    let output = copy.run(&["import", exported]);
    assert_eq!(output.stdout, "created 7, updated 0, unchanged 0, refused 0, statuses set 2\n");
    // The next export without deleted objects into the same folder removes their file.
    origin.run(&["export", "out"]).ok();
    assert_eq!(tree(&origin.path("out")), tree(&origin.path("plain")));
}

#[test]
fn repeated_import_of_files_adds_deleted_objects_once() {
    let cli = site();
    let trash = || list(&cli, "trash list --json");
    let before = trash();
    assert_eq!(before.len(), 2);
    let output = cli.run_line("import page pages.ndjson --update-existing --keep-dates");
    assert_eq!(output.ok(), "created 0, updated 0, unchanged 5, refused 0\n");
    assert_eq!(trash(), before);
}

/// Only admin keys may set dates.
#[test]
fn import_keeps_dates_with_an_admin_key_only() {
    let origin = site();
    origin.run(&["export", "out"]).ok();
    let exported = origin.path("out");
    let server = Server::start();
    let admin = Cli::with_server(&server);
    admin.apply("project.yaml", PROJECT);
    let key: Value =
        admin.run(&["key", "create", "writer", "--kind", "read-write", "--json"]).exits(0).json();
    let writer = Cli::with_key(&server, key["key"].as_str().unwrap());
    let output = writer.run(&["import", exported.to_str().unwrap(), "--keep-dates"]);
    output.exits(3).stderr_contains("--keep-dates");
}

/// The commands of the guide, with the address of a test server.
#[test]
fn guide_commands_for_a_move_keep_dates_and_trash() {
    let origin = site();
    let server = Server::start();
    let block = blocks("sh").into_iter().find(|block| block.contains("--keep-dates")).unwrap();
    let script =
        block.replace("./cms-data", "data").replace("https://new.example.com", &server.url);
    assert_ne!(script, block);
    let cli = Cli::with_variables(vec![("CMS_KEY", server.key.clone())]);
    let (exit, printed) = cli.shell(
        &script.replace("--data data", &format!("--data {}", origin.path("data").display())),
    );
    assert_eq!(exit, 0, "{printed}");
    let copy = Cli::with_server(&server);
    let pages = |cli: &Cli| dates(&list(cli, "object list page --json"), &["createdAt"]);
    assert_eq!(pages(&copy), pages(&origin));
}
