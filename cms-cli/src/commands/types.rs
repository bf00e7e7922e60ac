//! `cms types`: writes the content types of a target or of project files for a programming language.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::Ordering,
    thread,
    time::Duration,
};

use cms_core::{builtin_types, typescript, wire::content_type::ContentType};
use serde_json::{Map, Value};

use super::{apply, interrupt, open_to_read};
use crate::{
    cli::{TypesCommand, TypescriptArgs},
    content::stream::write_file,
    failure::{Failure, Outcome, Result},
    printer::Printer,
    project::{self, ExistingDefinitions},
    settings::Settings,
    target::{self, Target},
    text_output,
};

/// Time between two requests of `--watch`. Polling the change feed costs a server less than a stream:
/// a response takes 50 bytes and a millisecond, and does not count for `max-subscribers`. Besides, a
/// proxy may delay the events of a stream, but not this response.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

pub(super) fn run(
    command: TypesCommand,
    settings: &Settings,
    printer: &Printer,
) -> Result<Outcome> {
    let TypesCommand::Typescript(TypescriptArgs { paths, file, watch }) = command;
    if watch && paths.iter().any(|path| path == Path::new("-")) {
        return Err(Failure::usage("--watch cannot read standard input again: give it a file"));
    }
    let mut source = Source::open(paths, settings)?;
    let Some(file) = file.filter(|file| file != "-") else {
        if watch {
            return Err(Failure::usage("--watch needs a file: -o FILE"));
        }
        let text = typescript::file(&source.types(printer)?);
        printer.text(&text)?;
        return Ok(Outcome::Done);
    };
    write(&file, &typescript::file(&source.types(printer)?), printer)?;
    if watch {
        follow(&mut source, &file, printer)?;
    }
    Ok(Outcome::Done)
}

/// Where content types are read.
enum Source {
    Target(Box<dyn Target>),
    Files { paths: Vec<PathBuf>, applied: Option<Applied> },
}

/// The content of project files when they were last read.
struct Applied {
    payloads: Vec<Map<String, Value>>,
    types: Vec<ContentType>,
}

impl Source {
    fn open(paths: Vec<PathBuf>, settings: &Settings) -> Result<Self> {
        if paths.is_empty() {
            return Ok(Self::Target(open_to_read(settings)?));
        }
        Ok(Self::Files { paths, applied: None })
    }

    /// Returns whether the types may differ from those at the position in the change feed.
    fn may_differ(&self, position: &mut Option<String>) -> bool {
        match self {
            Self::Target(target) => target.types_may_differ(position),
            Self::Files { .. } => true,
        }
    }

    /// Reads the types, sorted by name. Files are applied to an empty target, which validates them
    /// and adds the built-in types.
    fn types(&mut self, printer: &Printer) -> Result<Vec<ContentType>> {
        let (paths, applied) = match self {
            Self::Target(target) => return Ok(target.types()?),
            Self::Files { paths, applied } => (paths, applied),
        };
        let built_in = builtin_types();
        let built_in = built_in.iter().filter_map(|content_type| content_type["name"].as_str());
        let existing = ExistingDefinitions {
            types: built_in.map(str::to_owned).collect(),
            ..ExistingDefinitions::default()
        };
        let payloads = project::load(paths, &existing)?.types;
        if let Some(known) = applied.as_ref().filter(|known| known.payloads == payloads) {
            return Ok(known.types.clone());
        }
        let target = target::temporary()?;
        apply::into_empty_target(&*target, paths, printer)?;
        let types = target.types()?;
        *applied = Some(Applied { payloads, types: types.clone() });
        Ok(types)
    }
}

/// Writes the file whenever the types change, until Ctrl-C. Errors of reading the types do not end this function,
/// because a project file may be half written and a server may restart; one that repeats is printed once. An error of
/// writing the file does.
fn follow(source: &mut Source, file: &str, printer: &Printer) -> Result<()> {
    let interrupt = interrupt();
    let mut problem = String::new();
    let mut position = None;
    while !interrupt.load(Ordering::Relaxed) {
        thread::sleep(POLL_INTERVAL);
        if !source.may_differ(&mut position) {
            continue;
        }
        match source.types(printer) {
            Ok(types) => {
                problem.clear();
                write(file, &typescript::file(&types), printer)?;
            }
            Err(failure) => {
                // Without a position, the types are read again even if nothing has changed.
                position = None;
                let lines = text_output::failure_lines(&failure);
                if lines != problem {
                    printer.note(&lines)?;
                    problem = lines;
                }
            }
        }
    }
    Ok(())
}

/// Writes the file if its text differs.
fn write(file: &str, text: &str, printer: &Printer) -> Result<()> {
    if fs::read(file).is_ok_and(|stored| stored == text.as_bytes()) {
        return Ok(());
    }
    write_file(Path::new(file), text)?;
    printer.note(&format!("the types are in {file}"))
}
