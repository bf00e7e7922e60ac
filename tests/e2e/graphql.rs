//! GraphQL schemas and queries on both targets.

use serde_json::{Value, json};

use super::support::{Cli, CommandOutput, Server, both_targets};

const TYPES: &str = "version: 1
contentTypes:
  - name: author
    properties: {name: {type: text, required: true, titlePart: true}}
  - name: news
    draftPublic: true
    properties:
      title: {type: text, required: true, titlePart: true}
      author: {type: datasource, to: author}
";

const NEWS: &str = r#"{"id":"spring","title":"Spring","author":[{"type":"internal","dataUrl":"/api/v1/content/author/ann"}]}
{"id":"autumn","title":"Autumn"}
"#;

const NAMED: &str = "query One($id: String = \"spring\") {
  news(id: $id) { title author { name } }
}
query All { newsList(order_by: \"title\") { id } }
";

const WRONG: &str = "{ newsList {\n    id\n    nope\n  }\n}\n";

/// The same content in both targets: a published and an unpublished `news` object.
fn targets(server: &Server) -> [Cli; 2] {
    let targets = both_targets(server);
    for cli in &targets {
        cli.write("types.yaml", TYPES);
        cli.write("authors.ndjson", "{\"id\":\"ann\",\"name\":\"Ann\"}\n");
        cli.write("news.ndjson", NEWS);
        cli.write("named.graphql", NAMED);
        cli.write("wrong.graphql", WRONG);
        for command in [
            "ctd apply types.yaml",
            "import author authors.ndjson",
            "import news news.ndjson",
            "publish news spring",
        ] {
            cli.run_line(command).ok();
        }
    }
    targets
}

fn graphql(cli: &Cli, arguments: &[&str]) -> CommandOutput {
    cli.run(&[&["graphql"], arguments].concat())
}

fn query(cli: &Cli, query: &str, arguments: &[&str]) -> CommandOutput {
    cli.run_with(&[&["graphql", "query", "-"], arguments].concat(), query)
}

fn response(output: &CommandOutput) -> Value {
    output.exits(0).json()
}

#[test]
fn schemas_are_printed_for_the_requested_version() {
    let server = Server::start();
    let [folder, remote] = targets(&server);
    for (arguments, part, other) in [
        (&["schema"][..], "newsList(page: Int", "newsConnection"),
        (&["schema", "--v2"], "type newsConnection", "newsList"),
    ] {
        let sdl = graphql(&folder, arguments).ok();
        assert!(sdl.contains(part) && !sdl.contains(other), "{sdl}");
        assert_eq!(graphql(&remote, arguments).ok(), sdl);
    }
}

#[test]
fn queries_run_from_arguments_files_and_standard_input() {
    let server = Server::start();
    for cli in targets(&server) {
        let one =
            json!({ "data": { "news": { "title": "Spring", "author": [{ "name": "Ann" }] } } });
        let all = json!({ "data": { "newsList": [{ "id": "spring" }] } });
        let everything =
            json!({ "data": { "newsList": [{ "id": "autumn" }, { "id": "spring" }] } });
        let table: [(&[&str], &Value); 3] = [
            (&["--operation", "One"], &one),
            (&["--operation", "All"], &all),
            (&["--operation", "All", "--preview"], &everything),
        ];
        for (arguments, expected) in table {
            let arguments = [&["query", "named.graphql"], arguments].concat();
            assert_eq!(response(&graphql(&cli, &arguments)), *expected, "{arguments:?}");
        }
        let variables = ["--operation", "One", "--variables", r#"{"id":"SPRING"}"#];
        assert_eq!(response(&query(&cli, NAMED, &variables)), one);
        let connection = "{ news { totalCount } }";
        let expected = json!({ "data": { "news": { "totalCount": 1 } } });
        assert_eq!(response(&query(&cli, connection, &["--v2"])), expected);
        assert_eq!(
            query(&cli, connection, &["--v2", "-o", "ndjson"]).ok(),
            format!("{expected}\n")
        );
    }
}

#[test]
fn query_errors_are_reported_with_line_and_column() {
    let server = Server::start();
    for cli in targets(&server) {
        let missing = query(&cli, "{ news(id: \"autumn\") { id } }", &[]);
        let body: Value = missing.json();
        assert_eq!((missing.exit, &body["data"]["news"]), (4, &Value::Null));
        assert_eq!(body["errors"][0]["extensions"]["code"], "NOT_FOUND");

        let wrong = graphql(&cli, &["query", "wrong.graphql"]);
        assert_eq!((wrong.exit, wrong.stdout.as_str()), (6, ""));
        let position_and_reason =
            "wrong.graphql:3:5: Cannot query field \"nope\" on type \"news\".";
        wrong.stderr_contains(position_and_reason);
        let wrong = graphql(&cli, &["query", "wrong.graphql", "--json"]);
        let body: Value = wrong.json();
        assert_eq!((wrong.exit, &body["errors"][0]["locations"][0]["line"]), (6, &json!(3)));

        let several = graphql(&cli, &["query", "named.graphql"]);
        assert!(several.exit == 6 && several.stderr.contains("Must provide operation name"));
        assert_eq!(graphql(&cli, &["query", "nosuch.graphql"]).exit, 2);
        assert_eq!(graphql(&cli, &["query", "named.graphql", "--variables", "[]"]).exit, 2);
    }
}

#[test]
fn queries_need_a_valid_key_and_an_existing_target() {
    let server = Server::start();
    let stranger = Cli::with_key(&server, "unknown");
    assert_eq!(graphql(&stranger, &["schema"]).exit, 3);
    assert_eq!(query(&stranger, "{ __typename }", &[]).exit, 3);
    assert_eq!(graphql(&Cli::empty(), &["schema"]).exit, 2);
    let nowhere = Cli::with_data();
    assert_eq!(graphql(&nowhere, &["schema"]).exit, 4, "a read creates no directory");
}
