//! Ids in place of links, in files of objects.

use serde_json::{Value, json};

use super::{
    cli_guide::blocks,
    support::{Cli, Server, both_targets, link, on_both_targets},
};

const PROJECT: &str = "\
version: 1
contentTypes:
  - name: author
    properties: {name: {type: text}}
  - name: post
    properties:
      author: {type: datasource, to: author}
      others: {type: datasource, to: author, many: true}
      any: {type: datasource, many: true}
      next: {type: datasource, to: post}
      list: {type: object, items: {person: {type: datasource, to: author}}}
";

/// Applies the types, and creates the authors `ada` and `bob c`.
fn prepare(cli: &Cli) {
    cli.apply("project.yaml", PROJECT);
    cli.run_with(&["import", "author", "-"], "[{\"id\":\"ada\"},{\"id\":\"bob c\"}]").ok();
}

/// An object with its properties only.
fn stored(cli: &Cli, id: &str) -> Value {
    let printed = cli.run(&["object", "get", "post", id, "--json"]).ok();
    let mut object: Value = serde_json::from_str(&printed).unwrap();
    object.as_object_mut().unwrap().remove("internal");
    object
}

#[test]
fn short_links_are_completed_on_both_targets() {
    on_both_targets(|cli| {
        prepare(cli);
        let both = [link("author", "ada")[0].clone(), link("author", "bob%20c")[0].clone()];
        cli.write(
            "a.yaml",
            "id: a\nauthor: ada\nothers: [ada, bob c]\nlist: [{person: ada}, {person: ''}]\n",
        );
        cli.run(&["object", "create", "post", "a.yaml"]).ok();
        let list = json!([{ "person": link("author", "ada") }, { "person": [] }]);
        let wanted = json!({
            "id": "a", "author": link("author", "ada"), "others": both, "list": list,
        });
        assert_eq!(stored(cli, "a"), wanted);

        cli.write("change.json", r#"{"author": "bob c", "others": ""}"#);
        cli.run(&["object", "update", "post", "a", "change.json", "--patch"]).ok();
        let changed = stored(cli, "a");
        assert_eq!([&changed["author"], &changed["others"]], [&json!([both[1]]), &json!([])]);
        cli.write("whole.json", r#"{"author": "/api/v1/content/author/ada"}"#);
        cli.run(&["object", "update", "post", "a", "whole.json"]).ok();
        assert_eq!(stored(cli, "a"), json!({ "id": "a", "author": link("author", "ada") }));

        // Links to later rows are set after these rows exist, also links in the short form.
        let rows =
            "{\"id\":\"b\",\"next\":\"c\",\"author\":\"ada\"}\n{\"id\":\"c\",\"next\":[\"b\"]}\n";
        cli.run_with(&["import", "post", "-"], rows).ok();
        assert_eq!(stored(cli, "b")["next"], link("post", "c"));
        assert_eq!(stored(cli, "c")["next"], link("post", "b"));
        let unchanged = cli.run_with(&["import", "post", "-", "--update-existing"], rows).ok();
        assert_eq!(unchanged, "created 0, updated 0, unchanged 2, refused 0\n");
        cli.write("rows.csv", "id,others,any\nd,ada; bob c,/api/v1/content/author/ada\n");
        cli.run(&["import", "post", "rows.csv"]).ok();
        let wanted = json!({ "id": "d", "others": both, "any": link("author", "ada") });
        assert_eq!(stored(cli, "d"), wanted);
    });
}

#[test]
fn short_link_without_a_target_type_is_refused_before_the_request() {
    const MESSAGE: &str =
        "This value needs a link with type and dataUrl: the relation allows every content type";
    on_both_targets(|cli| {
        prepare(cli);
        cli.write("a.json", r#"{"id": "a", "any": "ada", "unknown": 1}"#);
        for arguments in [
            &["object", "create", "post", "a.json"] as &[&str],
            &["object", "create", "post", "a.json", "--dry-run"],
            &["object", "update", "post", "a", "a.json"],
        ] {
            let output = cli.run(arguments);
            output.exits(6);
            // The target would report the unknown property too.
            let errors = format!("\n  any: {MESSAGE}\n");
            assert!(output.stderr.ends_with(&errors), "{}", output.transcript());
        }
        let rows = "{\"id\":\"a\",\"any\":[\"ada\"]}\n{\"id\":\"b\",\"author\":\"ada\"}\n";
        let output = cli.run_with(&["import", "post", "-", "--json"], rows);
        let report: Value = output.json();
        let errors = json!({ "any[0]": [MESSAGE] });
        let refusal =
            json!({ "contentType": "post", "place": "<stdin>:1", "id": "a", "errors": errors });
        assert_eq!((output.exit, &report["refusals"]), (7, &json!([refusal])));
        assert_eq!((&report["created"], &report["refused"]), (&json!(1), &json!(1)));
    });
}

#[test]
fn short_links_of_the_guide_are_completed() {
    let server = Server::start();
    for cli in both_targets(&server) {
        let blocks = blocks("yaml");
        let block = |name: &str| {
            let text = blocks.iter().find(|block| block.starts_with(&format!("# {name}\n")));
            cli.write(name, text.unwrap());
        };
        block("reviews.yaml");
        block("rows-of-reviews.yaml");
        cli.run(&["ctd", "apply", "reviews.yaml"]).ok();
        cli.run_with(&["import", "critic", "-"], "{\"id\":\"ada\"}\n{\"id\":\"bob\"}\n").ok();
        let imported = cli.run(&["import", "review", "rows-of-reviews.yaml"]).ok();
        assert_eq!(imported, "created 2, updated 0, unchanged 0, refused 0\n");
    }
}
