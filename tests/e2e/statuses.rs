//! Import restores statuses and workflow states, and never publishes unpublished values.

use std::fs;

use serde_json::{Value, json};

use super::{
    export_import::{tree, undated},
    support::{Cli, PUBLISHING_PROJECT, Server, both_targets, link},
};

/// A space with objects in every status and every workflow state; `modified` has links and another
/// title than its published version.
pub(crate) fn published_space(cli: &Cli) {
    cli.write("publishing.yaml", PUBLISHING_PROJECT);
    let rows = ["draft", "public", "modified", "archived"]
        .map(|id| format!("{{\"id\":\"{id}\",\"title\":\"{id} once\"}}\n"));
    let notes = ["n1", "n2", "n3", "n4"].map(|id| format!("{{\"id\":\"{id}\"}}\n"));
    cli.write("posts.ndjson", &rows.concat());
    cli.write("notes.ndjson", &notes.concat());
    let changed = json!({ "title": "edited", "next": link("post", "public") });
    cli.write("changed.json", &changed.to_string());
    for command in [
        "ctd apply publishing.yaml",
        "import post posts.ndjson",
        "import note notes.ndjson",
        "publish post public modified",
        "archive post archived",
        "object update post modified changed.json --patch",
        "workflow run note n2 n3 n4 _draft_review",
        "workflow run note n3 n4 _review_public",
        "workflow run note n4 _public_archive",
    ] {
        cli.run_line(command).ok();
    }
}

/// Status, version shown to readers and workflow state of all objects.
fn statuses(cli: &Cli) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, flag) in [("post", "--preview"), ("post", "--desc"), ("note", "--preview")] {
        let objects: Vec<Value> =
            cli.run(&["object", "list", name, flag, "--order-by", "id", "--json"]).exits(0).json();
        lines.extend(objects.iter().map(|object| {
            let internal = &object["internal"];
            let parts = [&object["title"], &internal["status"], &internal["workflowState"]];
            let parts = parts.map(|part| part.as_str().unwrap_or_default());
            format!("{name} {} {}", object["id"].as_str().unwrap(), parts.join(" "))
        }));
    }
    lines
}

/// An export contains statuses and published versions, and an import restores them.
#[test]
fn statuses_are_restored_from_an_export() {
    let cli = Cli::with_data();
    published_space(&cli);
    let before = statuses(&cli);
    assert_eq!(
        before,
        [
            "post archived archived once archived saved",
            "post draft draft once draft saved",
            "post modified edited modified saved",
            "post public public once public saved",
            "post public public once public saved",
            "post modified modified once public saved",
            "note n1  public draft",
            "note n2  public review",
            "note n3  public public",
            "note n4  public archive",
        ]
    );
    cli.run(&["export", "first"]).ok();
    let first = undated(tree(&cli.path("first")));
    let exported = cli.path("first");
    let exported = exported.to_str().unwrap();

    let server = Server::start();
    for copy in both_targets(&server) {
        let output = copy.run(&["import", exported]);
        let created = "created 8, updated 0, unchanged 0, refused 0, statuses set 6\n";
        output.prints(created);
        assert_eq!(statuses(&copy), before);
        copy.run(&["export", "again"]).ok();
        assert_eq!(first, undated(tree(&copy.path("again"))));

        // Equal objects do not change; other statuses are restored.
        let again = copy.run(&["import", exported, "--update-existing"]).ok();
        assert_eq!(again, "created 0, updated 0, unchanged 8, refused 0\n");
        copy.run(&["publish", "post", "draft", "modified"]).ok();
        copy.run(&["unpublish", "post", "public"]).ok();
        let refused = copy.run(&["import", exported]);
        assert_eq!(refused.stdout, "created 0, updated 0, unchanged 0, refused 8\n");
        assert_ne!(statuses(&copy), before, "refused objects keep the status they have");
        let output = copy.run(&["import", exported, "--update-existing"]);
        let restored = "created 0, updated 0, unchanged 8, refused 0, statuses set 3\n";
        output.prints(restored);
        assert_eq!(statuses(&copy), before);
    }
}

/// An import reports statuses that it cannot restore, and does not set them.
#[test]
fn statuses_that_cannot_be_restored_are_refused() {
    let cli = Cli::with_data();
    published_space(&cli);
    cli.run(&["export", "out"]).ok();
    let posts = "out/ContentTypePost/contentObjectPost.json";
    let text = fs::read_to_string(cli.path(posts)).unwrap();
    let published = r#","published":{"id":"modified","title":"modified once"}"#;
    assert!(text.contains(published), "{text}");
    cli.write(posts, &text.replace(published, ""));
    let flow = fs::read_to_string(cli.path("out/workflows.yaml")).unwrap();
    cli.write("out/workflows.yaml", &flow.replace("  - public>archive\n", ""));

    let copy = Cli::with_data();
    let output = copy.run(&["import", cli.path("out").to_str().unwrap()]);
    output.exits(7);
    for line in [
        "internal.published: the published version is missing",
        "internal.workflowState: there is no transition path from \"draft\" to \"archive\"",
    ] {
        output.stderr_contains(line);
    }
    let after = statuses(&copy);
    assert!(after.contains(&"post modified edited draft saved".to_owned()), "{after:?}");
    assert!(after.contains(&"note n4  public draft".to_owned()), "{after:?}");
}

/// A type with a property that became read-only after a draft got a value: readers see `pub`, and
/// `secret` must not be published.
fn space_with_a_secret(cli: &Cli) {
    let project = |readonly: bool| {
        format!(
            "version: 1
contentTypes:
  - name: page
    draftPublic: true
    properties:
      t: {{type: text}}
      p: {{type: text, readonly: {readonly}}}
"
        )
    };
    cli.write("before.yaml", &project(false));
    cli.write("after.yaml", &project(true));
    cli.write("pages.ndjson", "{\"id\":\"one\",\"t\":\"pub\"}\n{\"id\":\"two\",\"t\":\"two\"}\n");
    cli.write("draft.json", r#"{"t":"cur","p":"secret"}"#);
    for command in [
        "ctd apply before.yaml",
        "import page pages.ndjson",
        "publish page one",
        "object update page one draft.json",
        "ctd apply after.yaml",
    ] {
        cli.run_line(command).ok();
    }
}

/// The objects of `page`, with the status as the value of `internal`.
fn pages(cli: &Cli, flags: &[&str]) -> Value {
    let list = [&["object", "list", "page", "--order-by", "id", "--json"], flags].concat();
    let list: Vec<Value> = cli.run(&list).exits(0).json();
    let own = list.into_iter().map(|mut page| {
        let status = page["internal"]["status"].take();
        page["internal"] = status;
        page
    });
    Value::Array(own.collect())
}

/// A draft whose published version cannot be restored stays a draft, in the same and in a new
/// space.
#[test]
fn drafts_of_readonly_properties_are_never_published() {
    let origin = Cli::with_data();
    space_with_a_secret(&origin);
    origin.run(&["export", "out"]).ok();
    let exported = origin.path("out");
    let exported = exported.to_str().unwrap();
    let public = json!([{"id": "one", "t": "pub", "internal": "public"}]);
    assert_eq!(pages(&origin, &[]), public);

    let server = Server::start();
    for copy in both_targets(&server) {
        let output = copy.run(&["import", exported]);
        output.exits(7).prints("created 1, updated 0, unchanged 0, refused 1\n");
        output.stderr_contains("page/one");
        output.stderr_contains("p: This field is read only");
        assert_eq!(pages(&copy, &[]), public);
    }

    // A stored draft does not change.
    origin.run(&["unpublish", "page", "one"]).ok();
    let before = pages(&origin, &["--preview"]);
    let output = origin.run(&["import", exported, "--update-existing"]);
    output.exits(7).prints("created 0, updated 0, unchanged 1, refused 1\n");
    output.stderr_contains("internal.published: \"p\" is stored, but not in the file");
    assert_eq!(pages(&origin, &[]), json!([]));
    assert_eq!(pages(&origin, &["--preview"]), before);
}

/// Stored values that are missing in the file are not published.
#[test]
fn import_publishes_only_values_of_the_file() {
    let cli = Cli::with_data();
    space_with_a_secret(&cli);
    cli.run(&["unpublish", "page", "one"]).ok();
    cli.run(&["export", "out"]).ok();
    let before = pages(&cli, &["--preview"]);
    let row = r#"{"id":"one","t":"cur","internal":{"status":"public"}}"#;
    cli.write("out/ContentTypePage/contentObjectPage.json", row);
    let output = cli.run(&["import", "out", "--update-existing"]);
    output.exits(7).prints("created 0, updated 0, unchanged 0, refused 1\n");
    output.stderr_contains("internal.status: \"p\" is stored, but not in the file");
    assert_eq!(pages(&cli, &["--preview"]), before);
}

/// A slug missing in the file is generated from its source. The slug that an editor wrote in a draft is
/// not published instead.
#[test]
fn slug_of_a_draft_is_not_published() {
    let cli = Cli::with_data();
    cli.write(
        "slugs.yaml",
        "version: 1
contentTypes:
  - name: page
    draftPublic: true
    properties: {t: {type: text}, slug: {type: text}}
    slugs: {slug: t}
",
    );
    let row = r#"{"id":"one","t":"Open Sea","internal":{"status":"public"}}"#;
    cli.write("slug.json", r#"{"slug":"secret"}"#);
    let public = json!([{"id": "one", "t": "Open Sea", "slug": "open-sea", "internal": "public"}]);
    cli.run(&["ctd", "apply", "slugs.yaml"]).ok();
    cli.run(&["export", "out", "--type", "page"]).ok();
    cli.write("out/ContentTypePage/contentObjectPage.json", row);
    cli.run(&["import", "out"]).ok();
    assert_eq!(pages(&cli, &[]), public);
    let again = cli.run(&["import", "out", "--update-existing"]).ok();
    assert_eq!(again, "created 0, updated 0, unchanged 1, refused 0\n");

    cli.run(&["unpublish", "page", "one"]).ok();
    cli.run(&["object", "update", "page", "one", "slug.json", "--patch"]).ok();
    let again = cli.run(&["import", "out", "--update-existing"]).ok();
    assert_eq!(again, "created 0, updated 1, unchanged 0, refused 0, statuses set 1\n");
    assert_eq!(pages(&cli, &[]), public);
}

/// The server adds the defaults when it creates the objects.
#[test]
fn objects_with_added_defaults_are_published() {
    let cli = Cli::with_data();
    cli.write(
        "defaults.yaml",
        "version: 1
contentTypes:
  - name: page
    draftPublic: true
    applyDefaults: true
    properties: {t: {type: text}, kind: {type: text, default: note}}
",
    );
    let status = |id: &str, internal: &Value| json!({ "id": id, "t": id, "internal": internal });
    let published = json!({ "id": "m", "t": "before" });
    let rows = [
        status("p", &json!({ "status": "public" })),
        status("m", &json!({ "status": "modified", "published": published })),
    ];
    cli.run(&["ctd", "apply", "defaults.yaml"]).ok();
    cli.run(&["export", "out", "--type", "page"]).ok();
    let rows = rows.map(|row| format!("{row}\n"));
    cli.write("out/ContentTypePage/contentObjectPage.json", &rows.concat());
    let output = cli.run(&["import", "out"]);
    output.exits(0).prints("created 2, updated 0, unchanged 0, refused 0, statuses set 2\n");
    let public = json!([
        {"id": "m", "t": "before", "kind": "note", "internal": "public"},
        {"id": "p", "t": "p", "kind": "note", "internal": "public"},
    ]);
    assert_eq!(pages(&cli, &[]), public);
    let again = cli.run(&["import", "out", "--update-existing"]).ok();
    assert_eq!(again, "created 0, updated 0, unchanged 2, refused 0\n");
}

/// A published version of another object is refused, and no object changes.
#[test]
fn published_version_must_belong_to_its_object() {
    let wrong = [
        (json!({"id": "two", "t": "taken over"}), "the id is \"two\", not \"one\""),
        (json!({"id": "stray", "t": "new"}), "the id is \"stray\", not \"one\""),
        (json!({"id": "", "t": "new"}), "the id is \"\", not \"one\""),
        (json!({"id": null, "t": "new"}), "the id is null, not \"one\""),
        (json!({"t": "new"}), "the id is missing"),
        (json!({}), "the id is missing"),
        (json!([]), "[] where a mapping is expected"),
        (json!("one"), "\"one\" where a mapping is expected"),
        (json!(null), "the published version is missing"),
    ];
    let cli = Cli::with_data();
    space_with_a_secret(&cli);
    cli.run(&["export", "out"]).ok();
    for (published, reason) in wrong {
        let rows = [
            json!({"id": "one", "t": "cur", "p": "secret",
                "internal": {"status": "modified", "published": published}}),
            json!({"id": "two", "t": "two", "internal": {"status": "draft"}}),
        ];
        let rows = rows.map(|row| format!("{row}\n")).concat();
        cli.write("out/ContentTypePage/contentObjectPage.json", &rows);
        let exported = cli.path("out");
        let drafts = json!([
            {"id": "one", "t": "cur", "p": "secret", "internal": "draft"},
            {"id": "two", "t": "two", "internal": "draft"},
        ]);

        let copy = Cli::with_data();
        let output = copy.run(&["import", exported.to_str().unwrap()]);
        assert_eq!(output.exit, 7, "{published}: {}", output.transcript());
        let stdout = "created 1, updated 0, unchanged 0, refused 1\n";
        assert_eq!(output.stdout, stdout, "{published}: {}", output.transcript());
        output.stderr_contains(&format!("internal.published: {reason}"));
        assert_eq!(pages(&copy, &["--preview"]), drafts, "{published}");

        // Unchanged objects with a refused status count as refused.
        let again = copy.run(&["import", exported.to_str().unwrap(), "--update-existing"]);
        let stdout = "created 0, updated 0, unchanged 1, refused 1\n";
        assert_eq!(again.stdout, stdout, "{published}: {}", again.transcript());
        assert_eq!(pages(&copy, &["--preview"]), drafts, "{published}");
    }
}

/// An invalid published version does not prevent the import of the current one.
#[test]
fn current_version_is_imported_without_an_invalid_published_one() {
    let cli = Cli::with_data();
    space_with_a_secret(&cli);
    cli.run(&["export", "out"]).ok();
    let row = json!({"id": "one", "t": "cur",
        "internal": {"status": "modified", "published": {"id": "one", "t": 1}}});
    cli.write("out/ContentTypePage/contentObjectPage.json", &row.to_string());
    let copy = Cli::with_data();
    let output = copy.run(&["import", cli.path("out").to_str().unwrap()]);
    output.prints("created 0, updated 0, unchanged 0, refused 1\n");
    output.stderr_contains("t: Integer value found, but a string is required");
    let draft = json!([{"id": "one", "t": "cur", "internal": "draft"}]);
    assert_eq!(pages(&copy, &["--preview"]), draft);
}

/// An edit of a public object approves the new version.
#[test]
fn unapproved_content_of_a_file_does_not_replace_a_public_object() {
    let cli = Cli::with_data();
    let project = PUBLISHING_PROJECT.replace("public>archive]", "public>archive, archive>draft]");
    cli.write("publishing.yaml", &project);
    cli.write("note.json", r#"{"id":"a","title":"not approved"}"#);
    cli.write("approved.json", r#"{"title":"approved"}"#);
    for command in [
        "ctd apply publishing.yaml",
        "object create note note.json",
        "export draft --type note",
        "object update note a approved.json --patch",
        "workflow run note a _draft_review",
        "workflow run note a _review_public",
        "export public --type note",
    ] {
        cli.run_line(command).ok();
    }
    let note = |cli: &Cli| {
        let note: Value = cli.run_line("object get note a --json").json();
        [&note["title"], &note["internal"]["workflowState"]]
            .map(|text| text.as_str().unwrap().to_owned())
    };
    cli.run_line("import draft --update-existing").exits(0);
    assert_eq!(note(&cli), ["not approved", "draft"], "there is a path by the archive");

    let cli = {
        let other = Cli::with_data();
        other.write("publishing.yaml", PUBLISHING_PROJECT);
        other.run_line("ctd apply publishing.yaml").ok();
        for folder in ["public", "draft"] {
            let file = format!("{folder}/ContentTypeNote/contentObjectNote.json");
            let definition = format!("{folder}/ContentTypeNote/ContentTypeDefinition.json");
            for name in [file, definition] {
                other.write(&name, &fs::read_to_string(cli.path(&name)).unwrap());
            }
        }
        other
    };
    cli.run_line("import public").exits(0);
    let output = cli.run_line("import draft --update-existing");
    output.exits(7).stderr_contains("there is no transition path from \"public\" to \"draft\"");
    output.prints("created 0, updated 0, unchanged 0, refused 1\n");
    assert_eq!(note(&cli), ["approved", "public"]);
}
