//! The walk in docs/cli.md is what `cms` prints: its files are written, its commands are run, and the
//! page is compared with what came out. `UPDATE_DOCS=1` writes that into the page instead.

use std::{env, fmt::Write as _, fs, path::PathBuf};

use super::support::{Place, Server, masked};

const HEADING: &str = "### A walk through changes\n";

/// The page, cut before the walk and behind it.
fn page() -> (PathBuf, [String; 3]) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/cli.md");
    let text = fs::read_to_string(&path).unwrap();
    let start = text.find(HEADING).expect("the page has the walk");
    let end = start + text[start..].find("\n## ").expect("something follows the walk");
    (path, [&text[..start], &text[start..end], &text[end..]].map(str::to_owned))
}

/// Takes the walk at a place; returns it with what the commands print there.
fn taken(walk: &str, place: &Place) -> String {
    let mut taken = String::new();
    let mut blocks = walk.split("```");
    while let Some(prose) = blocks.next() {
        taken.push_str(prose);
        let Some(block) = blocks.next() else { break };
        taken.push_str("```");
        if let Some(file) = block.strip_prefix("yaml\n# ") {
            let (name, text) = file.split_once('\n').unwrap();
            place.write(name, text);
            taken.push_str(block);
        } else {
            taken.push_str("console\n");
            for command in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
                let wanted =
                    command.split_once("# exit ").map_or(0, |(_, exit)| exit.parse().unwrap());
                let (exit, printed) = place.shell(command);
                assert_eq!(exit, wanted, "$ {command}\n{printed}");
                writeln!(taken, "$ {command}\n{printed}").unwrap();
                taken.truncate(taken.trim_end().len());
                taken.push('\n');
            }
        }
        taken.push_str("```");
    }
    taken
}

/// The place is all that may differ.
fn comparable(walk: &str) -> String {
    let lines =
        walk.lines().map(|line| if line.starts_with("target: ") { "target:" } else { line });
    masked(&lines.collect::<Vec<_>>().join("\n"))
}

#[test]
#[expect(clippy::disallowed_methods, reason = "how a run of the tests is told to rewrite the page")]
fn the_walk_is_what_the_binary_prints() {
    let (path, [before, walk, behind]) = page();
    assert!(walk.matches("\n$ cms ").count() > 15, "the walk is cut short");
    let folder = Place::with_variables(vec![("CMS_DATA", "shelf".to_owned())]);
    let on_folder = taken(&walk, &folder);
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(path, [before, on_folder, behind].concat()).unwrap();
        return;
    }
    assert_eq!(
        comparable(&walk),
        comparable(&on_folder),
        "UPDATE_DOCS=1 brings the page up to date"
    );

    let server = Server::start();
    let variables = vec![("CMS_SERVER", server.url.clone()), ("CMS_KEY", server.key.clone())];
    let on_server = taken(&walk, &Place::with_variables(variables));
    assert_eq!(comparable(&walk), comparable(&on_server), "a server says something else");
}
