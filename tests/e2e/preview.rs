//! `cms preview` on both targets.

use serde_json::Value;

use super::support::{Cli, Server, on_both_targets};

const PROJECT: &str = "\
version: 1
contentTypes:
  - name: post
    draftPublic: true
    properties: {title: {type: text}}
    admin: {previewUrl: '/preview/{id}?t={token}'}
  - name: author
    properties: {name: {type: text}}
";

fn prepare(cli: &Cli) {
    cli.apply("project.yaml", PROJECT);
    cli.run_with(&["import", "post", "-"], "[{\"id\":\"a b\",\"title\":\"Draft\"}]").ok();
    cli.run_with(&["import", "author", "-"], "[{\"id\":\"ada\"}]").ok();
}

#[test]
fn preview_prints_the_url_or_the_token_on_both_targets() {
    on_both_targets(|cli| {
        prepare(cli);
        let url = cli.run(&["preview", "post", "a b"]).ok();
        let (page, token) = url.trim_end().split_once("?t=").unwrap();
        assert!(page.starts_with("http://127.0.0.1:") && page.ends_with("/preview/a%20b"), "{url}");
        assert!(token.starts_with("pv_"), "{url}");
        let printed = cli.run(&["preview", "author", "ada"]).ok();
        assert!(printed.starts_with("pv_") && printed.lines().count() == 1, "{printed}");
        let json: Value = cli.run(&["preview", "author", "ada", "--json"]).exits(0).json();
        assert_eq!((&json["url"], &json["embeddable"]), (&Value::Null, &Value::Bool(false)));
        let dry = cli.run(&["preview", "post", "a b", "--dry-run"]);
        assert_eq!((dry.exit, dry.stdout.as_str()), (0, ""));
        for (content_type, id) in [("post", "b"), ("nothing", "b")] {
            cli.run(&["preview", content_type, id]).exits(4);
        }
    });
}

/// A server accepts a preview token that a command on its data directory created.
#[test]
fn preview_token_of_a_data_directory_works_on_its_server() {
    let cli = Cli::with_data();
    prepare(&cli);
    let url = cli.run(&["preview", "post", "a b", "--public-url", "https://a.example"]).ok();
    let (page, token) = url.trim_end().split_once("?t=").unwrap();
    assert_eq!(page, "https://a.example/preview/a%20b");
    let server = Server::start_in(&cli.path(""), &[]);
    let holder = Cli::with_key(&server, token);
    let draft = holder.run(&["object", "list", "post", "--json"]).ok();
    assert!(draft.contains("\"a b\""), "{draft}");
    holder.run(&["key", "list"]).exits(3);
    let refused = Cli::with_server(&server).run(&[
        "preview",
        "post",
        "a b",
        "--public-url",
        "https://a.example",
    ]);
    refused.exits(2);
}
