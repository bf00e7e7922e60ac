//! Files of content objects: JSON arrays, JSON lines, YAML and CSV, streamed object by object.
//!
//! Knows file formats, but neither targets nor rules of content. [`csv`] converts cells to property
//! types, [`folder`] has the layout of an exported folder, [`stream`] reads and writes files,
//! [`paths`] finds them.

pub(crate) mod csv;
pub(crate) mod folder;
pub(crate) mod paths;
pub(crate) mod stream;

use std::{
    fmt,
    fs::File,
    io::{self, BufRead, BufReader, Cursor, Read},
    path::{Path, PathBuf},
};

use cms_core::wire::{content_type::ContentType, json};
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::{Value, value::RawValue};

use crate::{
    failure::{Diagnostic, Failure, Result, without_position},
    yaml::YamlDocument,
};

/// What some editors write at the start of a text in UTF-8. No parser knows it.
pub(crate) const BYTE_ORDER_MARK: &str = "\u{feff}";

/// One object of a file.
pub(crate) struct ImportRow<T> {
    /// File and line, or file and number of the element.
    pub(crate) location: String,
    /// The object, or why it cannot be parsed.
    pub(crate) value: std::result::Result<T, String>,
}

/// Called for each row.
pub(crate) type Each<'a, T> = &'a mut dyn FnMut(ImportRow<T>) -> Result<()>;

/// A file of objects, which can be read several times.
pub(crate) struct ContentFile {
    name: String,
    format: FileFormat,
    bytes: Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileFormat {
    Json,
    Lines,
    Csv,
    Yaml,
}

enum Bytes {
    File(PathBuf),
    /// Standard input, which cannot be read twice.
    Memory(Vec<u8>),
}

impl ContentFile {
    /// Finds the format by the extension; `-` is standard input: a JSON array, or one object
    /// per line.
    pub(crate) fn new(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            let mut bytes = Vec::new();
            io::stdin()
                .read_to_end(&mut bytes)
                .map_err(|error| Failure::unreadable("standard input", error))?;
            return Ok(Self {
                name: "<stdin>".to_owned(),
                format: FileFormat::Json,
                bytes: Bytes::Memory(bytes),
            });
        }
        let name = path.display().to_string();
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        let format = match extension.to_ascii_lowercase().as_str() {
            "json" => FileFormat::Json,
            "ndjson" | "jsonl" => FileFormat::Lines,
            "csv" => FileFormat::Csv,
            "yaml" | "yml" => FileFormat::Yaml,
            _ => {
                return Err(Failure::usage(format!("format of \"{name}\" is not supported"))
                    .hint("use .json, .ndjson, .csv or .yaml"));
            }
        };
        if !path.is_file() {
            return Err(Failure::unreadable(name, "the file does not exist"));
        }
        Ok(Self { name, format, bytes: Bytes::File(path.to_owned()) })
    }

    /// The name for messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Reads all rows in order; the content type defines the types of CSV cells. Members that `T`
    /// does not have are skipped.
    pub(crate) fn rows<T: DeserializeOwned>(
        &self,
        content_type: &ContentType,
        each: Each<'_, T>,
    ) -> Result<()> {
        match self.format {
            FileFormat::Json => self.json(each),
            FileFormat::Lines => self.lines(self.open()?, 0, each),
            FileFormat::Csv => csv::rows(self.open()?, &self.name, content_type, each),
            FileFormat::Yaml => self.yaml(each),
        }
    }

    fn open(&self) -> Result<Box<dyn BufRead + '_>> {
        let mut reader: Box<dyn BufRead> = match &self.bytes {
            Bytes::File(path) => {
                let file = File::open(path).map_err(|error| self.unreadable(&error))?;
                Box::new(BufReader::with_capacity(1 << 16, file))
            }
            Bytes::Memory(bytes) => Box::new(Cursor::new(bytes)),
        };
        let start = reader.fill_buf().map_err(|error| self.unreadable(&error))?;
        if start.starts_with(BYTE_ORDER_MARK.as_bytes()) {
            reader.consume(BYTE_ORDER_MARK.len());
        }
        Ok(reader)
    }

    fn unreadable(&self, error: &io::Error) -> Failure {
        Failure::unreadable(&self.name, error)
    }

    /// Reads an array, one value, or a value on each line.
    fn json<T: DeserializeOwned>(&self, each: Each<'_, T>) -> Result<()> {
        let mut reader = self.open()?;
        let mut skipped_lines = 0;
        loop {
            let buffer = reader.fill_buf().map_err(|error| self.unreadable(&error))?;
            let Some(byte) = buffer.first().copied() else { return Ok(()) };
            if byte == b'[' {
                return self.array(reader, each);
            }
            if !byte.is_ascii_whitespace() {
                break;
            }
            skipped_lines += u64::from(byte == b'\n');
            reader.consume(1);
        }
        let mut first = String::new();
        reader.read_line(&mut first).map_err(|error| self.unreadable(&error))?;
        let is_valid = |line: &str| serde_json::from_str::<IgnoredAny>(line).is_ok();
        let mut second = String::new();
        if !is_valid(&first) {
            reader.read_line(&mut second).map_err(|error| self.unreadable(&error))?;
        }
        // An object on the second line means that the first line alone is not valid.
        if second.is_empty() && is_valid(&first) || second.starts_with('{') && is_valid(&second) {
            let lines = Cursor::new(first + &second).chain(reader);
            return self.lines(Box::new(lines), skipped_lines, each);
        }
        let input = Cursor::new(first + &second).chain(reader);
        let value = serde_json::from_reader(input).map_err(|error| syntax(&self.name, &error))?;
        each(ImportRow { location: self.name.clone(), value: Ok(value) })
    }

    fn array<T: DeserializeOwned>(
        &self,
        reader: Box<dyn BufRead + '_>,
        each: Each<'_, T>,
    ) -> Result<()> {
        let mut elements = Elements { name: &self.name, each, failure: None };
        let mut deserializer = serde_json::Deserializer::from_reader(reader);
        let read = (&mut elements).deserialize(&mut deserializer).and_then(|()| deserializer.end());
        match (elements.failure, read) {
            (Some(failure), _) => Err(failure),
            (None, Err(error)) => Err(syntax(&self.name, &error)),
            (None, Ok(())) => Ok(()),
        }
    }

    /// Reads a value on each line; a line that is not valid does not stop the others.
    fn lines<T: DeserializeOwned>(
        &self,
        mut reader: Box<dyn BufRead + '_>,
        skipped: u64,
        each: Each<'_, T>,
    ) -> Result<()> {
        let mut line = Vec::new();
        for number in skipped + 1.. {
            line.clear();
            if reader.read_until(b'\n', &mut line).map_err(|error| self.unreadable(&error))? == 0 {
                break;
            }
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let location = format!("{}:{number}", self.name);
            each(match json::from_slice(&line) {
                Ok(value) => ImportRow { location, value: Ok(value) },
                Err(error) => ImportRow {
                    location: format!("{location}:{}", error.column()),
                    value: Err(without_position(&error)),
                },
            })?;
        }
        Ok(())
    }

    fn yaml<T: DeserializeOwned>(&self, each: Each<'_, T>) -> Result<()> {
        let mut text = String::new();
        self.open()?.read_to_string(&mut text).map_err(|error| self.unreadable(&error))?;
        let document = YamlDocument::parse(&self.name, text)?;
        match &document.value {
            Value::Array(items) => {
                for (location, item) in document.item_locations().into_iter().zip(items) {
                    each(ImportRow { location, value: from_value(item.clone()) })?;
                }
                Ok(())
            }
            Value::Null => Ok(()),
            other => {
                each(ImportRow { location: self.name.clone(), value: from_value(other.clone()) })
            }
        }
    }
}

/// The error of a JSON text.
pub(crate) fn syntax(name: &str, error: &serde_json::Error) -> Failure {
    Diagnostic::syntax(name, Some((error.line(), error.column())), error).into()
}

fn from_value<T: DeserializeOwned>(value: Value) -> std::result::Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

/// Passes on the elements of a JSON array while it is read, so that it is never completely in
/// memory.
struct Elements<'a, 'e, T> {
    name: &'a str,
    each: Each<'e, T>,
    failure: Option<Failure>,
}

impl<'de, T: DeserializeOwned> DeserializeSeed<'de> for &mut Elements<'_, '_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: DeserializeOwned> Visitor<'de> for &mut Elements<'_, '_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> std::result::Result<(), A::Error> {
        let mut number = 0_u64;
        while let Some(element) = elements.next_element::<Box<RawValue>>()? {
            number += 1;
            let value =
                json::from_slice(element.get().as_bytes()).map_err(|e| without_position(&e));
            let row = ImportRow { location: format!("{}[{number}]", self.name), value };
            if let Err(failure) = (self.each)(row) {
                self.failure = Some(failure);
                return Err(serde::de::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn lines_are_refused_one_by_one_also_the_first_one() {
        let read = |text: &str| {
            let bytes = Bytes::Memory(text.into());
            let file = ContentFile { name: "f".to_owned(), format: FileFormat::Json, bytes };
            let mut rows = Vec::new();
            let whole = file.rows(&ContentType::default(), &mut |row: ImportRow<Value>| {
                rows.push((row.location, row.value.is_ok()));
                Ok(())
            });
            (rows, whole.is_ok())
        };
        let row = |location: &str, is_valid| (location.to_owned(), is_valid);
        let lines = ["{\"a\":1}\n", "{\"a\":\n", "{\"a\":3}\n"];
        let [one, broken, three] = lines;
        for (text, rows) in [
            (
                [one, broken, three].concat(),
                vec![row("f:1", true), row("f:2:0", false), row("f:3", true)],
            ),
            (
                [broken, one, three].concat(),
                vec![row("f:1:0", false), row("f:2", true), row("f:3", true)],
            ),
            (["\n", broken, one].concat(), vec![row("f:2:0", false), row("f:3", true)]),
            ("{\n\"a\":\n{\"b\":1}\n}".to_owned(), vec![row("f", true)]),
        ] {
            assert_eq!(read(&text), (rows, true), "{text}");
        }
        assert_eq!(read("{\"a\"\n\"b\"}\n"), (Vec::new(), false));
    }
}
