//! Selected fields, validation and incoming links on the command line, on both targets.

use serde_json::{Value, json};

use super::support::{Cli, Server, link, on_both_targets};

const PROJECT: &str = "\
version: 1
contentTypes:
  - name: author
    properties: {name: {type: text, required: true}, pages: {type: number}}
  - name: post
    properties:
      author: {type: datasource, to: author}
      next: {type: datasource, to: post}
";

fn prepare(cli: &Cli) {
    cli.apply("project.yaml", PROJECT);
    cli.run_with(&["import", "author", "-"], r#"[{"id":"ada","name":"Ada","pages":3}]"#).ok();
    cli.run_with(&["import", "post", "-"], r#"[{"id":"a","author":"ada"},{"id":"b"}]"#).ok();
}

fn json_of(cli: &Cli, command: &str) -> Value {
    cli.run_line(command).exits(0).json()
}

#[test]
fn fields_are_selected_on_both_targets() {
    on_both_targets(|cli| {
        prepare(cli);
        let list = json_of(cli, "object list author --field name --field internal.status --json");
        let ada = json!({ "id": "ada", "internal": { "status": "public" }, "name": "Ada" });
        assert_eq!(list, json!([ada]));
        let table = cli.run(&["object", "list", "author", "--field", "pages"]).ok();
        assert_eq!(table, "ID   pages\nada  3\n");
        let post = json_of(cli, "object get post a --field author.pages --hydrate 1 --json");
        assert_eq!(post, json!({ "id": "a", "author": [{ "id": "ada", "pages": 3 }] }));
        let post = json_of(cli, "object get post a --field author.pages --json");
        assert_eq!(post, json!({ "id": "a", "author": link("author", "ada") }));
        let found = json_of(cli, "search ada --type author --item-field name --json");
        assert_eq!(found["data"][0]["item"], json!({ "id": "ada", "name": "Ada" }));
        let output = cli.run(&["object", "get", "post", "a", "--field", "x", "--version", "1"]);
        assert_eq!(output.exit, 2);
    });
}

/// A request with such an id would go to another path: here, to the object `schedule`.
#[test]
fn ids_that_a_url_cannot_contain_are_refused_on_a_server() {
    let server = Server::start();
    let cli = Cli::with_server(&server);
    prepare(&cli);
    let authors = r#"[{"id":".","name":"Dot"},{"id":"schedule","name":"S"}]"#;
    cli.run_with(&["import", "author", "-"], authors).ok();
    for command in ["schedule remove author .", "object get author ..", "object versions author ."]
    {
        cli.run_line(command).exits(6).stderr_contains("--data");
    }
    assert_eq!(json_of(&cli, "object get author schedule --json")["name"], "S");
}

#[test]
fn objects_are_validated_on_both_targets() {
    on_both_targets(|cli| {
        prepare(cli);
        cli.write("new.json", r#"{"pages": "3"}"#);
        cli.write("good.yaml", "name: Bob\n");
        cli.write("link.yaml", "author: none\n");
        cli.write("pages.yaml", "pages: 4\n");
        let before = json_of(cli, "object list author --json");
        let errors = "error: the data is not valid\n  name: The property name is required\n  \
                      pages: String value found, but a number is required\n";
        for (command, exit, error) in [
            ("object validate author new.json", 6, errors),
            ("object validate author good.yaml", 0, "the object is valid\n"),
            ("object validate author pages.yaml --id ada --patch", 0, "the object is valid\n"),
            ("object validate author new.json --id none", 4, "object \"author/none\" not found"),
            ("object validate author pages.yaml --patch", 6, "id: The property id is required"),
            ("object validate post link.yaml", 6, "This value does not exist in database"),
            ("object create author new.json --dry-run", 6, errors),
            ("object create author good.yaml --dry-run", 0, "would create an object"),
            ("object update author ada new.json --dry-run", 6, errors),
            ("object update author ada pages.yaml --patch --dry-run", 0, "would update author/ada"),
        ] {
            let output = cli.run_line(command);
            assert_eq!(output.exit, exit, "{command}: {}", output.stderr);
            assert!(output.stderr.contains(error), "{command}: {}", output.stderr);
        }
        assert_eq!(json_of(cli, "object list author --json"), before);
    });
}

#[test]
fn incoming_links_are_listed_on_both_targets() {
    on_both_targets(|cli| {
        prepare(cli);
        let linking = json!([{
            "contentType": "post", "id": "a", "objectTitle": "", "properties": ["author"],
            "current": true, "published": true,
        }]);
        assert_eq!(json_of(cli, "object incoming author ada --json"), linking);
        assert_eq!(json_of(cli, "object incoming post b --json"), json!([]));
        let table = cli.run(&["object", "incoming", "author", "ada"]).ok();
        let row = "post  a          [\"author\"]  true     true\n";
        assert_eq!(table, format!("TYPE  ID  TITLE  PROPERTIES  CURRENT  PUBLISHED\n{row}"));
    });
}

#[test]
fn ids_from_standard_input_keep_their_spaces() {
    on_both_targets(|cli| {
        prepare(cli);
        let output = cli.run_with(&["object", "delete", "post", "-", "--yes"], "b \n\n \r\n");
        output.exits(4).stderr_contains("refused b : not found");
        assert_eq!(json_of(cli, "object list post --field id --json").as_array().unwrap().len(), 2);
        let output = cli.run_with(&["object", "delete", "post", "-", "--yes"], "a\r\n\nb");
        output.exits(0).prints("deleted 2, refused 0\n");
    });
}

/// Formats for programs contain the stored values; tables for people leave control characters out.
#[test]
fn control_characters_are_printed_unchanged() {
    on_both_targets(|cli| {
        prepare(cli);
        let name = "\u{1b}[31mred\u{1b}[0m\u{7f}\u{9b}2J";
        let row = json!({ "id": "ada", "name": name });
        cli.run_with(&["import", "author", "-", "--update-existing"], &row.to_string()).ok();
        let list = |format: &str| cli.run(&["object", "list", "author", "-o", format]).ok();
        assert_eq!(list("csv"), format!("id,name,pages\nada,{name},\n"));
        let object: Value = serde_json::from_str(&list("ndjson")).unwrap();
        assert_eq!(object["name"], name);
        let table = cli.run(&["object", "list", "author", "--field", "name"]).ok();
        assert!(!table.contains('\u{1b}'), "{table}");
    });
}
