//! Values and failures as text: tables, CSV, `error:` and `hint:` lines, error objects.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use anstyle::{AnsiColor, Style};
use cms_core::{Error, FieldErrors, wire};
use serde_json::{Map, Value, json};

use crate::{
    failure::{Diagnostic, Failure, FailureKind},
    table,
};

/// A column of a table: its header, and the JSON pointer of its value in a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column<'a> {
    pub(crate) header: &'a str,
    pub(crate) pointer: &'a str,
}

/// A column from its header and pointer.
pub(crate) const fn column<'a>(header: &'a str, pointer: &'a str) -> Column<'a> {
    Column { header, pointer }
}

/// Headers and pointers of columns for the paths of `fields[]`. `internal.x` is a column of its own;
/// any other path is the column of its property, so `a.b` and `a[*].c` are the column `a`. None
/// without paths, and when one of them is `*`.
pub(crate) fn field_columns(fields: &[String], item: &str) -> Option<Vec<(String, String)>> {
    if fields.is_empty() || fields.iter().any(|path| path == "*") {
        return None;
    }
    let mut columns: Vec<(String, String)> = Vec::new();
    for path in fields {
        let path = path.strip_prefix("$.").unwrap_or(path);
        let name = |text: &str| text.split('[').next().unwrap_or_default().to_owned();
        let header = match path.split_once('.') {
            Some(("internal", field)) => format!("internal.{}", name(field)),
            Some((property, _)) => name(property),
            None => name(path),
        };
        let pointer = format!("{item}/{}", header.replace('.', "/"));
        if header != "id" && !columns.iter().any(|(known, _)| *known == header) {
            columns.push((header, pointer));
        }
    }
    Some(columns)
}

/// Formats rows as columns that fit the terminal.
pub(crate) fn table(rows: &[Value], columns: &[Column<'_>]) -> String {
    let cells = rows.iter().map(|row| {
        columns
            .iter()
            .map(|column| row.pointer(column.pointer).map_or_else(String::new, cell))
            .collect()
    });
    aligned(Some(columns.iter().map(|column| column.header.to_owned()).collect()), cells)
}

/// Formats the members of one object, one per line.
pub(crate) fn members(value: &Value) -> String {
    let Some(object) = value.as_object() else { return format!("{}\n", cell(value)) };
    aligned(None, object.iter().map(|(name, value)| vec![name.clone(), cell(value)]))
}

fn aligned(header: Option<Vec<String>>, rows: impl Iterator<Item = Vec<String>>) -> String {
    table::aligned(header, rows, table::terminal_width())
}

/// Formats a value: text unchanged, everything else as JSON.
pub(crate) fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Formats a value for a message: JSON, at most 40 characters.
pub(crate) fn short_json(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 40 {
        return text;
    }
    text.chars().take(37).chain("...".chars()).collect()
}

/// Writes rows as CSV: a column for each top-level key except `internal`, in order of appearance.
pub(crate) fn csv(out: &mut impl Write, header: &[String], rows: &[Value]) -> io::Result<()> {
    let mut header: Vec<&str> = header.iter().map(String::as_str).collect();
    for key in rows.iter().filter_map(Value::as_object).flat_map(Map::keys) {
        if key != "internal" && !header.contains(&key.as_str()) {
            header.push(key);
        }
    }
    if header.is_empty() {
        return Ok(());
    }
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(&header).map_err(cause)?;
    for row in rows {
        let cells = header.iter().map(|key| row.get(*key).map_or_else(String::new, cell));
        writer.write_record(cells).map_err(cause)?;
    }
    writer.flush()
}

/// The I/O error in a CSV error, so that its kind is known.
fn cause(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

const ERROR: Style = AnsiColor::Red.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default();

/// Formats a failure for standard error.
pub(crate) fn failure_lines(failure: &Failure) -> String {
    let mut text = format!("{ERROR}error:{ERROR:#} {}", message(failure));
    let mut details = |prefix: &str, errors: &FieldErrors| {
        for (path, messages) in errors.iter() {
            for message in messages {
                write!(text, "\n  {prefix}{path}: {message}").ok();
            }
        }
    };
    match &failure.kind {
        FailureKind::Target(Error::Invalid(errors)) => details("", errors),
        FailureKind::Target(Error::Blocked(types)) => {
            for (name, errors) in types {
                details(&format!("{name}."), errors);
            }
        }
        FailureKind::InvalidInput(diagnostics) => {
            for diagnostic in diagnostics {
                write!(text, "\n  {}: {}", diagnostic.location, diagnostic.message).ok();
            }
        }
        _ => {}
    }
    for hint in &failure.hints {
        write!(text, "\n{}", self::hint(hint)).ok();
    }
    text
}

/// Formats a hint.
pub(crate) fn hint(text: &str) -> String {
    format!("{HINT}hint:{HINT:#} {text}")
}

/// The message of a failure.
fn message(failure: &Failure) -> String {
    match &failure.kind {
        FailureKind::Target(Error::Internal(source)) => format!("internal error: {source}"),
        FailureKind::Target(error) => error.to_string(),
        FailureKind::Usage(message) | FailureKind::Local(message) => message.clone(),
        FailureKind::InvalidInput(diagnostics) if diagnostics.len() == 1 => {
            "the input has an error".to_owned()
        }
        FailureKind::InvalidInput(diagnostics) => {
            format!("the input has {} errors", diagnostics.len())
        }
        FailureKind::Closed => "the output is closed".to_owned(),
    }
}

/// Formats a failure as the JSON error of the API.
pub(crate) fn failure_body(failure: &Failure) -> Value {
    match &failure.kind {
        FailureKind::Target(Error::Unsupported(message)) | FailureKind::Usage(message) => {
            wire::error::code_and_message(400, message)
        }
        FailureKind::Target(Error::Unreachable(message)) => {
            wire::error::code_and_message(503, message)
        }
        FailureKind::Target(Error::Internal(_)) | FailureKind::Local(_) | FailureKind::Closed => {
            wire::error::code_and_message(500, &message(failure))
        }
        FailureKind::Target(error @ Error::NotFound { .. }) => {
            wire::error::code_and_message(404, &error.to_string())
        }
        FailureKind::Target(error) => wire::error::body(error),
        FailureKind::InvalidInput(diagnostics) => diagnostics_body(diagnostics),
    }
}

/// Formats errors of input files like validation errors of the API, with locations as paths.
fn diagnostics_body(diagnostics: &[Diagnostic]) -> Value {
    let mut body = Map::new();
    for diagnostic in diagnostics {
        let messages = body.entry(diagnostic.location.clone()).or_insert_with(|| json!([]));
        if let Value::Array(messages) = messages {
            messages.push(json!(diagnostic.message));
        }
    }
    Value::Object(body)
}
