//! Large projects: forty related types, applied and exported; and an apply that is killed while it
//! rewrites objects.

use std::{fmt::Write as _, fs, thread, time::Duration};

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use super::support::{Cli, Server};

const TYPES: usize = 40;

/// The name of a type: letters only.
fn name(number: usize) -> String {
    let letter = |n: usize| char::from(b'a' + u8::try_from(n % 26).unwrap());
    format!("type_{}{}", letter(number / 26), letter(number))
}

/// Types with circular and other relations, a workflow, and a key.
fn project() -> String {
    let mut yaml = "version: 1\ncontentTypes:\n".to_owned();
    for number in 0..TYPES {
        let (next, across) = (name((number + 1) % TYPES), name((number * 7 + 3) % TYPES));
        let publishing = match number % 3 {
            0 => "    draftPublic: true\n",
            1 => "    workflow: editorial\n",
            _ => "",
        };
        write!(
            yaml,
            "  - name: {}
    label: Type {number}
{publishing}    properties:
      title: {{type: text, required: true, unique: true, titlePart: true}}
      next: {{type: datasource, to: {next}}}
      across: {{type: datasource, to: {across}, many: true}}
      size: {{type: select, options: [S, M, L]}}
      rank: {{type: number}}
      place: {{type: geo}}
      parts: {{type: object, items: {{name: {{type: text, required: true}}, count: {{type: number}}}}}}
",
            name(number)
        )
        .unwrap();
    }
    yaml.push_str(
        "workflows:
  - id: editorial
    states: [draft, review, public, archive]
    transitions: [draft>review, review>draft, review>public, public>archive]
keys:
  - {name: web, kind: scoped, rules: {type_aa: r, _media: r}}
",
    );
    yaml
}

/// Applies the project to a target twice, and exports it.
fn apply_and_export(cli: &Cli, file: &str, created: usize, exported: &str) -> String {
    let first = cli.run(&["ctd", "apply", file]);
    assert!(first.stderr.ends_with("applied\n"), "{}", first.transcript());
    let plan = first.ok();
    let sums = format!("plan: {created} to create, 0 to change, 0 to delete\n");
    assert!(plan.contains(&sums), "{plan}");
    let again = cli.run(&["ctd", "apply", file]);
    assert!(again.stderr.ends_with("nothing to change\n"), "{}", again.transcript());
    cli.run(&["ctd", "plan", file, "--exit-code"]).ok();
    cli.run(&["ctd", "export", "-o", exported]).ok();
    fs::read_to_string(cli.path(exported)).unwrap()
}

#[test]
fn project_of_forty_related_types_is_applied_and_exported() {
    let folder = Cli::with_data();
    folder.write("project.yaml", &project());
    // The workflow and the key are created, too. An export contains no keys.
    let exported = apply_and_export(&folder, "project.yaml", TYPES + 2, "exported.yaml");

    let server = Server::start();
    let remote = Cli::with_server(&server);
    remote.write("exported.yaml", &exported);
    assert_eq!(apply_and_export(&remote, "exported.yaml", TYPES + 1, "again.yaml"), exported);
}

/// A scoped key does not see the types that the project refers to, such as `_tag`.
#[test]
fn project_is_refused_for_lack_of_rights_before_its_references() {
    let server = Server::start();
    let key = ["key", "create", "web", "--kind", "scoped", "--rule", "about:crud"];
    let key = Cli::with_server(&server).run(&key).ok();
    let cli = Cli::with_key(&server, key.trim());
    let tagged = "{version: 1, contentTypes: [{name: about, properties: {tags: {type: datasource, to: _tag}}}]}";
    cli.write("project.yaml", tagged);
    for command in ["plan", "apply"] {
        let refused = cli.run(&["ctd", command, "project.yaml"]);
        assert_eq!(refused.exit, 3, "{}", refused.transcript());
        assert!(!refused.stderr.contains("unknown"), "{}", refused.transcript());
    }
    let admin = Cli::with_server(&server);
    admin.write("project.yaml", &tagged.replace("_tag", "_tags"));
    let unknown = admin.run(&["ctd", "apply", "project.yaml"]);
    assert!(unknown.stderr.contains("did you mean \"_tag\""), "{}", unknown.transcript());
}

/// The plan of removed options names the objects that still have them.
#[test]
fn plan_shows_values_of_removed_options() {
    let cli = Cli::with_data();
    let project = |options: &str| {
        format!(
            "{{version: 1, contentTypes: [{{name: note, uniqueTogether: [[title, kind]], properties: \
             {{title: {{type: text, maxLength: 5}}, kind: {{type: select, options: [{options}]}}}}}}]}}"
        )
    };
    cli.apply("project.yaml", &project("a, b, c"));
    for (id, kind) in [("one", "a"), ("two", "b"), ("three", "b")] {
        cli.write("note.json", &format!(r#"{{"id":"{id}","title":"{id}","kind":"{kind}"}}"#));
        cli.run(&["object", "create", "note", "note.json"]).ok();
    }
    cli.write("project.yaml", &project("a, c"));
    let plan = cli.run(&["ctd", "plan", "project.yaml"]);
    assert_eq!(plan.exit, 0, "{}", plan.transcript());
    let line = "kind  settings  3 values kept, 2 no longer valid: two \"b\", three \"b\"";
    assert!(plan.stdout.contains(line), "{}", plan.transcript());
    assert!(plan.stdout.contains("2 values no longer valid"), "{}", plan.transcript());
    assert!(plan.stderr.contains("cms object update note"), "{}", plan.transcript());
    cli.run(&["ctd", "apply", "project.yaml"]).ok();
    cli.write("patch.json", r#"{"kind": "c"}"#);
    let filters = r#"{"kind": {"type": "equals", "filter": "b"}}"#;
    let replace = ["object", "update", "note", "patch.json", "--patch", "--filters", filters];
    cli.run(&[&replace[..], &["--expect", "2"]].concat()).ok();
}

const NOTES: usize = 20_000;

fn notes(body: &str) -> String {
    format!(
        "version: 1
contentTypes:
  - name: note
    label: Note
    properties:
      title: {{type: text, required: true}}
      rank: {{type: {body}}}
"
    )
}

/// Reads the JSON type of `rank` in the definition, and the number of stored values per JSON type.
fn stored(cli: &Cli) -> (String, Vec<(String, usize)>) {
    let path = cli.path("data/cms.db");
    let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let definition: String = database
        .query_row("SELECT definition FROM ctd WHERE name = 'note'", [], |row| row.get(0))
        .unwrap();
    let definition: Value = serde_json::from_str(&definition).unwrap();
    let kind = &definition["schemaDefinition"]["allOf"][1]["properties"]["rank"]["type"];
    let kinds = "SELECT json_type(data, '$.rank'), count(*) FROM object GROUP BY 1";
    let mut statement = database.prepare(kinds).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    (kind.as_str().unwrap().to_owned(), rows.map(Result::unwrap).collect())
}

#[test]
fn killed_apply_keeps_the_old_state() {
    let cli = Cli::with_data();
    cli.write("before.yaml", &notes("text"));
    cli.write("after.yaml", &notes("number"));
    let mut rows = String::new();
    for number in 0..NOTES {
        let filler = "x".repeat(200);
        writeln!(rows, r#"{{"id":"n{number}","title":"{filler}","rank":"{number}"}}"#).unwrap();
    }
    cli.write("notes.ndjson", &rows);
    cli.run(&["ctd", "apply", "before.yaml"]).ok();
    cli.run(&["import", "note", "notes.ndjson", "--quiet"]).ok();
    let before = ("string".to_owned(), vec![("text".to_owned(), NOTES)]);
    assert_eq!(stored(&cli), before);

    for pause in [20, 60, 120, 200, 300] {
        let mut change = cli.start(&["ctd", "apply", "after.yaml", "--allow-data-loss"]);
        // The process is killed in the middle of the change.
        thread::sleep(Duration::from_millis(pause));
        assert!(change.try_wait().unwrap().is_none(), "too few notes to be killed in the middle");
        change.kill().unwrap();
        change.wait().unwrap();
        assert_eq!(stored(&cli), before, "killed after {pause} ms");
    }
    cli.run(&["ctd", "apply", "after.yaml", "--allow-data-loss"]).ok();
    assert_eq!(stored(&cli), ("number".to_owned(), vec![("integer".to_owned(), NOTES)]));
}
