//! The walkthrough in docs/cli.md: its files are written, its commands are run, and the page is
//! compared with the output. `UPDATE_DOCS=1` writes the output into the page instead.

use std::{env, fmt::Write as _, fs, path::PathBuf};

use super::support::{Cli, Server, masked};

const HEADING: &str = "### A walk through changes\n";

/// The page in three parts: before, in and after the walkthrough.
fn page() -> (PathBuf, [String; 3]) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/cli.md");
    let text = fs::read_to_string(&path).unwrap();
    let start = text.find(HEADING).expect("the page has the walkthrough");
    let end = start + text[start..].find("\n## ").expect("a heading follows the walkthrough");
    (path, [&text[..start], &text[start..end], &text[end..]].map(str::to_owned))
}

/// Runs the walkthrough on a target; returns it with the output of its commands.
fn run_walkthrough(walkthrough: &str, cli: &Cli) -> String {
    let mut updated = String::new();
    let mut blocks = walkthrough.split("```");
    while let Some(prose) = blocks.next() {
        updated.push_str(prose);
        let Some(block) = blocks.next() else { break };
        updated.push_str("```");
        if let Some(file) = block.strip_prefix("yaml\n# ") {
            let (name, text) = file.split_once('\n').unwrap();
            cli.write(name, text);
            updated.push_str(block);
        } else {
            updated.push_str("console\n");
            for command in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
                let expected =
                    command.split_once("# exit ").map_or(0, |(_, exit)| exit.parse().unwrap());
                let (exit, printed) = cli.shell(command);
                assert_eq!(exit, expected, "$ {command}\n{printed}");
                writeln!(updated, "$ {command}\n{printed}").unwrap();
                updated.truncate(updated.trim_end().len());
                updated.push('\n');
            }
        }
        updated.push_str("```");
    }
    updated
}

/// The walkthrough without names of targets, ids, keys and times: only these may differ.
fn comparable(walkthrough: &str) -> String {
    let lines =
        walkthrough.lines().map(|line| if line.starts_with("target: ") { "target:" } else { line });
    masked(&lines.collect::<Vec<_>>().join("\n"))
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the variable makes the test rewrite the page")]
fn walkthrough_matches_the_output_of_the_binary() {
    let (path, [before, walkthrough, after]) = page();
    assert!(walkthrough.matches("\n$ cms ").count() > 15, "the walkthrough is too short");
    let folder = Cli::with_variables(vec![("CMS_DATA", "shelf".to_owned())]);
    let on_folder = run_walkthrough(&walkthrough, &folder);
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(path, [before, on_folder, after].concat()).unwrap();
        return;
    }
    assert_eq!(comparable(&walkthrough), comparable(&on_folder), "UPDATE_DOCS=1 updates the page");

    let server = Server::start();
    let variables = vec![("CMS_SERVER", server.url.clone()), ("CMS_KEY", server.key.clone())];
    let on_server = run_walkthrough(&walkthrough, &Cli::with_variables(variables));
    assert_eq!(comparable(&walkthrough), comparable(&on_server), "the output of a server differs");
}
