//! `cms validate`: tries project files and content folders on an empty temporary data directory.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{apply, counted, import};
use crate::{
    cli::ValidateArgs,
    content::folder,
    failure::{Failure, Outcome, Result},
    printer::Printer,
    target,
};

/// The project file that belongs to a content folder beside it.
const PROJECT: &str = "project.yaml";

pub(super) fn run(args: &ValidateArgs, printer: &Printer) -> Result<Outcome> {
    let (mut folders, mut files) = (Vec::new(), Vec::new());
    for path in &args.paths {
        let paths = if folder::is_exported(path)? { &mut folders } else { &mut files };
        paths.push(path.clone());
    }
    if files.is_empty() {
        files = beside(&folders);
        for file in &files {
            printer.note(&format!("using the types of {}", file.display()))?;
        }
    }
    for path in &folders {
        require_definitions(path)?;
    }
    let target = target::temporary()?;
    let built_in = target.types()?.len();
    if !files.is_empty() {
        apply::into_empty_target(&*target, &files, printer)?;
    }
    let (mut objects, mut media_files, mut refusals) = (0, 0, Vec::new());
    let mut refused = 0;
    for path in &folders {
        let report = import::into_empty_target(&*target, path, printer)?;
        if report.interrupted {
            return Err(Failure::local("interrupted before everything was validated"));
        }
        objects += report.objects.created + report.objects.updated;
        media_files += report.files.stored;
        refused += report.objects.refused + report.files.refused;
        refusals.extend(report.refusals);
    }
    let types = (target.types()?.len() - built_in) as u64;
    let value = json!({
        "contentTypes": types,
        "objects": objects,
        "files": media_files,
        "refused": refused,
        "refusals": refusals,
    });
    printer.value(&value, || {
        let [types, objects] = [counted(types, "content type"), counted(objects, "object")];
        let files = counted(media_files, "media file");
        let refused = if refused > 0 { format!(", not valid: {refused}") } else { String::new() };
        format!("valid: {types}, {objects}, {files}{refused}\n")
    })?;
    Ok(if refused > 0 { Outcome::CheckFailed } else { Outcome::Done })
}

/// The project files beside content folders.
fn beside(folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    for path in folders {
        // `.` and paths that end with `..` have no name to remove.
        let parent = match path.file_name() {
            Some(_) => path.parent().unwrap_or(Path::new("")).to_owned(),
            None => path.join(".."),
        };
        let file = parent.join(PROJECT);
        if file.is_file() && !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

/// Refuses a folder with objects that `cms import` would skip.
fn require_definitions(path: &Path) -> Result<()> {
    let missing = folder::without_definition(path)?;
    let Some(first) = missing.first() else { return Ok(()) };
    let definition = folder::DEFINITION;
    Err(Failure::usage(format!("{} has objects, but no {definition}", first.display()))
        .hint(format!("copy the {definition} that `cms export` wrote; `cms import` needs it too")))
}
