//! `cms media`: listing media objects and fetching their files. Uploads are in [`upload`].

mod upload;

use std::{
    io::{self, IsTerminal},
    path::Path,
};

use serde_json::{Value, json};

use super::{counted, interrupt, object::list, reading};
use crate::{
    cli::{ListArgs, MediaCommand},
    content::stream::{self, NewFile, Pace},
    failure::{Failure, Outcome, Result},
    printer::Printer,
    report::{Column, cell, column},
    settings::Settings,
    target::{Edition, Target},
};

/// The type of media objects.
pub(super) const TYPE: &str = "_media";

const COLUMNS: [Column; 6] = [
    column("ID", "/id"),
    column("FILE", "/fileName"),
    column("TYPE", "/mimeType"),
    column("BYTES", "/size"),
    column("SIZE", "/dimensions"),
    column("URL", "/url"),
];

pub(super) fn run(
    command: MediaCommand,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<Outcome> {
    match command {
        MediaCommand::Upload(args) => return upload::run(args, settings, printer),
        MediaCommand::List(args) => show(&*reading(settings)?, args, printer)?,
        MediaCommand::Get { id, file } => {
            return get(&*reading(settings)?, &id, file.as_deref(), printer);
        }
    }
    Ok(Outcome::Done)
}

fn show(target: &dyn Target, args: ListArgs, printer: &mut Printer) -> Result<()> {
    // No media object has a version that readers do not get.
    let list = list(target, TYPE, args, Edition::Current)?;
    if printer.is_table() {
        let readable: Vec<Value> = list.objects.iter().map(with_dimensions).collect();
        printer.rows(&readable, &COLUMNS)?;
    } else {
        printer.rows(&list.objects, &COLUMNS)?;
    }
    list.tell_rest(printer)
}

fn with_dimensions(object: &Value) -> Value {
    let mut row = object.clone();
    let edges = [&object["width"], &object["height"]];
    if edges.iter().all(|edge| edge.as_f64().is_some_and(|edge| edge > 0.0)) {
        row["dimensions"] = json!(edges.map(cell).join("x"));
    }
    row
}

fn get(
    target: &dyn Target,
    id: &str,
    file: Option<&str>,
    printer: &mut Printer,
) -> Result<Outcome> {
    if file.is_none() && io::stdout().is_terminal() {
        return Err(Failure::usage("the file would be written to the terminal")
            .hint("-o FILE writes it into a file, -o - to the terminal all the same"));
    }
    let object = target.object(TYPE, id, 0)?;
    let mut stored = target.file(id, extension(&object))?;
    let pace = Pace::new(interrupt());
    let Some(name) = file.filter(|name| *name != "-") else {
        let mut out = printer.raw()?;
        let size = stream::copy(&mut *stored, &mut out, Failure::from, &pace)?;
        return Ok(if size.is_some() { Outcome::Done } else { Outcome::Partly });
    };
    let path = Path::new(name);
    let (draft, mut out) = NewFile::create(path)?;
    let unwritable = |error| Failure::unwritable(name, error);
    let Some(size) = stream::copy(&mut *stored, &mut out, unwritable, &pace)? else {
        return Err(Failure::local(format!("interrupted; {name} is as it was")));
    };
    draft.finish()?;
    printer.note(&format!("{} in {name}", counted(size, "byte")))?;
    Ok(Outcome::Done)
}

/// The extension of the file of a media object.
pub(super) fn extension(object: &Value) -> &str {
    object["extension"].as_str().unwrap_or_default()
}
