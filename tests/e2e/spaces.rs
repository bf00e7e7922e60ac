//! Whole spaces: what is exported comes back the same, and a second start changes nothing.

use std::{fs, path::Path};

use super::{
    statuses::published_space,
    support::{Place, Server, client, fixtures},
};

/// All files below a folder, with their bytes.
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

/// The same files without the dates of objects, which an import does not keep unless it is asked to.
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

/// An export says all there is: twice the same, and the same again from a copy. Changed and deleted
/// built-in types, links forwards, to oneself and in circles are in it.
#[test]
fn an_exported_folder_makes_the_same_space_again() {
    let place = Place::with_data();
    place.write(
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
    place.write("hens.ndjson", &format!(
        "{{\"id\":\"h1\",\"list\":[{{\"friend\":{}}}]}}\n{{\"id\":\"h2\",\"list\":[{{\"friend\":{}}}]}}\n",
        link("hen/h2"),
        link("hen/h2"),
    ));
    place.write(
        "eggs.ndjson",
        &format!(
            "{{\"id\":\"e1\",\"laid_by\":{},\"next\":{}}}\n{{\"id\":\"e2\",\"laid_by\":{}}}\n",
            link("hen/h1"),
            link("egg/e2"),
            link("hen/h2"),
        ),
    );
    place.write("out-of.json", &format!("{{\"out_of\":{}}}", link("egg/e2")));
    let project = fixtures().join("project.yaml");
    let content = fixtures().join("content");
    place.run(&["ctd", "apply", project.to_str().unwrap(), "more.yaml"]).ok();
    place.run(&["ctd", "delete", "project"]).ok();
    place.run(&["import", content.to_str().unwrap()]).ok();
    place.run(&["import", "hen", "hens.ndjson"]).ok();
    place.run(&["import", "egg", "eggs.ndjson"]).ok();
    place.run(&["object", "update", "hen", "h1", "out-of.json", "--patch"]).ok();

    place.run(&["export", "first"]).ok();
    place.run(&["export", "second"]).ok();
    let first = tree(&place.path("first"));
    assert!(
        first.iter().any(|(name, _)| name == "ContentTypeContactForm/ContentTypeDefinition.json")
    );
    assert!(!first.iter().any(|(name, _)| name.starts_with("ContentTypeProject")));
    assert_eq!(first, tree(&place.path("second")));
    let first = undated(first);

    let copy = Place::with_data();
    let exported = place.path("first");
    let exported = exported.to_str().unwrap();
    copy.run(&["import", exported]).ok();
    copy.run(&["export", "third"]).ok();
    assert_eq!(first, undated(tree(&copy.path("third"))));

    let again = copy.run(&["import", exported, "--update-existing"]).ok();
    assert!(again.starts_with("created 0, updated 0, unchanged "), "{again}");
    // What is no longer there leaves an older export of the same folder.
    copy.run(&["object", "delete", "_tag", "nosuch"]);
    copy.run(&["export", "third"]).ok();
    assert_eq!(first, undated(tree(&copy.path("third"))));
}

/// A scheduled publication stays behind, and the export says so.
#[test]
fn an_export_tells_of_scheduled_publications() {
    let server = Server::start();
    let place = Place::with_server(&server);
    published_space(&place);
    assert_eq!(place.run(&["export", "out", "--quiet"]).stderr, "");
    let answer = client()
        .build()
        .unwrap()
        .put(format!("{}/api/v1/content/post/draft/schedule", server.url))
        .header("x-auth-token", &server.key)
        .header("content-type", "application/json")
        .body(r#"{"scheduledAt":"2099-01-01T00:00","timeZone":"Europe/Warsaw"}"#)
        .send()
        .unwrap();
    assert_eq!(answer.status(), 200);
    let before = tree(&place.path("out"));
    let ran = place.run(&["export", "out"]);
    let note = "1 scheduled publication not exported: exports do not contain schedules\n";
    assert_eq!((ran.exit, ran.stderr.as_str()), (0, note));
    assert_eq!(tree(&place.path("out")), before);
}

/// The first start prints the keys that nobody set; the second changes nothing.
#[test]
fn a_second_start_changes_nothing() {
    let place = Place::with_data();
    let folder = place.path("");
    let (project, content) = (fixtures().join("project.yaml"), fixtures().join("content"));
    let arguments = ["--apply", project.to_str().unwrap(), "--import", content.to_str().unwrap()];
    let printed = Server::start_in(&folder, &arguments).stop();
    let names: Vec<&str> = printed.lines().map(|line| line.split('=').next().unwrap()).collect();
    assert_eq!(names, ["CMS_RW_KEY", "CMS_RO_KEY"]);

    let versions = || {
        let lists = ["author", "event"]
            .map(|name| place.run(&["object", "list", name, "--all", "--json"]).ok());
        let types = place.run(&["ctd", "list", "--json"]).ok();
        (lists, types)
    };
    // What an editor deleted stays away.
    place.run(&["object", "delete", "event", "carry-day"]).ok();
    let before = versions();
    let server = Server::start_in(&folder, &arguments);
    assert!(!server.said.iter().any(|line| line.contains("created")), "{:?}", server.said);
    assert_eq!(server.stop(), "");
    assert_eq!(before, versions());
}

/// Objects that cannot be created without their link wait until its target is there; those that
/// need each other are refused.
#[test]
fn objects_wait_for_what_they_need() {
    let place = Place::with_data();
    place.write(
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
    place.write("rows.ndjson", &rows.concat());
    place.run(&["ctd", "apply", "links.yaml"]).ok();
    let ran = place.run(&["import", "link", "rows.ndjson", "--rejects", "rejects.ndjson"]);
    assert_eq!(ran.stdout, "created 3, updated 0, unchanged 0, refused 2\n", "{}", ran.whole());
    let again = place.run(&["import", "link", "rows.ndjson", "--update-existing"]);
    assert_eq!(again.stdout, "created 0, updated 0, unchanged 3, refused 2\n", "{}", again.whole());

    let rejects = fs::read_to_string(place.path("rejects.ndjson")).unwrap();
    let rejects: Vec<serde_json::Value> =
        rejects.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rejects[0]["data"], serde_json::from_str::<serde_json::Value>(&rows[3]).unwrap());
    assert_eq!(rejects[1]["place"], "rows.ndjson:5");
    assert_eq!(
        rejects[0]["errors"],
        serde_json::json!({"next": ["This value does not exist in database"]})
    );
}

/// A type that exists stays as it is; it only gets the picture that it lacks.
#[test]
fn import_sets_pictures_of_types_and_nothing_else() {
    let origin = Place::with_data();
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
    origin.write("project.yaml", &project("Post"));
    origin.run(&["ctd", "apply", "project.yaml"]).ok();
    let picture = fixtures().join("media/still.png");
    let uploaded = origin.run(&["media", "upload", picture.to_str().unwrap(), "--json"]).ok();
    let uploaded: serde_json::Value = serde_json::from_str(&uploaded).unwrap();
    let id = uploaded.pointer("/0/id").or(uploaded.get("id")).unwrap().as_str().unwrap();
    origin.run(&["export", "out"]).ok();
    let file = "out/ContentTypePost/ContentTypeDefinition.json";
    let text = fs::read_to_string(origin.path(file)).unwrap();
    let mut definition: serde_json::Value = serde_json::from_str(&text).unwrap();
    let link = serde_json::json!([{ "type": "internal", "dataUrl": format!("/api/v1/content/_media/{id}") }]);
    definition["featuredImage"] = link.clone();
    origin.write(file, &definition.to_string());

    let copy = Place::with_data();
    copy.write("project.yaml", &project("Mine"));
    copy.run(&["ctd", "apply", "project.yaml"]).ok();
    copy.run(&["import", origin.path("out").to_str().unwrap()]).ok();
    let found: serde_json::Value =
        serde_json::from_str(&copy.run(&["ctd", "get", "post", "--json"]).ok()).unwrap();
    assert_eq!((&found["label"], &found["featuredImage"]), (&"Mine".into(), &link));
}
