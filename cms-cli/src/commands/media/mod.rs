//! `cms media`: listing media objects and fetching their files. Uploads are in [`upload`].

mod upload;

use std::{
    io::{self, IsTerminal},
    path::Path,
};

use cms_core::Error;
use serde_json::{Value, json};

use super::{counted, interrupt, object::list, reading};
use crate::{
    cli::{ListArgs, MediaCommand, MediaKind},
    content::stream::{self, NewFile, Pace},
    failure::{Failure, Outcome, Result},
    printer::Printer,
    report::{Column, cell, column},
    settings::Settings,
    target::{Edition, Target},
};

/// The type of media objects.
pub(super) const TYPE: &str = "_media";

/// Extensions of pictures that may be uploaded.
const PICTURES: [&str; 8] = ["gif", "png", "jpg", "jpeg", "bmp", "webp", "svg", "ico"];

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

/// `type` of the media object of a file. Pictures are told by their names; the target looks at what
/// they hold.
pub(super) fn usual_kind(path: &Path) -> &'static str {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let kind = if PICTURES.contains(&&*extension) { MediaKind::Image } else { MediaKind::File };
    kind.as_str()
}

/// Tells whether an error is about the uploaded file alone.
pub(super) fn is_refused(error: &Error) -> bool {
    matches!(
        error,
        Error::Invalid(_) | Error::Rejected(_) | Error::BadRequest(_) | Error::BodyTooLarge
    )
}
