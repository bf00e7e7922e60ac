//! The tables of settings in docs/configuration.md: names, variables and defaults are generated, the
//! meaning of a setting is written by hand.

use std::{fmt::Write as _, fs, path::Path};

use clap::{Arg, CommandFactory as _};
use cms_core::CoreConfig;
use cms_server::ServerConfig;

use super::{COMMAND, flags, name, settings};
use crate::cli::Cli;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/configuration.md");
const HEADING: &str = "## Settings\n";

/// A row of the page.
struct Row<'p> {
    name: &'p str,
    default: &'p str,
    meaning: &'p str,
}

fn row(line: &str) -> Row<'_> {
    let cells: Vec<_> = line.trim_matches('|').splitn(4, '|').map(str::trim).collect();
    let [name, _, default, meaning] = cells[..] else { panic!("no row of four cells: {line}") };
    Row { name: name.trim_matches('`'), default, meaning }
}

/// Defaults that the server fills in, for settings whose flag has no default.
fn filled_in(name: &str) -> Option<String> {
    let (server, core) = (ServerConfig::default(), CoreConfig::new(super::DEFAULT_DIRECTORY));
    let size = |bytes: u64| match bytes {
        _ if bytes.is_multiple_of(1 << 30) => format!("{bytes} ({} GiB)", bytes >> 30),
        _ => format!("{bytes} ({} MiB)", bytes >> 20),
    };
    Some(match name {
        "data" => format!("`{}`", super::DEFAULT_DIRECTORY),
        "body-limit" => size(server.body_limit as u64),
        "upload-limit" => size(server.upload_limit),
        "response-memory" => size(server.response_memory as u64),
        "max-connections" => format!("`{}`", server.connections),
        "max-subscribers" => format!("`{}`", server.subscribers),
        "batch-limit" => format!("`{}`", core.batch_limit),
        "search-wait" => format!("`{}`", core.search_wait.as_millis()),
        "media-file-limit" => size(core.media_file_limit),
        "render-cache" => size(core.render_cache),
        _ => return None,
    })
}

fn default(setting: &Arg, known: Option<&Row<'_>>) -> String {
    let declared: Vec<_> =
        setting.get_default_values().iter().map(|value| format!("`{}`", value.display())).collect();
    if setting.get_action().takes_values() && !declared.is_empty() {
        return declared.join(", ");
    }
    if !setting.get_action().takes_values() {
        return "off".to_owned();
    }
    filled_in(name(setting)).unwrap_or_else(|| known.map_or("", |known| known.default).to_owned())
}

/// The meaning of a new setting is its help text, until somebody writes a better one.
fn meaning(setting: &Arg, known: Option<&Row<'_>>) -> String {
    let help = || setting.get_help().map(ToString::to_string).unwrap_or_default();
    known.map_or_else(help, |known| known.meaning.to_owned()).replace('\n', " ")
}

fn generated_row(setting: &Arg, known: Option<&Row<'_>>) -> String {
    let variable = setting.get_env().expect("every setting has a variable").display();
    let (default, meaning) = (default(setting, known), meaning(setting, known));
    format!("| `{}` | `{variable}` | {default} | {meaning} |", name(setting)).replace("|  |", "| |")
}

#[test]
fn settings_of_the_documentation_are_generated() {
    let page = fs::read_to_string(PAGE).unwrap();
    let (text, section) = page.split_once(HEADING).expect("the page has the section of settings");
    let settings = settings();
    let mut missing: Vec<_> = settings.iter().collect();
    let mut generated = format!("{text}{HEADING}");
    for line in section.lines() {
        if !line.starts_with("| `") {
            writeln!(generated, "{line}").unwrap();
            continue;
        }
        let known = row(line);
        // The row of a removed setting is left out.
        if let Some(at) = missing.iter().position(|setting| name(setting) == known.name) {
            writeln!(generated, "{}", generated_row(missing.remove(at), Some(&known))).unwrap();
        }
    }
    // New settings come last, until somebody moves them to their group.
    for setting in missing {
        writeln!(generated, "{}", generated_row(setting, None)).unwrap();
    }
    if generated != page {
        fs::write(format!("{PAGE}.new"), &generated).unwrap();
        panic!(
            "docs/configuration.md differs from the settings: move configuration.md.new over it"
        );
    }
}

/// Each block of settings in the documentation is a valid file.
#[test]
fn configuration_files_of_the_documentation_are_valid() {
    let docs = Path::new(PAGE).parent().unwrap();
    let pages = ["", "how-to", "reference"].map(|folder| fs::read_dir(docs.join(folder)).unwrap());
    let given = Cli::command().try_get_matches_from(["cms", COMMAND]).unwrap();
    let mut checked = 0;
    for page in pages.into_iter().flatten().map(|entry| entry.unwrap().path()) {
        if page.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = fs::read_to_string(&page).unwrap();
        for block in text.split("```toml\n").skip(1) {
            let file = block.split("```").next().unwrap();
            let read = flags(file, &given, false, &mut Vec::new());
            assert!(read.is_ok_and(|flags| !flags.is_empty()), "{}: {file}", page.display());
            checked += 1;
        }
    }
    assert!(checked > 5, "{checked}");
}
