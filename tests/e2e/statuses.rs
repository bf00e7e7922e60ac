//! Statuses and workflow states that come back from an export, and what must never be published.

use std::fs;

use serde_json::{Value, json};

use super::{
    spaces::{tree, undated},
    support::{Place, Server},
};

/// A space in which objects have every status and every state of a workflow; `modified` has links and
/// another title than its published version.
pub(crate) fn published_space(place: &Place) {
    place.write(
        "publishing.yaml",
        "version: 1
contentTypes:
  - name: post
    draftPublic: true
    properties:
      title: {type: text, required: true, titlePart: true}
      next: {type: datasource, to: post}
  - name: note
    workflow: editorial
    properties: {title: {type: text}}
workflows:
  - id: editorial
    name: Editorial desk
    states: [draft, review, public, archive]
    transitions: [draft>review, review>draft, review>public, public>archive]
",
    );
    let rows = ["draft", "public", "modified", "archived"]
        .map(|id| format!("{{\"id\":\"{id}\",\"title\":\"{id} once\"}}\n"));
    let notes = ["n1", "n2", "n3", "n4"].map(|id| format!("{{\"id\":\"{id}\"}}\n"));
    place.write("posts.ndjson", &rows.concat());
    place.write("notes.ndjson", &notes.concat());
    place.write(
        "changed.json",
        r#"{"title":"edited","next":[{"type":"internal","dataUrl":"/api/v1/content/post/public"}]}"#,
    );
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
        place.run(&command.split(' ').collect::<Vec<_>>()).ok();
    }
}

/// Status, version shown to readers and workflow state of all objects.
fn statuses(place: &Place) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, flag) in [("post", "--preview"), ("post", "--desc"), ("note", "--preview")] {
        let list = place.run(&["object", "list", name, flag, "--order-by", "id", "--json"]).ok();
        let objects: Vec<Value> = serde_json::from_str(&list).unwrap();
        lines.extend(objects.iter().map(|object| {
            let internal = &object["internal"];
            let parts = [&object["title"], &internal["status"], &internal["workflowState"]];
            let parts = parts.map(|part| part.as_str().unwrap_or_default());
            format!("{name} {} {}", object["id"].as_str().unwrap(), parts.join(" "))
        }));
    }
    lines
}

/// An export carries statuses and published versions, and an import restores them: nothing is lost,
/// and nothing is published that was not.
#[test]
fn statuses_come_back_from_an_export() {
    let place = Place::with_data();
    published_space(&place);
    let before = statuses(&place);
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
    place.run(&["export", "first"]).ok();
    let first = undated(tree(&place.path("first")));
    let exported = place.path("first");
    let exported = exported.to_str().unwrap();

    let server = Server::start();
    for copy in [Place::with_data(), Place::with_server(&server)] {
        let ran = copy.run(&["import", exported]);
        let made = "created 8, updated 0, unchanged 0, refused 0, statuses set 6\n";
        assert_eq!(ran.stdout, made, "{}", ran.whole());
        assert_eq!(statuses(&copy), before);
        copy.run(&["export", "again"]).ok();
        assert_eq!(first, undated(tree(&copy.path("again"))));

        // What is as it should be is not touched; what is not is brought back.
        let again = copy.run(&["import", exported, "--update-existing"]).ok();
        assert_eq!(again, "created 0, updated 0, unchanged 8, refused 0\n");
        copy.run(&["publish", "post", "draft", "modified"]).ok();
        copy.run(&["unpublish", "post", "public"]).ok();
        let refused = copy.run(&["import", exported]);
        assert_eq!(refused.stdout, "created 0, updated 0, unchanged 0, refused 8\n");
        assert_ne!(statuses(&copy), before, "refused objects keep the status they have");
        let ran = copy.run(&["import", exported, "--update-existing"]);
        let repaired = "created 0, updated 0, unchanged 8, refused 0, statuses set 3\n";
        assert_eq!(ran.stdout, repaired, "{}", ran.whole());
        assert_eq!(statuses(&copy), before);
    }
}

/// What an import cannot restore it says, and leaves as it is.
#[test]
fn statuses_that_cannot_be_restored_are_refused() {
    let place = Place::with_data();
    published_space(&place);
    place.run(&["export", "out"]).ok();
    let posts = "out/ContentTypePost/contentObjectPost.json";
    let text = fs::read_to_string(place.path(posts)).unwrap();
    let published = r#","published":{"id":"modified","title":"modified once"}"#;
    assert!(text.contains(published), "{text}");
    place.write(posts, &text.replace(published, ""));
    let flow = fs::read_to_string(place.path("out/workflows.yaml")).unwrap();
    place.write("out/workflows.yaml", &flow.replace("  - public>archive\n", ""));

    let copy = Place::with_data();
    let ran = copy.run(&["import", place.path("out").to_str().unwrap()]);
    assert_eq!(ran.exit, 7, "{}", ran.whole());
    for line in [
        "internal.published: the published version is missing",
        "internal.workflowState: there is no way from state \"draft\" to \"archive\"",
    ] {
        assert!(ran.stderr.contains(line), "{}", ran.whole());
    }
    let after = statuses(&copy);
    assert!(after.contains(&"post modified edited draft saved".to_owned()), "{after:?}");
    assert!(after.contains(&"note n4  public draft".to_owned()), "{after:?}");
}

/// A type with a property that became read-only after a draft had got it: readers see `pub`, and
/// nobody may publish `secret`.
fn space_with_a_secret(place: &Place) {
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
    place.write("before.yaml", &project(false));
    place.write("after.yaml", &project(true));
    place.write("pages.ndjson", "{\"id\":\"one\",\"t\":\"pub\"}\n{\"id\":\"two\",\"t\":\"two\"}\n");
    place.write("draft.json", r#"{"t":"cur","p":"secret"}"#);
    for command in [
        "ctd apply before.yaml",
        "import page pages.ndjson",
        "publish page one",
        "object update page one draft.json",
        "ctd apply after.yaml",
    ] {
        place.run(&command.split(' ').collect::<Vec<_>>()).ok();
    }
}

/// The objects of `page` without what belongs to the target, as readers get them or as they are.
fn pages(place: &Place, flags: &[&str]) -> Value {
    let list = [&["object", "list", "page", "--order-by", "id", "--json"], flags].concat();
    let list: Vec<Value> = serde_json::from_str(&place.run(&list).ok()).unwrap();
    let own = list.into_iter().map(|mut page| {
        let status = page["internal"]["status"].take();
        page["internal"] = status;
        page
    });
    Value::Array(own.collect())
}

/// A draft that the published version cannot be put over stays a draft, here and in a new space.
#[test]
fn drafts_of_readonly_properties_are_never_published() {
    let origin = Place::with_data();
    space_with_a_secret(&origin);
    origin.run(&["export", "out"]).ok();
    let exported = origin.path("out");
    let exported = exported.to_str().unwrap();
    let public = json!([{"id": "one", "t": "pub", "internal": "public"}]);
    assert_eq!(pages(&origin, &[]), public);

    let server = Server::start();
    for copy in [Place::with_data(), Place::with_server(&server)] {
        let ran = copy.run(&["import", exported]);
        assert_eq!(ran.exit, 7, "{}", ran.whole());
        assert_eq!(ran.stdout, "created 1, updated 0, unchanged 0, refused 1\n", "{}", ran.whole());
        assert!(ran.stderr.contains("page/one"), "{}", ran.whole());
        assert!(ran.stderr.contains("p: This field is read only"), "{}", ran.whole());
        assert_eq!(pages(&copy, &[]), public);
    }

    // Where the draft is stored already, it stays as it is.
    origin.run(&["unpublish", "page", "one"]).ok();
    let before = pages(&origin, &["--preview"]);
    let ran = origin.run(&["import", exported, "--update-existing"]);
    assert_eq!(ran.exit, 7, "{}", ran.whole());
    assert_eq!(ran.stdout, "created 0, updated 0, unchanged 1, refused 1\n", "{}", ran.whole());
    let reason = "internal.published: \"p\" is stored, but not in the file";
    assert!(ran.stderr.contains(reason), "{}", ran.whole());
    assert_eq!(pages(&origin, &[]), json!([]));
    assert_eq!(pages(&origin, &["--preview"]), before);
}

/// What is stored and not in the file is not published with the rest.
#[test]
fn a_file_publishes_only_what_it_holds() {
    let place = Place::with_data();
    space_with_a_secret(&place);
    place.run(&["unpublish", "page", "one"]).ok();
    place.run(&["export", "out"]).ok();
    let before = pages(&place, &["--preview"]);
    let row = r#"{"id":"one","t":"cur","internal":{"status":"public"}}"#;
    place.write("out/ContentTypePage/contentObjectPage.json", row);
    let ran = place.run(&["import", "out", "--update-existing"]);
    assert_eq!(ran.exit, 7, "{}", ran.whole());
    assert_eq!(ran.stdout, "created 0, updated 0, unchanged 0, refused 1\n", "{}", ran.whole());
    let reason = "internal.status: \"p\" is stored, but not in the file";
    assert!(ran.stderr.contains(reason), "{}", ran.whole());
    assert_eq!(pages(&place, &["--preview"]), before);
}

/// A slug that the file leaves out is made from its source; one that an editor wrote is not
/// published in its place.
#[test]
fn a_slug_of_a_draft_is_not_published() {
    let place = Place::with_data();
    place.write(
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
    place.write("slug.json", r#"{"slug":"secret"}"#);
    let public = json!([{"id": "one", "t": "Open Sea", "slug": "open-sea", "internal": "public"}]);
    place.run(&["ctd", "apply", "slugs.yaml"]).ok();
    place.run(&["export", "out", "--type", "page"]).ok();
    place.write("out/ContentTypePage/contentObjectPage.json", row);
    place.run(&["import", "out"]).ok();
    assert_eq!(pages(&place, &[]), public);
    let again = place.run(&["import", "out", "--update-existing"]).ok();
    assert_eq!(again, "created 0, updated 0, unchanged 1, refused 0\n");

    place.run(&["unpublish", "page", "one"]).ok();
    place.run(&["object", "update", "page", "one", "slug.json", "--patch"]).ok();
    let again = place.run(&["import", "out", "--update-existing"]).ok();
    assert_eq!(again, "created 0, updated 1, unchanged 0, refused 0, statuses set 1\n");
    assert_eq!(pages(&place, &[]), public);
}

/// A published version that is no version of its object is refused, and touches no object.
#[test]
fn a_published_version_belongs_to_its_object() {
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
    for (published, reason) in wrong {
        let place = Place::with_data();
        space_with_a_secret(&place);
        place.run(&["export", "out"]).ok();
        let rows = [
            json!({"id": "one", "t": "cur", "p": "secret",
                "internal": {"status": "modified", "published": published}}),
            json!({"id": "two", "t": "two", "internal": {"status": "draft"}}),
        ];
        let rows = rows.map(|row| format!("{row}\n")).concat();
        place.write("out/ContentTypePage/contentObjectPage.json", &rows);
        let exported = place.path("out");
        let drafts = json!([
            {"id": "one", "t": "cur", "p": "secret", "internal": "draft"},
            {"id": "two", "t": "two", "internal": "draft"},
        ]);

        let copy = Place::with_data();
        let ran = copy.run(&["import", exported.to_str().unwrap()]);
        assert_eq!(ran.exit, 7, "{published}: {}", ran.whole());
        let told = "created 1, updated 0, unchanged 0, refused 1\n";
        assert_eq!(ran.stdout, told, "{published}: {}", ran.whole());
        assert!(ran.stderr.contains(&format!("internal.published: {reason}")), "{}", ran.whole());
        assert_eq!(pages(&copy, &["--preview"]), drafts, "{published}");

        // What is unchanged and then refused is refused.
        let again = copy.run(&["import", exported.to_str().unwrap(), "--update-existing"]);
        let told = "created 0, updated 0, unchanged 1, refused 1\n";
        assert_eq!(again.stdout, told, "{published}: {}", again.whole());
        assert_eq!(pages(&copy, &["--preview"]), drafts, "{published}");
    }
}

/// A published version that its type no longer takes does not keep the current one away.
#[test]
fn a_current_version_comes_in_without_its_published_one() {
    let place = Place::with_data();
    space_with_a_secret(&place);
    place.run(&["export", "out"]).ok();
    let row = json!({"id": "one", "t": "cur",
        "internal": {"status": "modified", "published": {"id": "one", "t": 1}}});
    place.write("out/ContentTypePage/contentObjectPage.json", &row.to_string());
    let copy = Place::with_data();
    let ran = copy.run(&["import", place.path("out").to_str().unwrap()]);
    assert_eq!(ran.stdout, "created 0, updated 0, unchanged 0, refused 1\n", "{}", ran.whole());
    let reason = "t: Integer value found, but a string is required";
    assert!(ran.stderr.contains(reason), "{}", ran.whole());
    let draft = json!([{"id": "one", "t": "cur", "internal": "draft"}]);
    assert_eq!(pages(&copy, &["--preview"]), draft);
}
