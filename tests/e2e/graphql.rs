//! Schemas and queries of GraphQL: on a folder and on a server.

use serde_json::{Value, json};

use super::support::{Place, Ran, Server};

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

/// The same content in both kinds of places: a published and a drafted piece of news.
fn places(server: &Server) -> [Place; 2] {
    let places = [Place::with_data(), Place::with_server(server)];
    for place in &places {
        place.write("types.yaml", TYPES);
        place.write("authors.ndjson", "{\"id\":\"ann\",\"name\":\"Ann\"}\n");
        place.write("news.ndjson", NEWS);
        place.write("named.graphql", NAMED);
        place.write("wrong.graphql", WRONG);
        for command in [
            "ctd apply types.yaml",
            "import author authors.ndjson",
            "import news news.ndjson",
            "publish news spring",
        ] {
            place.run(&command.split(' ').collect::<Vec<_>>()).ok();
        }
    }
    places
}

fn graphql(place: &Place, arguments: &[&str]) -> Ran {
    place.run(&[&["graphql"], arguments].concat())
}

fn asked(place: &Place, query: &str, arguments: &[&str]) -> Ran {
    place.run_with(&[&["graphql", "query", "-"], arguments].concat(), query)
}

fn answer(ran: Ran) -> Value {
    serde_json::from_str(&ran.ok()).unwrap()
}

#[test]
fn schemas_are_those_of_the_version_that_is_asked_for() {
    let server = Server::start();
    let [folder, remote] = places(&server);
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
fn queries_are_answered_as_they_are_asked() {
    let server = Server::start();
    for place in places(&server) {
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
        for (arguments, wanted) in table {
            let arguments = [&["query", "named.graphql"], arguments].concat();
            assert_eq!(answer(graphql(&place, &arguments)), *wanted, "{arguments:?}");
        }
        let variables = ["--operation", "One", "--variables", r#"{"id":"SPRING"}"#];
        assert_eq!(answer(asked(&place, NAMED, &variables)), one);
        let connection = "{ news { totalCount } }";
        let wanted = json!({ "data": { "news": { "totalCount": 1 } } });
        assert_eq!(answer(asked(&place, connection, &["--v2"])), wanted);
        assert_eq!(
            asked(&place, connection, &["--v2", "-o", "ndjson"]).ok(),
            format!("{wanted}\n")
        );
    }
}

#[test]
fn what_goes_wrong_is_told_with_its_place() {
    let server = Server::start();
    for place in places(&server) {
        let missing = asked(&place, "{ news(id: \"autumn\") { id } }", &[]);
        let body: Value = serde_json::from_str(&missing.stdout).unwrap();
        assert_eq!((missing.exit, &body["data"]["news"]), (4, &Value::Null));
        assert_eq!(body["errors"][0]["extensions"]["code"], "NOT_FOUND");

        let wrong = graphql(&place, &["query", "wrong.graphql"]);
        assert_eq!((wrong.exit, wrong.stdout.as_str()), (6, ""));
        let place_and_reason = "wrong.graphql:3:5: Cannot query field \"nope\" on type \"news\".";
        assert!(wrong.stderr.contains(place_and_reason), "{}", wrong.whole());
        let wrong = graphql(&place, &["query", "wrong.graphql", "--json"]);
        let body: Value = serde_json::from_str(&wrong.stdout).unwrap();
        assert_eq!((wrong.exit, &body["errors"][0]["locations"][0]["line"]), (6, &json!(3)));

        let several = graphql(&place, &["query", "named.graphql"]);
        assert!(several.exit == 6 && several.stderr.contains("Must provide operation name"));
        assert_eq!(graphql(&place, &["query", "nosuch.graphql"]).exit, 2);
        assert_eq!(graphql(&place, &["query", "named.graphql", "--variables", "[]"]).exit, 2);
    }
}

#[test]
fn a_server_answers_those_it_knows() {
    let server = Server::start();
    let stranger = Place::with_key(&server, "unknown");
    assert_eq!(graphql(&stranger, &["schema"]).exit, 3);
    assert_eq!(asked(&stranger, "{ __typename }", &[]).exit, 3);
    assert_eq!(graphql(&Place::empty(), &["schema"]).exit, 2);
    let nowhere = Place::with_data();
    assert_eq!(graphql(&nowhere, &["schema"]).exit, 4, "reading makes no folder");
}
