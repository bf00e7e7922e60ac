//! Rules on the source files (length, names, imports), as tests that read them.
//!
//! ARCHITECTURE.md and CONTRIBUTING.md explain most rules. Rules about code ignore comments and the
//! test module at the end of a file. Nothing here runs `cms`.

use std::{collections::BTreeSet, fs, path::PathBuf};

use super::links::files_below;

/// Maximum lines of a file without its test module, with it, and of a file of tests.
const MAX_CODE_LINES: usize = 500;
const MAX_FILE_LINES: usize = 600;
const MAX_TEST_LINES: usize = 800;

/// Packages that only some files may use, with the paths of these files; a path that ends in `/` is a
/// folder. `layers.rs` checks which crate may use a package at all.
const ALLOWED: &[(&str, &[&str])] = &[
    ("async_graphql", &["cms-core/model/src/graphql/", "cms-core/src/graphql/"]),
    ("regex_automata", &["cms-core/model/src/pattern/"]),
    ("regex_syntax", &["cms-core/model/src/pattern/"]),
    ("openidconnect", &["cms-server/src/openid/"]),
    (
        "reqwest",
        &[
            "cms-cli/src/target/",
            "cms-server/src/telemetry/trace.rs",
            "cms-server/src/background/",
            "cms-server/src/forward.rs",
            "cms-server/src/net/http_client.rs",
            "cms-server/src/openid/",
        ],
    ),
    (
        "tokio",
        &[
            "cms-server/src/",
            "cms-cli/src/commands/serve.rs",
            "cms-core/cluster/src/",
            "cms-core/media/src/storage.rs",
        ],
    ),
    ("tokio_postgres", &["cms-core/cluster/src/"]),
];

/// The services that call neither media nor webhooks: `cms-core/src/hooks.rs` does it for them.
const CONTENT: [&str; 2] = ["cms-core/src/content_type/", "cms-core/src/object/"];

/// Files and folders of the core that may contain async code, because they use an asynchronous library.
const ASYNC_PATHS: [&str; 3] =
    ["cms-core/cluster/src/", "cms-core/media/src/files.rs", "cms-core/media/src/storage.rs"];

/// Modules of the core that other crates may name, beside what it re-exports; all else is private.
const PUBLIC_MODULES: [&str; 2] = ["import", "testing"];

#[test]
fn packages_are_used_where_they_are_allowed() {
    let mut violations = Vec::new();
    for source in sources() {
        for (package, places) in ALLOWED {
            if !places.iter().any(|place| source.path.starts_with(place)) {
                violations.extend(source.lines_naming(&[package]));
            }
        }
    }
    none(&violations, "a package is used where it is not allowed");
}

#[test]
fn yaml_is_read_in_one_file() {
    let files: Vec<_> = sources()
        .into_iter()
        .filter(|source| !source.lines_naming(&["serde_yaml"]).is_empty())
        .map(|source| source.path)
        .collect();
    assert!(files.len() <= 1, "one file wraps serde_yaml, not {files:?}");
    assert!(files.iter().all(|file| file.starts_with("cms-cli/src/")), "{files:?}");
}

#[test]
fn services_import_lower_layers_only() {
    let mut violations = Vec::new();
    for source in sources() {
        if source.path.starts_with("cms-core/src/auth/") {
            violations.extend(source.lines_naming(&["Types", "Objects"]));
        }
        if source.path.starts_with("cms-core/src/content_type/") {
            violations.extend(source.lines_naming(&["Objects"]));
        }
        if CONTENT.iter().any(|folder| source.path.starts_with(folder)) {
            violations.extend(source.lines_naming(&[
                "Media",
                "Webhooks",
                "delivery_creator",
                "renders",
            ]));
            for call in [".media()", ".webhooks()", "crate::media", "crate::webhook"] {
                violations.extend(source.lines_with(call));
            }
        }
    }
    none(
        &violations,
        "the order of services is auth, content types, objects; then media, webhooks",
    );
}

#[test]
fn core_is_synchronous_and_reads_no_environment() {
    let mut violations = Vec::new();
    for source in sources().iter().filter(|s| s.path.starts_with("cms-core/")) {
        if !ASYNC_PATHS.iter().any(|place| source.path.starts_with(place)) {
            violations.extend(source.lines_naming(&["await"]));
            violations.extend(source.lines_with("async fn"));
        }
        violations.extend(source.lines_naming(&["stdout", "stderr", "stdin"]));
        // This module reads the settings of tests.
        if source.path != "cms-core/src/testing.rs" {
            violations.extend(source.lines_with("std::env"));
        }
    }
    none(&violations, "the core is a library: no async, no environment, no terminal");
}

#[test]
fn core_exports_only_its_public_modules() {
    let root = source("cms-core/src/lib.rs");
    let open: BTreeSet<_> = root
        .code()
        .filter_map(|(_, line)| line.trim().strip_prefix("pub mod ")?.strip_suffix(';'))
        .collect();
    let extra: Vec<_> = open.iter().filter(|name| !PUBLIC_MODULES.contains(name)).collect();
    assert!(extra.is_empty(), "other crates would see the inside of the core: {extra:?}");

    let mut violations = Vec::new();
    for source in sources().iter().filter(|s| !s.path.starts_with("cms-core/")) {
        violations.extend(source.lines_with("cms_core::testing"));
    }
    none(&violations, "`testing` is for tests");
}

/// A node finds its changed rows by the update hook of SQLite. So the store may not use statements for
/// which the hook is not called, or is called with a wrong key.
#[test]
fn statements_of_the_store_are_reported_by_the_update_hook() {
    let mut violations = Vec::new();
    let local = ["cms-core/store/src/retention.rs", "cms-core/store/src/cluster/"];
    for source in sources() {
        let is_store = source.path.starts_with("cms-core/store/src/");
        if !is_store || local.iter().any(|place| source.path.starts_with(place)) {
            continue;
        }
        for (number, line) in source.code() {
            // A quote or `;` after the name of the table ends the statement: it has no condition.
            let deletes_all = line.split("DELETE FROM ").skip(1).any(|rest| {
                let table = rest
                    .trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "_{}".contains(c));
                table.starts_with(['"', ';'])
            });
            let replaces = line.contains("OR REPLACE") || line.contains("REPLACE INTO");
            let moves = line.contains("SET pk =") || line.contains("UPDATE OR");
            if deletes_all || replaces || moves {
                violations.push(format!("{}:{number}: {}", source.path, line.trim()));
            }
        }
    }
    for migration in fs::read_dir(workspace().join("cms-core/store/migrations")).unwrap() {
        let path = migration.unwrap().path();
        if fs::read_to_string(&path).unwrap().contains("TRIGGER") {
            violations.push(path.display().to_string());
        }
    }
    none(&violations, "the other nodes of a cluster would not learn of these changes");
}

#[test]
fn files_are_short() {
    let mut violations = Vec::new();
    for source in all_rust_files() {
        let (code, total) = (source.code_end(), source.text.lines().count());
        let (limit, lines) = if source.is_test() {
            (MAX_TEST_LINES, total)
        } else if code > MAX_CODE_LINES {
            (MAX_CODE_LINES, code)
        } else {
            (MAX_FILE_LINES, total)
        };
        if lines > limit {
            violations.push(format!("{}: {lines} lines, at most {limit}", source.path));
        }
    }
    none(&violations, "a file is too long to be read in one go");
}

#[test]
fn modules_start_with_their_documentation() {
    let exempt = ["/tests.rs", "/build.rs"];
    let violations: Vec<_> = all_rust_files()
        .into_iter()
        .filter(|source| !exempt.iter().any(|name| source.path.ends_with(name)))
        .filter(|source| !source.text.starts_with("//!"))
        .map(|source| source.path)
        .collect();
    none(&violations, "a module does not start with a `//!` line");
}

#[test]
fn modules_have_specific_names() {
    let generic = ["util", "utils", "helper", "helpers", "common", "misc"];
    let violations: Vec<_> = all_rust_files()
        .into_iter()
        .filter(|source| {
            source.path.split('/').any(|part| generic.contains(&part.trim_end_matches(".rs")))
        })
        .map(|source| source.path)
        .collect();
    none(&violations, "the name of a module does not say what it contains");
}

#[test]
fn sources_contain_no_unfinished_code() {
    let marks = ["TODO", "FIXME", "XXX"];
    let mut violations = Vec::new();
    for source in sources() {
        for (number, line) in source.text.lines().enumerate() {
            if words(line).any(|word| marks.contains(&word)) {
                violations.push(format!("{}:{}: {}", source.path, number + 1, line.trim()));
            }
        }
    }
    none(&violations, "unfinished work belongs in an issue");
}

/// Tests the functions that read the sources, on which all rules rely.
#[test]
fn source_reader_ignores_comments_and_tests() {
    let source = Source {
        path: "a.rs".to_owned(),
        text: "//! rusqlite\nuse rusqlite::Row; // clap\nlet x = my_rusqlite();\n\
               #[cfg(test)]\nmod tests {\n    use clap::Parser;\n}\n"
            .to_owned(),
    };
    assert_eq!(source.lines_naming(&["rusqlite"]), ["a.rs:2: use rusqlite::Row;"]);
    assert!(source.lines_naming(&["clap"]).is_empty());
    assert_eq!(source.code_end(), 3);

    assert!(sources().len() > 20, "the sources were not found");
}

/// One Rust file.
struct Source {
    /// Path relative to the root of the workspace, with `/`.
    path: String,
    text: String,
}

impl Source {
    /// Numbered lines of code, without comments and the test module.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .take(self.code_end())
            .enumerate()
            .map(|(index, line)| (index + 1, without_comment(line)))
    }

    /// Number of lines before the test module.
    fn code_end(&self) -> usize {
        let lines: Vec<_> = self.text.lines().collect();
        lines
            .windows(2)
            .position(|pair| pair[0] == "#[cfg(test)]" && pair[1] == "mod tests {")
            .unwrap_or(lines.len())
    }

    fn lines_naming(&self, names: &[&str]) -> Vec<String> {
        self.violations(|line| words(line).any(|word| names.contains(&word)))
    }

    fn lines_with(&self, part: &str) -> Vec<String> {
        self.violations(|line| line.contains(part))
    }

    fn violations(&self, is_violation: impl Fn(&str) -> bool) -> Vec<String> {
        self.code()
            .filter(|(_, line)| is_violation(line))
            .map(|(number, line)| format!("{}:{number}: {}", self.path, line.trim()))
            .collect()
    }

    fn is_test(&self) -> bool {
        self.path.contains("tests/") || self.path.ends_with("/tests.rs")
    }
}

/// Everything after `//` is a comment, unless the `//` is in a string, such as a URL.
fn without_comment(line: &str) -> &str {
    line.match_indices("//")
        .find(|(at, _)| line[..*at].matches('"').count().is_multiple_of(2))
        .map_or(line, |(at, _)| line[..at].trim_end())
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

fn workspace() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn source(path: &str) -> Source {
    let text = fs::read_to_string(workspace().join(path)).expect("a source file can be read");
    Source { path: path.to_owned(), text }
}

/// The sources of the program: all crates, without files of tests.
fn sources() -> Vec<Source> {
    let ships = |source: &Source| {
        source.path.starts_with("cms-") && source.path.contains("/src/") && !source.is_test()
    };
    all_rust_files().into_iter().filter(ships).collect()
}

fn all_rust_files() -> Vec<Source> {
    let (root, mut paths) = (workspace(), Vec::new());
    for folder in ["cms-core", "cms-server", "cms-cli", "tests", "benches"] {
        files_below(&root.join(folder), "rs", &mut paths);
    }
    paths.sort();
    let relative = |path: &PathBuf| path.strip_prefix(&root).unwrap().display().to_string();
    paths.iter().map(|path| source(&relative(path))).collect()
}

fn none(violations: &[String], rule: &str) {
    assert!(violations.is_empty(), "{rule}:\n{}", violations.join("\n"));
}
