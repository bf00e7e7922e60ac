//! CSV files of objects: the header has property paths, the content type defines the types of
//! cells.
//!
//! | property | cell |
//! |---|---|
//! | number | a number |
//! | checkbox | `true`, `false`, `1`, `0` |
//! | select with several values, simple list | a JSON array, or values separated by `;` |
//! | relation | a JSON array, or ids of the related type and paths of objects separated by `;` |
//! | list, geo location, block | JSON |
//! | any other | the text |
//!
//! An empty cell is a property without a value. A cell that is not valid stays text, so that
//! validation reports it with the property.

mod lines;

use std::{collections::HashSet, io::Read};

use ::csv::{Error, ErrorKind, Position, ReaderBuilder};
use cms_core::wire::content_type::ContentType;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use self::lines::Lines;
use super::{Each, ImportRow, from_value};
use crate::failure::{Diagnostic, Failure, Result};

const OPEN_QUOTE: &str = "a quote is not closed";

/// Reads all rows of a file.
pub(super) fn rows<T: DeserializeOwned>(
    reader: impl Read,
    name: &str,
    content_type: &ContentType,
    each: Each<'_, T>,
) -> Result<()> {
    let (reader, lines) = Lines::count(reader);
    let mut reader = ReaderBuilder::new().flexible(true).from_reader(reader);
    let header = reader.headers().map_err(|error| Failure::unreadable(name, error))?.clone();
    let columns: Vec<(&str, Cell)> =
        header.iter().map(str::trim).map(|path| (path, kind(content_type, path))).collect();
    let invalid = |message: String| Diagnostic { location: format!("{name}:1"), message };
    if lines.end_in_quotes() {
        return Err(invalid(OPEN_QUOTE.to_owned()).into());
    }
    // A column without a header is an error only in rows that have a cell in it.
    let named = columns.iter().map(|(path, _)| *path).filter(|path| !path.is_empty());
    if let Some(path) = repeated(named) {
        return Err(invalid(format!("two columns have the header \"{path}\"")).into());
    }
    if let Some((outer, inner)) = overlapping(&columns) {
        let message = format!("the column \"{outer}\" would replace the column \"{inner}\"");
        return Err(invalid(message).into());
    }
    for record in reader.into_records() {
        let start = match &record {
            Ok(record) => record.position().map(Position::byte),
            Err(error) => error.position().map(Position::byte),
        };
        let location = format!("{name}:{}", lines.at(start.unwrap_or_default()));
        let value = match record {
            Ok(_) if lines.end_in_quotes() => Err(OPEN_QUOTE.to_owned()),
            Ok(record) if record.len() > columns.len() => {
                Err(format!("{} cells, but {} headers", record.len(), columns.len()))
            }
            Ok(record) => from_value(object(&columns, record.iter())),
            Err(error) => Err(reason(&error)),
        };
        each(ImportRow { location, value })?;
    }
    Ok(())
}

/// The first path that occurs twice.
fn repeated<'p>(mut paths: impl Iterator<Item = &'p str>) -> Option<&'p str> {
    let mut seen = HashSet::new();
    paths.find(|path| !seen.insert(*path))
}

/// The first path that is a part of the value at another path, with that other path first.
fn overlapping<'p>(columns: &[(&'p str, Cell)]) -> Option<(&'p str, &'p str)> {
    let paths: HashSet<&str> = columns.iter().map(|(path, _)| *path).collect();
    columns.iter().find_map(|(inner, _)| {
        let mut outer = inner.match_indices('.').map(|(end, _)| &inner[..end]);
        outer.find(|outer| paths.contains(outer)).map(|outer| (outer, *inner))
    })
}

/// Why a row cannot be read. The crate's message for bytes that are not UTF-8 has its own line number,
/// which may be wrong.
fn reason(error: &Error) -> String {
    match error.kind() {
        ErrorKind::Utf8 { err, .. } => err.to_string(),
        _ => error.to_string(),
    }
}

/// The type of the cells of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Cell {
    Text,
    Number,
    Flag,
    Texts,
    Links,
    Json,
}

fn kind(content_type: &ContentType, path: &str) -> Cell {
    let mut steps = path.split('.');
    let name = steps.next().unwrap_or_default();
    let mut schema = &content_type.schema_definition["allOf"][1]["properties"][name];
    let config = &content_type.meta_definition["propertiesConfig"][name];
    for step in steps {
        schema = &schema["properties"][step];
    }
    match schema["type"].as_str() {
        Some("number" | "integer") => Cell::Number,
        Some("boolean") => Cell::Flag,
        Some("array") if config["inputType"] == "datasource" => Cell::Links,
        Some("array") if schema["items"]["type"] == "string" => Cell::Texts,
        Some("array" | "object") => Cell::Json,
        _ => Cell::Text,
    }
}

fn object<'c>(columns: &[(&str, Cell)], cells: impl Iterator<Item = &'c str>) -> Value {
    let mut object = Map::new();
    for ((path, kind), cell) in columns.iter().zip(cells) {
        if !cell.is_empty() {
            put(&mut object, path, read(kind, cell));
        }
    }
    Value::Object(object)
}

/// Puts a value at a path such as `place.lat`.
fn put(object: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            object.insert(path.to_owned(), value);
        }
        Some((first, rest)) => {
            let inner = object.entry(first).or_insert_with(|| json!({}));
            if let Value::Object(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

fn read(kind: &Cell, cell: &str) -> Value {
    let text = || json!(cell);
    let parsed = || serde_json::from_str::<Value>(cell).ok();
    let parts = || cell.split(';').map(str::trim).filter(|part| !part.is_empty());
    match kind {
        Cell::Text => text(),
        Cell::Number => parsed().filter(Value::is_number).unwrap_or_else(text),
        Cell::Flag => match cell {
            "true" | "1" => json!(true),
            "false" | "0" => json!(false),
            _ => text(),
        },
        Cell::Texts => {
            parsed().filter(Value::is_array).unwrap_or_else(|| parts().collect::<Vec<_>>().into())
        }
        Cell::Links => parsed()
            .filter(Value::is_array)
            .unwrap_or_else(|| parts().map(link).collect::<Vec<_>>().into()),
        Cell::Json => parsed().unwrap_or_else(text),
    }
}

/// Converts the path of an object to a link. An id stays text, which the import completes to a link.
fn link(part: &str) -> Value {
    if part.starts_with('/') { json!({ "type": "internal", "dataUrl": part }) } else { json!(part) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::FailureKind;

    fn content_type() -> ContentType {
        let schemas = json!({
            "name": {"type": "string"}, "price": {"type": "number"}, "sold": {"type": "boolean"},
            "sizes": {"type": "array", "items": {"type": "string"}},
            "tags": {"type": "array", "items": {"$ref": "#/components/schemas/DataSource"}},
            "place": {"type": "object", "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}}},
            "parts": {"type": "array", "items": {"type": "object"}},
        });
        let configs = json!({ "tags": { "inputType": "datasource" } });
        ContentType {
            name: "product".to_owned(),
            schema_definition: json!({"allOf": [{}, {"properties": schemas}]}),
            meta_definition: json!({"propertiesConfig": configs}),
            ..ContentType::default()
        }
    }

    fn read_all(text: &str) -> Vec<std::result::Result<Value, String>> {
        let mut all = Vec::new();
        rows(text.as_bytes(), "f.csv", &content_type(), &mut |row: ImportRow<Value>| {
            all.push(row.value);
            Ok(())
        })
        .unwrap();
        all
    }

    #[test]
    fn cells_take_the_type_of_their_property() {
        let path = "/api/v1/content/_tag/t-3";
        let link = json!({"type": "internal", "dataUrl": path});
        let table = [
            ("name", "12", json!({"name": "12"})),
            ("name", "", json!({})),
            ("price", "12.5", json!({"price": 12.5})),
            ("price", "cheap", json!({"price": "cheap"})),
            ("sold", "1", json!({"sold": true})),
            ("sold", "no", json!({"sold": "no"})),
            ("sizes", "S; M;", json!({"sizes": ["S", "M"]})),
            ("sizes", "\"[\"\"a;b\"\"]\"", json!({"sizes": ["a;b"]})),
            ("tags", &format!("t-1;t 2; {path}"), json!({"tags": ["t-1", "t 2", link]})),
            ("place.lat", "52.1", json!({"place": {"lat": 52.1}})),
            ("parts", "\"[{\"\"n\"\":1}]\"", json!({"parts": [{"n": 1}]})),
            ("unknown", "x", json!({"unknown": "x"})),
        ];
        for (header, cell, wanted) in table {
            assert_eq!(
                read_all(&format!("id,{header}\na,{cell}\n")),
                [Ok({
                    let mut object = json!({"id": "a"});
                    object.as_object_mut().unwrap().extend(wanted.as_object().unwrap().clone());
                    object
                })],
                "{header}: {cell}"
            );
        }
    }

    /// The locations of rows.
    fn lines_of(text: &[u8]) -> Vec<String> {
        let mut locations = Vec::new();
        rows(text, "f", &content_type(), &mut |row: ImportRow<Value>| {
            locations.push(row.location);
            Ok(())
        })
        .unwrap();
        locations
    }

    #[test]
    fn rows_have_the_line_of_their_start() {
        let text = "id,name\na,A\n\nb,\"one\ntwo\n\nthree\"\nc,C\n\n\nd,D";
        for end in ["\n", "\r\n", "\r"] {
            let text = text.replace('\n', end);
            assert_eq!(lines_of(text.as_bytes()), ["f:2", "f:4", "f:8", "f:11"], "{end:?}");
        }
        // Quoted line breaks that differ from those of the rows.
        assert_eq!(
            lines_of(b"id,name\r\na,\"1\n2\"\r\nb,\"1\r\n2\"\r\nc,\r\n"),
            ["f:2", "f:4", "f:6"]
        );
        assert_eq!(lines_of(b"\r\n\r\nid\r\na\r\n"), ["f:4"]);
        // A row that cannot be parsed has a line, too.
        assert_eq!(lines_of(b"id\r\na\r\n\xff\r\nb\r\n"), ["f:2", "f:3", "f:4"]);
        // Longer than the read buffer.
        let long = format!("id,name\r\na,\"{}\"\r\nb,B\r\n", "x\r\n".repeat(100_000));
        assert_eq!(lines_of(long.as_bytes()), ["f:2", "f:100003"]);
    }

    #[test]
    fn quote_that_is_not_closed_is_an_error() {
        let open = || Err(OPEN_QUOTE.to_owned());
        let named = |id: &str, name: &str| Ok(json!({ "id": id, "name": name }));
        let long = format!("b,\"{}", "x\n".repeat(100_000));
        let table = [
            ("a,\"A\nb,B\n", vec![open()]),
            ("a,A\nb,\"B\nc,C\"\"\n", vec![named("a", "A"), open()]),
            // Quotes that the reader accepts.
            ("a,\"A\n\"\nb,5\" pipe\n", vec![named("a", "A\n"), named("b", "5\" pipe")]),
            ("a,\"\"\"A\"\"\"\nb,\"B\"", vec![named("a", "\"A\""), named("b", "B")]),
            (&long, vec![open()]),
        ];
        for (text, wanted) in table {
            assert_eq!(read_all(&format!("id,name\n{text}")), wanted, "{}", text.len());
        }
    }

    #[test]
    fn header_that_is_not_valid_is_an_error() {
        for (header, message) in [
            ("id,\"name\na,A\n", OPEN_QUOTE),
            ("id,name, name\na,A,B\n", "two columns have the header \"name\""),
            (
                "place.lat,place\n1,{}\n",
                "the column \"place\" would replace the column \"place.lat\"",
            ),
            ("a.b,a.b.c.d\n1,2\n", "the column \"a.b\" would replace the column \"a.b.c.d\""),
        ] {
            let read =
                rows(header.as_bytes(), "f.csv", &content_type(), &mut |_: ImportRow<Value>| {
                    panic!("a row of {header}")
                });
            let diagnostic =
                Diagnostic { location: "f.csv:1".to_owned(), message: message.to_owned() };
            match read.unwrap_err().kind {
                FailureKind::InvalidInput(found) => assert_eq!(found, [diagnostic]),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn row_with_too_many_cells_is_refused_alone() {
        let rows = read_all("\u{feff}id,name\na,b,c\nd,e\n");
        assert_eq!(rows[0], Err("3 cells, but 2 headers".to_owned()));
        assert_eq!(rows[1], Ok(json!({"id": "d", "name": "e"})));
    }
}
