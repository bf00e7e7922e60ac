//! The result of an import: numbers of objects and files, and refused ones with the reasons.

use std::{
    fs::{File, OpenOptions},
    io::{BufWriter, Write},
    path::Path,
};

use cms_core::{
    FieldErrors,
    import::{ImportCounts, Refusal},
    wire::content_type::ContentType,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::super::hints;
use crate::{
    failure::{Failure, Result},
    printer::Printer,
};

/// Refusals in the JSON output; more are counted, and `--rejects` has all of them.
pub(super) const MAX_REFUSALS: usize = 10_000;
/// Refusals that are printed as lines.
pub(super) const MAX_PRINTED: u64 = 20;
const MAX_HINTS: usize = 5;
/// Characters of a refused value that are printed.
const MAX_VALUE_CHARS: usize = 60;

/// The result of an import so far.
pub(in super::super) struct Report {
    pub(in super::super) objects: ImportCounts,
    pub(in super::super) files: FileCounts,
    /// The first refused objects and files.
    pub(in super::super) refusals: Vec<RefusalLine>,
    pub(in super::super) interrupted: bool,
    /// How to correct refused objects, where the reasons do not say it.
    pub(super) hints: Vec<String>,
    /// Refused objects and files so far.
    refused: u64,
    max_printed: u64,
    rejects: Option<BufWriter<File>>,
}

/// A refused object or file in the JSON output.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in super::super) struct RefusalLine {
    content_type: String,
    #[serde(rename = "place")]
    location: String,
    id: Option<String>,
    errors: FieldErrors,
}

/// Number of files of media objects by outcome.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in super::super) struct FileCounts {
    pub(in super::super) stored: u64,
    /// Files that were stored before.
    pub(super) unchanged: u64,
    pub(in super::super) refused: u64,
    /// Media objects without a file in the folder.
    pub(super) missing: u64,
    /// Files without a media object in the folder.
    pub(super) without_object: u64,
}

impl FileCounts {
    pub(super) fn summary(&self) -> Option<String> {
        let Self { stored, unchanged, refused, .. } = self;
        let summary = format!("files: stored {stored}, unchanged {unchanged}, refused {refused}");
        (stored + unchanged + refused > 0).then_some(summary)
    }
}

impl Report {
    /// Starts an empty report; refused objects go to the file `rejects` too, which [`Self::start`] empties.
    pub(super) fn new(rejects: Option<&Path>, max_printed: u64) -> Result<Self> {
        let create = |path: &Path| {
            let opened = OpenOptions::new().write(true).create(true).truncate(false).open(path);
            opened.map_err(|error| Failure::unwritable(path.display(), error))
        };
        Ok(Self {
            objects: ImportCounts::default(),
            files: FileCounts::default(),
            refusals: Vec::new(),
            interrupted: false,
            hints: Vec::new(),
            refused: 0,
            max_printed,
            rejects: rejects.map(create).transpose()?.map(BufWriter::new),
        })
    }

    /// Removes the refused objects of an earlier import from the file of rejects. Called when nothing can prevent this
    /// import any more.
    pub(super) fn start(&self) -> Result<()> {
        let Some(file) = self.rejects.as_ref().map(BufWriter::get_ref) else { return Ok(()) };
        let empty = || {
            // A pipe or a terminal cannot be emptied.
            if file.metadata()?.is_file() { file.set_len(0) } else { Ok(()) }
        };
        empty().map_err(|error| Failure::unwritable("the file of --rejects", error))
    }

    /// Returns whether anything was refused.
    pub(super) fn has_refusals(&self) -> bool {
        self.objects.refused + self.files.refused > 0
    }

    /// Collects hints about the refused objects of a type.
    pub(super) fn add_hints(&mut self, content_type: &ContentType) {
        for refusal in self.refusals.iter().filter(|line| line.content_type == content_type.name) {
            for hint in hints::object_hints(content_type, &refusal.errors) {
                if self.hints.len() < MAX_HINTS && !self.hints.contains(&hint) {
                    self.hints.push(hint);
                }
            }
        }
    }

    /// Prints a refusal and writes it to the file of rejects.
    pub(super) fn refuse(&mut self, refusal: Refusal, printer: &Printer) -> Result<()> {
        let Refusal { content_type, object, errors } = refusal;
        self.refused += 1;
        if self.refused <= self.max_printed {
            let id = object.id().map_or_else(String::new, |id| format!(" {content_type}/{id}"));
            for (path, messages) in errors.iter() {
                let messages = messages.join("; ");
                let value = value_at(&object.value, path);
                printer.note(&format!(
                    "refused{id} ({}): {path}: {messages}{value}",
                    object.location
                ))?;
            }
        } else if self.refused == self.max_printed + 1 {
            printer.note("more are refused; they are counted, but not shown")?;
        }
        if let Some(rejects) = &mut self.rejects {
            let line = json!({
                "contentType": content_type,
                "place": object.location,
                "errors": errors,
                "data": object.value,
            });
            writeln!(rejects, "{line}")
                .map_err(|error| Failure::unwritable("the file of --rejects", error))?;
        }
        if self.refusals.len() < MAX_REFUSALS {
            let id = object.id().map(str::to_owned);
            let location = object.location;
            self.refusals.push(RefusalLine { content_type, location, id, errors });
        }
        Ok(())
    }

    /// Writes the file of rejects completely.
    pub(super) fn flush(&mut self) -> Result<()> {
        match &mut self.rejects {
            Some(rejects) => {
                rejects.flush().map_err(|error| Failure::unwritable("the file of --rejects", error))
            }
            None => Ok(()),
        }
    }

    pub(super) fn summary(&self) -> String {
        let ImportCounts { created, updated, unchanged, refused, statuses, .. } = self.objects;
        let statuses = match statuses {
            0 => String::new(),
            _ => format!(", statuses set {statuses}"),
        };
        format!(
            "created {created}, updated {updated}, unchanged {unchanged}, refused {refused}{statuses}"
        )
    }
}

/// Returns the value at a path of an error map as text after a message, shortened; an empty text if the object has none
/// there.
fn value_at(object: &Value, path: &str) -> String {
    let pointer = format!("/{}", path.replace(['.', '['], "/").replace(']', ""));
    let Some(value) = object.pointer(&pointer) else { return String::new() };
    let text = value.to_string();
    match text.char_indices().nth(MAX_VALUE_CHARS) {
        Some((end, _)) => format!(": {}…", &text[..end]),
        None => format!(": {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_shows_the_value_at_its_path() {
        let object = json!({"price": "cheap", "rows": [{"n": 1}, {"n": "é".repeat(99)}]});
        let long = format!(": \"{}…", "é".repeat(MAX_VALUE_CHARS - 1));
        let table = [
            ("price", ": \"cheap\""),
            ("rows[0]", ": {\"n\":1}"),
            ("rows[1].n", &long),
            ("title", ""),
            ("rows[2].n", ""),
        ];
        for (path, expected) in table {
            assert_eq!(value_at(&object, path), expected, "{path}");
        }
    }
}
