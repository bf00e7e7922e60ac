//! The examples of the guide, docs/cli.md, work as printed.

use std::{fs, path::Path, process::Command};

use super::support::{Cli, fixtures};

/// The blocks of one language in the guide.
pub(crate) fn blocks(language: &str) -> Vec<String> {
    blocks_of("cli.md", language)
}

fn blocks_of(page: &str, language: &str) -> Vec<String> {
    let text = fs::read_to_string(fixtures().join("../docs").join(page)).unwrap();
    let fence = format!("```{language}\n");
    let blocks = text.split(&fence).skip(1);
    blocks.map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

/// Runs a block in a shell that stops at the first command that fails; returns its output.
fn shell(cli: &Cli, script: &str) -> String {
    let binaries = Path::new(env!("CARGO_BIN_EXE_cms")).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", binaries.display());
    let output = Command::new("sh")
        .args(["-ec", script])
        .current_dir(cli.path(""))
        .env_clear()
        .env("PATH", path)
        .env("CMS_DATA", "data")
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{script}\n{stderr}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn guide_commands_print_what_the_guide_shows() {
    let cli = Cli::with_data();
    let blocks = blocks("sh");
    let publishing = blocks.iter().find(|block| block.contains("cms publish")).unwrap();
    // Not every machine has jq.
    let script = publishing.replace("jq -r .id", r#"sed -E 's/^\{"id":"([^"]*)".*/\1/'"#);
    assert_ne!(&script, publishing);
    // More objects than a page of a list contains.
    let rows: Vec<_> = (0..30).map(|n| format!("{{\"id\":\"n{n}\"}}\n")).collect();
    cli.write("rows.ndjson", &rows.concat());
    let script = script.replacen("cms publish", "cms import news rows.ndjson\ncms publish", 1);
    let printed = shell(&cli, &script);
    assert!(printed.contains("published 32, refused 0\n"), "{printed}");

    let keys = blocks.iter().find(|block| block.contains("cms key create")).unwrap();
    shell(&cli, keys);
}

#[test]
fn users_guide_commands_run() {
    let cli = Cli::with_data();
    cli.initialize();
    for block in blocks_of("users.md", "sh") {
        shell(&cli, &block);
    }
    let users: serde_json::Value = cli.run(&["user", "list", "--json"]).exits(0).json();
    assert_eq!(users.as_array().unwrap().len(), 3);
}

#[test]
fn guide_media_are_uploaded_and_fetched() {
    let cli = Cli::with_data();
    let media = fixtures().join("media");
    cli.write("logo.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\"/>");
    for (name, file) in [("photos/a.jpg", "still.jpg"), ("scans/1/b.png", "still.png")] {
        cli.write(name, "");
        fs::copy(media.join(file), cli.path(name)).unwrap();
    }
    let blocks = blocks("sh");
    let script = blocks.iter().find(|block| block.contains("cms media upload")).unwrap();
    let (upload, get) = script.split_once("cms media get ID").unwrap();
    let printed = shell(&cli, upload);
    assert_eq!(printed.matches(" uploaded\n").count(), 3, "{printed}");
    assert_eq!(printed.matches(" existing\n").count(), 1, "{printed}");
    let svg = printed.lines().last().unwrap().split(',').next().unwrap();
    shell(&cli, &format!("cms media get {svg}{get}"));
    let fetched = fs::read(cli.path("harbour.jpg")).unwrap();
    assert_eq!(fetched, fs::read(cli.path("logo.svg")).unwrap());
}

#[test]
fn guide_searches_have_hits() {
    let cli = Cli::with_data();
    cli.import_example_site();
    let blocks = blocks("sh");
    let searches = blocks.iter().find(|block| block.contains("cms search")).unwrap();
    for line in searches.lines() {
        let printed = shell(&cli, line);
        assert!(printed.lines().count() > 1, "{line}\n{printed}");
    }
    assert!(searches.lines().count() > 5);
}

#[test]
fn guide_project_file_is_applied() {
    let cli = Cli::with_data();
    cli.write("project.yaml", &blocks("yaml")[0]);
    cli.write(
        "types/author.json",
        r#"{"name": "author", "properties": {"name": {"type": "text"}}}"#,
    );
    let applied = cli.run(&["ctd", "apply", "project.yaml"]).ok();
    assert!(applied.contains("plan: 4 to create, 0 to change, 0 to delete\nweb="), "{applied}");
    cli.run(&["ctd", "plan", "project.yaml", "--exit-code"]).exits(0);
}
