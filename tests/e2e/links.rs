//! Links to files and headings, in documents and comments, resolve.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

use super::support::fixtures;

/// Adds the files with an extension below a folder.
pub(crate) fn files_below(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") && !path.ends_with("node_modules") {
            files_below(&path, extension, found);
        } else if path.extension().is_some_and(|one| one == extension) {
            found.push(path);
        }
    }
}

#[test]
fn links_to_files_and_headings_resolve() {
    let root = fixtures().join("..");
    let mut files = Vec::new();
    for folder in ["cms-core", "cms-server", "cms-cli", "tests", "benches"] {
        files_below(&root.join(folder), "rs", &mut files);
    }
    let (mut pages, mut headings) = (Vec::new(), HashMap::new());
    files_below(&root.join("docs"), "md", &mut pages);
    let names = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    pages.extend(names.iter().chain(&["fixtures/README.md"]).map(|name| root.join(name)));
    let slug = |heading: &str| -> String {
        let kept = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        kept.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect()
    };
    for page in &pages {
        let text = fs::read_to_string(page).unwrap();
        let of_page: Vec<_> = text.lines().filter(|line| line.starts_with('#')).map(slug).collect();
        headings.insert(page.canonicalize().unwrap(), of_page);
    }
    let mut errors = Vec::new();
    for file in files.iter().chain(&pages) {
        let (opening, base) = match file.extension().unwrap().to_str() {
            Some("rs") => ("docs/", root.join("docs")),
            _ => ("](", file.parent().unwrap().to_owned()),
        };
        let text = fs::read_to_string(file).unwrap();
        for link in text.split(opening).skip(1) {
            let end = link.find(|c: char| !(c.is_alphanumeric() || "/._-#".contains(c)));
            let (link, rest) = link.split_at(end.unwrap_or(link.len()));
            let Some((target, heading)) = link.split_once('#') else {
                let is_file = opening == "](" && !link.is_empty() && !rest.starts_with(':');
                if is_file && !base.join(link).exists() {
                    errors.push(format!("{}: {link}", file.display()));
                }
                continue;
            };
            let page = if target.is_empty() { file.clone() } else { base.join(target) };
            let known = page.canonicalize().ok().and_then(|page| headings.get(&page));
            let heading = heading.trim_end_matches('.');
            if !known.is_some_and(|known| known.iter().any(|one| one == heading)) {
                errors.push(format!("{}: {target}#{heading}", file.display()));
            }
        }
    }
    assert!(errors.is_empty(), "no such file or heading:\n{}", errors.join("\n"));
}
