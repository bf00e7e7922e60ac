//! Export and import of a site reproduce it, and a second start changes nothing.

use std::{fs, path::Path};

use super::{
    statuses::published_space,
    support::{Cli, Server, client, files, fixtures, on_both_targets},
};

/// All files below a folder with their bytes.
pub(crate) fn tree(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                files.push((name, fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

/// The same files without the dates of objects, which an import keeps with `--keep-dates` only.
pub(crate) fn undated(mut files: Vec<(String, Vec<u8>)>) -> Vec<(String, Vec<u8>)> {
    for (name, bytes) in &mut files {
        if !name.contains("/contentObject") {
            continue;
        }
        let mut lines = Vec::new();
        for line in str::from_utf8(bytes).unwrap().lines() {
            let mut object: serde_json::Value = serde_json::from_str(line).unwrap();
            let internal = object["internal"].as_object_mut().unwrap();
            for date in ["createdAt", "updatedAt"] {
                assert!(internal.shift_remove(date).is_some_and(|at| at.is_string()), "{line}");
            }
            lines.push(format!("{object}\n"));
        }
        *bytes = lines.concat().into_bytes();
    }
    files
}

/// A second export and the export of a copy equal the first one, with changed and deleted built-in
/// types, forward links, self links and circular links.
#[test]
fn export_and_import_reproduce_a_site() {
    let cli = Cli::with_data();
    cli.write(
        "more.yaml",
        "version: 1
contentTypes:
  - name: contact_form
    properties: {name: {type: text}}
  - name: egg
    properties:
      laid_by: {type: datasource, to: hen, required: true}
      next: {type: datasource, to: egg}
  - name: hen
    properties:
      out_of: {type: datasource, to: egg}
      list: {type: object, items: {friend: {type: datasource, to: hen}}}
",
    );
    let link = |to: &str| format!(r#"[{{"type":"internal","dataUrl":"/api/v1/content/{to}"}}]"#);
    cli.write("hens.ndjson", &format!(
        "{{\"id\":\"h1\",\"list\":[{{\"friend\":{}}}]}}\n{{\"id\":\"h2\",\"list\":[{{\"friend\":{}}}]}}\n",
        link("hen/h2"),
        link("hen/h2"),
    ));
    cli.write(
        "eggs.ndjson",
        &format!(
            "{{\"id\":\"e1\",\"laid_by\":{},\"next\":{}}}\n{{\"id\":\"e2\",\"laid_by\":{}}}\n",
            link("hen/h1"),
            link("egg/e2"),
            link("hen/h2"),
        ),
    );
    cli.write("out-of.json", &format!("{{\"out_of\":{}}}", link("egg/e2")));
    let project = fixtures().join("project.yaml");
    let content = fixtures().join("content");
    cli.run(&["ctd", "apply", project.to_str().unwrap(), "more.yaml"]).ok();
    cli.run(&["ctd", "delete", "project"]).ok();
    cli.run(&["import", content.to_str().unwrap()]).ok();
    cli.run(&["import", "hen", "hens.ndjson"]).ok();
    cli.run(&["import", "egg", "eggs.ndjson"]).ok();
    cli.run(&["object", "update", "hen", "h1", "out-of.json", "--patch"]).ok();

    cli.run(&["export", "first"]).ok();
    cli.run(&["export", "second"]).ok();
    let first = tree(&cli.path("first"));
    assert!(
        first.iter().any(|(name, _)| name == "ContentTypeContactForm/ContentTypeDefinition.json")
    );
    assert!(!first.iter().any(|(name, _)| name.starts_with("ContentTypeProject")));
    assert_eq!(first, tree(&cli.path("second")));
    let first = undated(first);

    let copy = Cli::with_data();
    let exported = cli.path("first");
    let exported = exported.to_str().unwrap();
    copy.run(&["import", exported]).ok();
    copy.run(&["export", "third"]).ok();
    assert_eq!(first, undated(tree(&copy.path("third"))));

    let again = copy.run(&["import", exported, "--update-existing"]).ok();
    assert!(again.starts_with("created 0, updated 0, unchanged "), "{again}");
    // Deleted objects are removed from an older export in the same folder.
    copy.run(&["object", "delete", "_tag", "nosuch"]);
    copy.run(&["export", "third"]).ok();
    assert_eq!(first, undated(tree(&copy.path("third"))));
}

/// Scheduled publications are not exported; a warning reports their number.
#[test]
fn export_warns_of_scheduled_publications() {
    let server = Server::start();
    let cli = Cli::with_server(&server);
    published_space(&cli);
    assert_eq!(cli.run(&["export", "out", "--quiet"]).stderr, "");
    let response = client()
        .build()
        .unwrap()
        .put(format!("{}/api/v1/content/post/draft/schedule", server.url))
        .header("x-auth-token", &server.key)
        .header("content-type", "application/json")
        .body(r#"{"scheduledAt":"2099-01-01T00:00","timeZone":"Europe/Warsaw"}"#)
        .send()
        .unwrap();
    assert_eq!(response.status(), 200);
    let before = tree(&cli.path("out"));
    let output = cli.run(&["export", "out"]);
    let note = "1 scheduled publication not exported: exports do not contain schedules\n";
    assert_eq!((output.exit, output.stderr.as_str()), (0, note));
    assert_eq!(tree(&cli.path("out")), before);
}

/// The first start creates and prints keys; the second one changes no content.
#[test]
fn second_start_changes_nothing() {
    let cli = Cli::with_data();
    let folder = cli.path("");
    let (project, content) = (fixtures().join("project.yaml"), fixtures().join("content"));
    let arguments = ["--apply", project.to_str().unwrap(), "--import", content.to_str().unwrap()];
    let printed = Server::start_in(&folder, &arguments).stop();
    let names: Vec<&str> = printed.lines().map(|line| line.split('=').next().unwrap()).collect();
    assert_eq!(names, ["CMS_RW_KEY", "CMS_RO_KEY", "CMS_SETUP_URL"]);

    let versions = || {
        let lists = ["author", "event"]
            .map(|name| cli.run(&["object", "list", name, "--all", "--json"]).ok());
        let types = cli.run(&["ctd", "list", "--json"]).ok();
        (lists, types)
    };
    // An object that an editor deleted is not imported again.
    cli.run(&["object", "delete", "event", "carry-day"]).ok();
    let before = versions();
    let server = Server::start_in(&folder, &arguments);
    assert!(
        !server.startup_log.iter().any(|line| line.contains("created")),
        "{:?}",
        server.startup_log
    );
    // There is no user yet, so each start prints a new link, and nothing else.
    let printed = server.stop();
    assert!(printed.starts_with("CMS_SETUP_URL=") && printed.lines().count() == 1, "{printed}");
    assert_eq!(before, versions());
}

/// Objects with a required link are created after its target; those that require each other are
/// refused.
#[test]
fn objects_are_imported_after_their_required_links() {
    let cli = Cli::with_data();
    cli.write(
        "links.yaml",
        "version: 1
contentTypes:
  - name: link
    properties:
      next: {type: datasource, to: link, required: true, minItems: 0}
      also: {type: datasource, to: link, many: true}
",
    );
    let to = |ids: &[&str]| {
        let path = |id: &&str| format!("/api/v1/content/link/{id}");
        let link = |id| serde_json::json!({"type": "internal", "dataUrl": path(id)});
        ids.iter().map(link).collect::<Vec<_>>()
    };
    let row = |id: &str, next: &[&str], also: &[&str]| {
        serde_json::json!({"id": id, "next": to(next), "also": to(also)}).to_string() + "\n"
    };
    let rows = [
        row("a", &["b"], &[]),
        row("b", &["c"], &["a", "b", "c"]),
        row("c", &[], &["a"]),
        row("x", &["y"], &[]),
        row("y", &["x"], &[]),
    ];
    cli.write("rows.ndjson", &rows.concat());
    cli.run(&["ctd", "apply", "links.yaml"]).ok();
    let output = cli.run(&["import", "link", "rows.ndjson", "--rejects", "rejects.ndjson"]);
    output.prints("created 3, updated 0, unchanged 0, refused 2\n");
    let again = cli.run(&["import", "link", "rows.ndjson", "--update-existing"]);
    again.prints("created 0, updated 0, unchanged 3, refused 2\n");

    let rejects = fs::read_to_string(cli.path("rejects.ndjson")).unwrap();
    let rejects: Vec<serde_json::Value> =
        rejects.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rejects[0]["data"], serde_json::from_str::<serde_json::Value>(&rows[3]).unwrap());
    assert_eq!(rejects[1]["place"], "rows.ndjson:5");
    assert_eq!(
        rejects[0]["errors"],
        serde_json::json!({"next": ["This value does not exist in database"]})
    );
}

/// An existing type does not change, except that a missing image is set.
#[test]
fn import_sets_missing_images_of_types_and_nothing_else() {
    let origin = Cli::with_data();
    let project = |label: &str| {
        format!(
            "version: 1
contentTypes:
  - name: post
    label: {label}
    properties: {{title: {{type: text}}}}
"
        )
    };
    origin.apply("project.yaml", &project("Post"));
    let image = fixtures().join("media/still.png");
    let uploaded: serde_json::Value =
        origin.run(&["media", "upload", image.to_str().unwrap(), "--json"]).exits(0).json();
    let id = uploaded.pointer("/0/id").or(uploaded.get("id")).unwrap().as_str().unwrap();
    origin.run(&["export", "out"]).ok();
    let file = "out/ContentTypePost/ContentTypeDefinition.json";
    let text = fs::read_to_string(origin.path(file)).unwrap();
    let mut definition: serde_json::Value = serde_json::from_str(&text).unwrap();
    let link = serde_json::json!([{ "type": "internal", "dataUrl": format!("/api/v1/content/_media/{id}") }]);
    definition["featuredImage"] = link.clone();
    origin.write(file, &definition.to_string());

    let copy = Cli::with_data();
    copy.apply("project.yaml", &project("Mine"));
    copy.run(&["import", origin.path("out").to_str().unwrap()]).ok();
    let found: serde_json::Value = copy.run(&["ctd", "get", "post", "--json"]).exits(0).json();
    assert_eq!((&found["label"], &found["featuredImage"]), (&"Mine".into(), &link));
}

/// Types whose names differ only in `_` keep their folder names from one export to the next.
#[test]
fn export_of_a_type_replaces_its_own_folder() {
    let cli = Cli::with_data();
    cli.apply(
        "project.yaml",
        "version: 1
contentTypes:
  - {name: ab, properties: {a: {type: text}}}
  - {name: a_b, properties: {b: {type: text}}}
",
    );
    for name in ["ab", "a_b"] {
        cli.run_with(&["import", name, "-"], r#"{"id":"one"}"#).ok();
    }
    cli.run(&["export", "out"]).ok();
    let before = tree(&cli.path("out"));
    for name in ["ab", "a_b"] {
        cli.run(&["export", "out", "--type", name]).ok();
        assert_eq!(tree(&cli.path("out")), before);
    }
}

/// An export keeps the files of types that its key may not see.
#[test]
fn export_with_a_scoped_key_keeps_other_types() {
    let server = Server::start();
    let admin = Cli::with_server(&server);
    admin.apply(
        "project.yaml",
        "version: 1
contentTypes:
  - {name: page, properties: {a: {type: text}}}
  - {name: secret, properties: {b: {type: text}}}
",
    );
    admin.run(&["export", "out"]).ok();
    let out = admin.path("out");
    let out = out.to_str().unwrap();
    let before = tree(&admin.path("out"));
    let create = ["key", "create", "page", "--kind", "scoped", "--rule", "page:r", "--json"];
    let key: serde_json::Value = admin.run(&create).exits(0).json();
    let scoped = Cli::with_key(&server, key["key"].as_str().unwrap());
    let note = "of an earlier export: the key does not see all types\n";
    scoped.run(&["export", out]).exits(0).stderr_contains(note);
    assert_eq!(tree(&admin.path("out")), before);

    // Also if the folder of a type that the key sees would have the same name.
    admin.apply(
        "names.yaml",
        "version: 1
contentTypes:
  - {name: a__b, properties: {a: {type: text}}}
  - {name: a_b, properties: {b: {type: text}}}
",
    );
    admin.run(&["export", out]).ok();
    let before = tree(&admin.path("out"));
    let create = ["key", "create", "names", "--kind", "scoped", "--rule", "a_b:r", "--json"];
    let key: serde_json::Value = admin.run(&create).exits(0).json();
    let scoped = Cli::with_key(&server, key["key"].as_str().unwrap());
    scoped.run(&["export", out]).exits(0).stderr_contains(note);
    assert_eq!(tree(&admin.path("out")), before);

    // A complete export removes deleted types.
    admin.run(&["ctd", "delete", "secret", "--yes"]).ok();
    admin.run(&["export", out]).ok();
    assert!(!admin.path("out/ContentTypeSecret").exists());
}

/// The files of two exports can be mixed in a folder whose export was killed while it moved its files there.
#[test]
fn folder_of_an_interrupted_export_is_not_imported() {
    let cli = Cli::with_data();
    cli.apply(
        "project.yaml",
        "version: 1\ncontentTypes: [{name: page, properties: {a: {type: text}}}]\n",
    );
    cli.run(&["export", "out"]).ok();
    cli.write("out/.cms-export.incomplete", "");
    let reason = "out has files of two exports: the last one was interrupted";
    cli.run(&["import", "out"]).exits(2).stderr_contains(reason);
    cli.run(&["export", "out"]).ok();
    cli.run(&["import", "out"]).ok();
    assert!(!cli.path("out/.cms-export.incomplete").exists());
}

/// A modified object of the maximum nesting has more levels in an export and in lists.
#[test]
fn objects_of_the_maximum_nesting_are_exported_and_imported() {
    on_both_targets(|cli| {
        cli.apply(
            "project.yaml",
            "version: 1
contentTypes:
  - {name: page, draftPublic: true, properties: {title: {type: text}, body: {type: block}}}
",
        );
        let levels = 122;
        let nested = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let block = format!(r#"{{"id":"a","type":"code","data":{{"code":{nested}}}}}"#);
        let body = format!(r#"{{"time":1,"version":"1","blocks":[{block}]}}"#);
        for id in ["one", "two"] {
            cli.write("page.json", &format!(r#"{{"id":"{id}","body":{body}}}"#));
            cli.run(&["object", "create", "page", "page.json"]).ok();
        }
        cli.run(&["object", "delete", "page", "two"]).ok();
        cli.run(&["publish", "page", "one"]).ok();
        cli.write("title.json", r#"{"title":"T"}"#);
        cli.run(&["object", "update", "page", "one", "title.json", "--patch"]).ok();
        cli.run(&["export", "out", "--trash"]).ok();
        let copy = Cli::with_data();
        let out = cli.path("out");
        let imported = copy.run(&["import", out.to_str().unwrap(), "--keep-dates"]).ok();
        assert_eq!(imported, "created 2, updated 0, unchanged 0, refused 0, statuses set 1\n");
        copy.run(&["export", "out", "--trash"]).ok();
        for (file, versions) in [("contentObjectPage.json", 2), ("deletedObjectPage.json", 1)] {
            let path = copy.path("out/ContentTypePage").join(file);
            let exported = fs::read_to_string(path).unwrap();
            assert_eq!(exported.matches(&nested).count(), versions, "{file}");
        }
    });
}

#[test]
fn refused_objects_of_an_earlier_import_stay_until_the_next_one_begins() {
    let cli = Cli::with_data();
    cli.copy(&files());
    cli.run(&["ctd", "apply", "shop.yaml"]).ok();
    cli.write("one.ndjson", "{\"id\":\"a\",\"title\":\"A\"}\n");
    cli.write("rejects", "earlier");
    for (arguments, exit) in [
        (&["produkt", "one.ndjson"][..], 4),
        (&["product", "none.ndjson"], 2),
        (&["product", "one.ndjson", "--dry-run"], 0),
    ] {
        let import = [&["import"], arguments, &["--rejects", "rejects"]].concat();
        cli.run(&import).exits(exit);
        assert_eq!(fs::read_to_string(cli.path("rejects")).unwrap(), "earlier", "{arguments:?}");
    }
    cli.run(&["import", "product", "one.ndjson", "--rejects", "rejects"]).exits(0);
    assert_eq!(fs::read_to_string(cli.path("rejects")).unwrap(), "");
    let again = cli.run(&["import", "product", "one.ndjson", "--dry-run"]);
    again.exits(7).stderr_contains("id: This value is already used");
}
