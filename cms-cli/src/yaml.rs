//! YAML in and out: the only file that names the YAML crates.
//!
//! `serde_yaml` reads and writes values. It tells where a syntax error is, but not where a value
//! stands; that is what the events of `saphyr_parser` are for. JSON files are read here too, since
//! YAML includes JSON.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, Span};
use serde_json::Value;

/// A place in a text, both numbers counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// A value and the locations of its parts.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) value: Value,
    /// By JSON pointer: where a value stands.
    values: HashMap<String, Mark>,
    /// By JSON pointer: where the key of a member stands.
    keys: HashMap<String, Mark>,
    /// Keys that a mapping holds twice.
    pub(crate) repeated: Vec<(Mark, String)>,
}

/// Text that is not YAML.
#[derive(Debug)]
pub(crate) struct SyntaxError {
    pub(crate) mark: Option<Mark>,
    pub(crate) message: String,
}

impl Document {
    /// A value that no text holds.
    pub(crate) fn unplaced(value: Value) -> Self {
        Self { value, values: HashMap::new(), keys: HashMap::new(), repeated: Vec::new() }
    }

    /// Where the value at a pointer stands, or its nearest parent.
    pub(crate) fn value_mark(&self, pointer: &str) -> Option<Mark> {
        let parents = pointer.rmatch_indices('/').map(|(end, _)| &pointer[..end]);
        std::iter::once(pointer).chain(parents).find_map(|path| self.values.get(path)).copied()
    }

    /// Where the key of the member at a pointer stands.
    pub(crate) fn key_mark(&self, pointer: &str) -> Option<Mark> {
        self.keys.get(pointer).copied().or_else(|| self.value_mark(pointer))
    }
}

/// The pointer of a member of the value at `parent`.
pub(crate) fn member(parent: &str, key: &str) -> String {
    format!("{parent}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// Reads one document.
pub(crate) fn parse(text: &str) -> Result<Document, SyntaxError> {
    let value = serde_yaml::from_str(text).map_err(|error| {
        let mark = error.location().map(|at| Mark { line: at.line(), column: at.column() });
        let message = error.to_string();
        // The place is told apart from the message.
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        SyntaxError { mark, message }
    })?;
    let mut locations = Locations::default();
    // What one of the parsers takes and the other does not has no locations from there on: the events
    // would go on with the same error for ever.
    let mut events = Parser::new_from_str(text).map_while(Result::ok);
    while let Some((event, span)) = events.next() {
        if locations.node(&mut events, &event, span, "") {
            break;
        }
    }
    let Locations { values, keys, repeated } = locations;
    Ok(Document { value, values, keys, repeated })
}

/// Writes a value as a YAML document.
pub(crate) fn print(value: &Value) -> String {
    serde_yaml::to_string(value).expect("a JSON value is a YAML value")
}

#[derive(Default)]
struct Locations {
    values: HashMap<String, Mark>,
    keys: HashMap<String, Mark>,
    repeated: Vec<(Mark, String)>,
}

impl Locations {
    /// Notes where the node that begins with `event` stands, and all nodes in it. Returns whether
    /// the event began a node.
    fn node<'a>(
        &mut self,
        events: &mut impl Iterator<Item = (Event<'a>, Span)>,
        event: &Event<'a>,
        span: Span,
        pointer: &str,
    ) -> bool {
        match event {
            Event::Scalar(..) | Event::Alias(_) => {}
            Event::SequenceStart(..) => {
                let mut index = 0;
                while let Some((event, span)) = events.next() {
                    if !self.node(events, &event, span, &format!("{pointer}/{index}")) {
                        break;
                    }
                    index += 1;
                }
            }
            Event::MappingStart(..) => {
                while let Some((Event::Scalar(key, ..), at)) = events.next() {
                    let pointer = member(pointer, &key);
                    let repeated = self.keys.insert(pointer.clone(), mark(at)).is_some();
                    if repeated {
                        self.repeated.push((mark(at), key.into_owned()));
                    }
                    if let Some((event, span)) = events.next() {
                        self.node(events, &event, span, &pointer);
                    }
                }
            }
            _ => return false,
        }
        self.values.insert(pointer.to_owned(), mark(span));
        true
    }
}

fn mark(span: Span) -> Mark {
    Mark { line: span.start.line(), column: span.start.col() + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: usize, column: usize) -> Mark {
        Mark { line, column }
    }

    #[test]
    fn parts_of_a_document_know_where_they_stand() {
        let text = "version: 1\ntypes:\n  - name: a\n    properties:\n      t: {type: text, max: 3}\n  - {name: b}\n";
        let document = parse(text).unwrap();
        assert_eq!(document.key_mark("/version").unwrap(), at(1, 1));
        assert_eq!(document.value_mark("/version").unwrap(), at(1, 10));
        assert_eq!(document.key_mark("/types/0/properties/t").unwrap(), at(5, 7));
        assert_eq!(document.value_mark("/types/0/properties/t/type").unwrap(), at(5, 17));
        assert_eq!(document.key_mark("/types/0/properties/t/max").unwrap(), at(5, 23));
        assert_eq!(document.value_mark("/types/1/name").unwrap(), at(6, 12));
        assert_eq!(
            document.value_mark("/types/1/name/none/such").unwrap(),
            at(6, 12),
            "nearest parent"
        );
    }

    #[test]
    fn json_is_yaml() {
        let document = parse("{\n  \"a\": [1, {\"b/c\": true}]\n}").unwrap();
        assert_eq!(document.value["a"][1]["b/c"], Value::Bool(true));
        assert_eq!(document.value_mark("/a/1/b~1c").unwrap(), at(2, 20));
    }

    #[test]
    fn where_the_parsers_differ_values_have_no_place() {
        let document = parse("a: 1\nb:\n  - {c: d}#e\n  - f\n").unwrap();
        assert_eq!(document.value["b"][1], "f");
        assert_eq!(document.value_mark("/a").unwrap(), at(1, 4));
        document.value_mark("/b/1");
    }

    #[test]
    fn repeated_keys_and_syntax_errors_are_found() {
        let document = parse("a: 1\nb: {c: 1, c: 2}\n").unwrap();
        assert_eq!(document.repeated, [(Mark { line: 2, column: 11 }, "c".to_owned())]);
        let error = parse("a: 1\n b: 2\n").unwrap_err();
        assert_eq!(error.mark.unwrap().line, 2, "{}", error.message);
        assert!(!error.message.contains("line"), "{}", error.message);
    }
}
