//! `cms whoami` and `cms status` on both targets, with a scoped key, a wrong key and a stopped server.

use serde_json::{Value, json};

use tempfile::TempDir;

use super::support::{Cli, Server, on_both_targets};

const PROJECT: &str = "\
version: 1
contentTypes:
  - name: page
    properties: {title: {type: text}}
  - name: note
    properties: {title: {type: text}}
";

fn prepare(cli: &Cli) {
    cli.write("project.yaml", PROJECT);
    cli.write("pages.ndjson", "{\"title\":\"a\"}\n{\"title\":\"b\"}\n");
    cli.run(&["ctd", "apply", "project.yaml"]).ok();
    cli.run(&["import", "page", "pages.ndjson"]).ok();
}

fn json_of(cli: &Cli, command: &str) -> Value {
    cli.run(&[command, "--json"]).exits(0).json()
}

#[test]
fn both_targets_show_rights_and_numbers() {
    on_both_targets(|cli| {
        prepare(cli);
        let rights = &json_of(cli, "whoami")["rights"];
        assert_eq!(rights["admin"], json!(true), "{rights}");
        assert_eq!(rights["contentTypes"]["page"], json!("crud"), "{rights}");
        cli.run(&["whoami"]).exits(0);

        for _ in 0..2 {
            let status = json_of(cli, "status");
            assert_eq!(status["version"], json!(env!("CARGO_PKG_VERSION")), "{status}");
            assert_eq!(status["ready"], json!(true), "{status}");
            assert_eq!(status["parts"]["index"], json!("ok"), "{status}");
            let types = status["contentTypes"].as_array().unwrap();
            assert!(types.contains(&json!({"name": "page", "objects": 2})), "{status}");
            assert!(types.contains(&json!({"name": "note", "objects": 0})), "{status}");
        }
        let table = cli.run(&["status"]).ok();
        assert!(table.contains("2 objects of "), "{table}");
    });
}

#[test]
fn scoped_key_sees_its_own_rights_and_types() {
    let server = Server::start();
    let admin = Cli::with_server(&server);
    prepare(&admin);
    let created = admin.run(&[
        "key", "create", "web", "--kind", "scoped", "--rule", "page:r", "--rule", "note:c",
        "--json",
    ]);
    let created: Value = created.exits(0).json();
    let scoped = Cli::with_key(&server, created["key"].as_str().unwrap());
    let table = scoped.run(&["whoami"]).ok();
    for part in ["web", "scoped", "page"] {
        assert!(table.contains(part), "{table}");
    }
    let rights = &json_of(&scoped, "whoami")["rights"];
    assert_eq!(rights["contentTypes"], json!({"note": "c", "page": "r"}), "{rights}");
    let status = json_of(&scoped, "status");
    assert_eq!(status["contentTypes"], json!([{"name": "page", "objects": 2}]), "{status}");
}

#[test]
fn missing_directory_and_missing_target_are_errors() {
    for command in ["whoami", "status"] {
        Cli::with_data().run(&[command]).exits(4);
        Cli::empty().run(&[command]).exits(2);
    }
}

#[test]
fn configured_key_is_read_without_the_line_break_of_its_file() {
    let folder = TempDir::new().unwrap();
    let key = "a-key-from-a-secret-file";
    let variable = [("CMS_RW_KEY", format!("{key}\n"))];
    let server = Server::start_with_variables(folder.path(), &[], &variable);
    Cli::with_key(&server, key).run(&["whoami"]).exits(0);
}
