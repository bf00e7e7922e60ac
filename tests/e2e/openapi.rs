//! The OpenAPI document: the same on both targets, and a client generated from it works.

use std::{fs, path::Path, process::Command};

use super::support::{Cli, Server, both_targets, fixtures};

const NEWS: &str = "\
version: 1
contentTypes:
  - name: news
    draftPublic: true
    properties:
      title: {type: text, required: true, titlePart: true}
      tags: {type: datasource, to: _tag, many: true}
";

#[test]
fn document_is_the_same_on_both_targets() {
    let server = Server::start();
    let targets = both_targets(&server);
    let project = fixtures().join("project.yaml");
    for cli in &targets {
        cli.run(&["ctd", "apply", project.to_str().unwrap()]).ok();
    }
    let folder = |arguments: &[&str]| {
        let public_url = ["--public-url", server.url.as_str()];
        targets[0].run(&[&["openapi"], arguments, &public_url].concat()).ok()
    };
    for arguments in [
        &[][..],
        &["--version", "3.1", "--hydrate"],
        &["--version", "2", "--user-only"],
        &["--hydrate", "--user-only"],
        &["--management", "--user-only", "--version", "3.1"],
    ] {
        let remote = targets[1].run(&[&["openapi"], arguments].concat()).ok();
        assert!(remote.contains(server.url.trim_start_matches("http://")), "{arguments:?}");
        assert!(folder(arguments) == remote, "{arguments:?}");
    }
    let file = ["-o", "api.json"];
    let output = targets[1].run(&[&["openapi"], &file[..]].concat());
    assert_eq!((output.stdout.as_str(), output.exit), ("", 0), "{}", output.transcript());
    assert_eq!(fs::read_to_string(targets[1].path("api.json")).unwrap(), folder(&[]));

    let default = targets[0].run(&["openapi"]).ok();
    assert!(default.contains("\"url\": \"http://127.0.0.1:8080\""));
    for wrong in [&["--version", "4"][..], &["--public-url", "cms.example"]] {
        assert_eq!(targets[0].run(&[&["openapi"], wrong].concat()).exit, 2, "{wrong:?}");
    }
    let elsewhere = ["openapi", "--public-url", "http://cms.example"];
    assert_eq!(targets[1].run(&elsewhere).exit, 2);
}

/// Needs Node and the packages of `tests/openapi`, see CONTRIBUTING.md.
#[test]
fn generated_client_works() {
    let scripts = fixtures().join("../tests/openapi");
    let node = Command::new("node").arg("--version").output();
    if !node.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: Node is not installed");
        return;
    }
    if !scripts.join("node_modules").exists() {
        eprintln!("skipped: no packages; run `npm ci` in tests/openapi");
        return;
    }
    let cli = Cli::empty();
    cli.write("news.yaml", NEWS);
    let server = Server::start_in(&cli.path(""), &["--apply", "news.yaml"]);
    let folder = cli.path("generated");
    fs::create_dir(&folder).unwrap();
    let output = Command::new("node")
        .arg(scripts.join("client.mjs"))
        .args([server.url.as_str(), server.key.as_str()])
        .arg(Path::new(&folder))
        .output()
        .unwrap();
    let printed = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&printed));
}
