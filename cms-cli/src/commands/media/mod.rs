//! `cms media`: lists media objects and downloads their files. [`upload`] has the uploads.

mod upload;

use std::{
    io::{self, IsTerminal},
    path::Path,
};

use cms_core::{Error, MediaKind, wire::object::ObjectRequest};
use serde_json::{Value, json};

use super::{
    counted, interrupt,
    object::{csv_header, list},
    open_to_read,
};
use crate::{
    cli::{ListArgs, MediaCommand},
    content::stream::{self, AtomicFile, Transfer},
    failure::{Failure, Outcome, Result},
    printer::Printer,
    settings::Settings,
    target::{Edition, Target},
    text_output::{Column, cell, column},
};

/// The type of media objects.
pub(super) const TYPE: &str = "_media";

/// Extensions of image files.
const IMAGE_EXTENSIONS: [&str; 8] = ["gif", "png", "jpg", "jpeg", "bmp", "webp", "svg", "ico"];

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
    printer: &Printer,
) -> Result<Outcome> {
    match command {
        MediaCommand::Upload(args) => return upload::run(args, settings, printer),
        MediaCommand::List(args) => show(&*open_to_read(settings)?, args, printer)?,
        MediaCommand::Get { id, file } => {
            return get(&*open_to_read(settings)?, &id, file.as_deref(), printer);
        }
    }
    Ok(Outcome::Done)
}

fn show(target: &dyn Target, args: ListArgs, printer: &Printer) -> Result<()> {
    // Media objects have no drafts.
    let list = list(target, TYPE, args, &[], Edition::Current)?;
    if printer.is_table() {
        let readable: Vec<Value> = list.objects.iter().map(with_dimensions).collect();
        printer.rows(&readable, &COLUMNS)?;
    } else {
        let header = csv_header(target, TYPE, &[], printer)?;
        printer.rows_with_header(&list.objects, &COLUMNS, &header)?;
    }
    list.print_remaining(printer)
}

fn with_dimensions(object: &Value) -> Value {
    let mut row = object.clone();
    let edges = [&object["width"], &object["height"]];
    if edges.iter().all(|edge| edge.as_f64().is_some_and(|edge| edge > 0.0)) {
        row["dimensions"] = json!(edges.map(cell).join("x"));
    }
    row
}

fn get(target: &dyn Target, id: &str, file: Option<&str>, printer: &Printer) -> Result<Outcome> {
    if file.is_none() && io::stdout().is_terminal() {
        return Err(Failure::usage("standard output is a terminal, and the file may be binary")
            .hint("write to a file with -o FILE, or to the terminal with -o -"));
    }
    let object = target.object(TYPE, id, &ObjectRequest::default())?;
    let mut stored = target.file(id, extension(&object))?;
    let transfer = Transfer::new(interrupt());
    let Some(name) = file.filter(|name| *name != "-") else {
        let mut out = printer.raw()?;
        let size = stream::copy(&mut *stored, &mut out, Failure::from, &transfer)?;
        return Ok(if size.is_some() { Outcome::Done } else { Outcome::Partial });
    };
    let path = Path::new(name);
    let (new_file, mut out) = AtomicFile::create(path)?;
    let unwritable = |error| Failure::unwritable(name, error);
    let Some(size) = stream::copy(&mut *stored, &mut out, unwritable, &transfer)? else {
        return Err(Failure::local(format!("interrupted; {name} did not change")));
    };
    new_file.finish()?;
    printer.note(&format!("{} in {name}", counted(size, "byte")))?;
    Ok(Outcome::Done)
}

/// The extension of the file of a media object.
pub(super) fn extension(object: &Value) -> &str {
    object["extension"].as_str().unwrap_or_default()
}

/// The default `type` of the media object of a file, by its extension; the target checks the
/// content.
pub(super) fn default_kind(path: &Path) -> &'static str {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let kind =
        if IMAGE_EXTENSIONS.contains(&&*extension) { MediaKind::Image } else { MediaKind::File };
    kind.as_str()
}

/// Returns whether an error concerns the uploaded file alone.
pub(super) fn is_refused(error: &Error) -> bool {
    matches!(
        error,
        Error::Invalid(_) | Error::Rejected(_) | Error::BadRequest(_) | Error::BodyTooLarge
    )
}
