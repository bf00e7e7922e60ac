//! Values and failures as text: tables, CSV, `error:` and `hint:` lines, error bodies.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use anstyle::{AnsiColor, Style};
use cms_core::{Error, FieldErrors, wire};
use serde_json::{Map, Value, json};

use crate::{
    failure::{Failure, Fault, Kind},
    table,
};

/// A column of a table: its header, and the JSON pointer of its value in a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) header: &'static str,
    pub(crate) pointer: &'static str,
}

/// Columns from pairs of header and pointer.
pub(crate) const fn column(header: &'static str, pointer: &'static str) -> Column {
    Column { header, pointer }
}

/// Rows as aligned columns that fit the terminal.
pub(crate) fn table(rows: &[Value], columns: &[Column]) -> String {
    let cells = rows.iter().map(|row| {
        columns
            .iter()
            .map(|column| row.pointer(column.pointer).map_or_else(String::new, cell))
            .collect()
    });
    aligned(Some(columns.iter().map(|column| column.header.to_owned()).collect()), cells)
}

/// The members of one object, a line each.
pub(crate) fn members(value: &Value) -> String {
    let Some(object) = value.as_object() else { return format!("{}\n", cell(value)) };
    aligned(None, object.iter().map(|(name, value)| vec![name.clone(), cell(value)]))
}

fn aligned(header: Option<Vec<String>>, rows: impl Iterator<Item = Vec<String>>) -> String {
    table::aligned(header, rows, table::terminal_width())
}

/// A value as people read it: text as it is, everything else as JSON.
pub(crate) fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A value as a message shows it: JSON, shortened.
pub(crate) fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 40 {
        return text;
    }
    text.chars().take(37).chain("...".chars()).collect()
}

/// Rows as CSV: a column for each top-level key except `internal`, in order of appearance.
pub(crate) fn csv(out: &mut impl Write, rows: &[Value]) -> io::Result<()> {
    let mut header: Vec<&str> = Vec::new();
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

/// The error of the output itself, whose kind the error of the crate hides.
fn cause(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

const ERROR: Style = AnsiColor::Red.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default();

/// A failure as lines for standard error.
pub(crate) fn failure_lines(failure: &Failure) -> String {
    let mut text = format!("{ERROR}error:{ERROR:#} {}", sentence(failure));
    let mut details = |prefix: &str, errors: &FieldErrors| {
        for (path, messages) in errors.iter() {
            for message in messages {
                write!(text, "\n  {prefix}{path}: {message}").ok();
            }
        }
    };
    match &failure.kind {
        Kind::Target(Error::Invalid(errors)) => details("", errors),
        Kind::Target(Error::Blocked(types)) => {
            for (name, errors) in types {
                details(&format!("{name}."), errors);
            }
        }
        Kind::Faults(faults) => {
            for fault in faults {
                write!(text, "\n  {}: {}", fault.place, fault.message).ok();
            }
        }
        _ => {}
    }
    for hint in &failure.hints {
        write!(text, "\n{}", self::hint(hint)).ok();
    }
    text
}

/// What the user can do next.
pub(crate) fn hint(text: &str) -> String {
    format!("{HINT}hint:{HINT:#} {text}")
}

/// What happened, in one sentence.
fn sentence(failure: &Failure) -> String {
    match &failure.kind {
        Kind::Target(Error::Internal(source)) => format!("internal error: {source}"),
        Kind::Target(error) => error.to_string(),
        Kind::Usage(message) | Kind::Local(message) => message.clone(),
        Kind::Faults(faults) if faults.len() == 1 => "there is a mistake".to_owned(),
        Kind::Faults(faults) => format!("there are {} mistakes", faults.len()),
        Kind::Closed => "nobody reads the output".to_owned(),
    }
}

/// A failure as the JSON object that the API would answer, or one of the same kind.
pub(crate) fn failure_body(failure: &Failure) -> Value {
    match &failure.kind {
        Kind::Target(Error::Unsupported(message)) | Kind::Usage(message) => {
            wire::error::code_and_message(400, message)
        }
        Kind::Target(Error::Unreachable(message)) => wire::error::code_and_message(503, message),
        Kind::Target(Error::Internal(_)) | Kind::Local(_) | Kind::Closed => {
            wire::error::code_and_message(500, &sentence(failure))
        }
        Kind::Target(error) => wire::error::body(error),
        Kind::Faults(faults) => faults_body(faults),
    }
}

/// Mistakes by place, in the shape of the API's validation errors.
fn faults_body(faults: &[Fault]) -> Value {
    let mut body = Map::new();
    for fault in faults {
        let messages = body.entry(fault.place.clone()).or_insert_with(|| json!([]));
        if let Value::Array(messages) = messages {
            messages.push(json!(fault.message));
        }
    }
    Value::Object(body)
}
