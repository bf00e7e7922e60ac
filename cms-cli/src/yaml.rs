//! Reads and writes YAML, as the only file that uses `serde_yaml`. Also reads JSON, of which YAML includes
//! almost everything: escaped surrogate pairs (`"\ud83d\ude00"`) and some line separators have another meaning in
//! YAML.
//!
//! `serde_yaml` has no positions of values, but its errors have positions. So the position of a
//! value, which only error messages need, is found by reading the text again and failing at the
//! value.

use std::{fmt, rc::Rc};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

use crate::failure::Diagnostic;

/// A YAML document.
#[derive(Debug)]
pub(crate) struct YamlDocument {
    /// The file as the user named it.
    name: String,
    text: String,
    /// Whether only a JSON parser reads the text correctly: then it finds positions, too.
    is_json: bool,
    pub(crate) value: Value,
}

/// The location of a value or of its key. Line and column are found when the location is formatted.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    document: Rc<YamlDocument>,
    /// JSON pointer of the value.
    pointer: String,
    of_key: bool,
}

impl YamlDocument {
    /// Parses a document; a mapping must not repeat a key.
    pub(crate) fn parse(name: &str, text: String) -> Result<Self, Diagnostic> {
        // YAML joins the lines of a text, also at characters that are no line ends in JSON.
        let json = serde_json::from_str(&text).ok().map(|UniqueKeys(value)| value);
        let (is_json, value) = match (serde_yaml::from_str(&text), json) {
            (Ok(UniqueKeys(value)), None) => (false, value),
            (Ok(UniqueKeys(yaml)), Some(json)) => (yaml != json, json),
            (Err(_), Some(value)) => (true, value),
            (Err(error), None) => return Err(Diagnostic::syntax(name, position(&error), &error)),
        };
        Ok(Self { name: name.to_owned(), text, is_json, value })
    }

    /// A document without text.
    pub(crate) fn of_value(value: Value) -> Self {
        Self { name: String::new(), text: String::new(), is_json: false, value }
    }

    /// The locations of the items of a top-level sequence: `file:line`, or `file[number]` where
    /// several items are on one line.
    pub(crate) fn item_locations(&self) -> Vec<String> {
        let name = &self.name;
        let indent = |line: &str| line.len() - line.trim_start().len();
        let is_item = |line: &str| line.trim() == "-" || line.trim_start().starts_with("- ");
        let mut items = self.text.lines().enumerate().filter(|(_, line)| is_item(line));
        let Some((first, line)) = items.next() else { return self.numbered_items() };
        // Everything in an item is indented more than its dash.
        let items = items.filter(|(_, other)| indent(other) == indent(line));
        let lines = std::iter::once(first).chain(items.map(|(line, _)| line));
        let lines: Vec<String> = lines.map(|line| format!("{name}:{}", line + 1)).collect();
        if Some(lines.len()) == self.value.as_array().map(Vec::len) {
            lines
        } else {
            self.numbered_items()
        }
    }

    fn numbered_items(&self) -> Vec<String> {
        let count = self.value.as_array().map_or(0, Vec::len);
        (1..=count).map(|number| format!("{}[{number}]", self.name)).collect()
    }
}

impl Location {
    pub(crate) fn of_value(document: &Rc<YamlDocument>, pointer: &str) -> Self {
        let (document, pointer) = (Rc::clone(document), pointer.to_owned());
        Self { document, pointer, of_key: false }
    }

    pub(crate) fn file_name(&self) -> &str {
        &self.document.name
    }

    pub(crate) fn of_key(document: &Rc<YamlDocument>, pointer: &str) -> Self {
        Self { of_key: true, ..Self::of_value(document, pointer) }
    }
}

/// `file:line:column`. A value that does not exist has the location of the nearest one around it.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let YamlDocument { name, text, is_json, .. } = &*self.document;
        let steps = self.pointer.split('/').skip(1);
        let steps: Vec<String> =
            steps.map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
        let seek = Seek { steps: &steps, of_key: self.of_key };
        let found = if *is_json {
            let found = seek.deserialize(&mut serde_json::Deserializer::from_str(text));
            found.err().map(|error| (error.line(), error.column()))
        } else {
            let found = seek.deserialize(serde_yaml::Deserializer::from_str(text));
            found.err().as_ref().and_then(position)
        };
        match found {
            Some((line, column)) => write!(f, "{name}:{line}:{column}"),
            None => f.write_str(name),
        }
    }
}

/// Returns the JSON pointer of a member of the value at `parent`.
pub(crate) fn member(parent: &str, key: &str) -> String {
    format!("{parent}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// Formats a value as a YAML document.
pub(crate) fn print(value: &Value) -> String {
    serde_yaml::to_string(value).expect("a JSON value is a YAML value")
}

fn position(error: &serde_yaml::Error) -> Option<(usize, usize)> {
    error.location().map(|at| (at.line(), at.column()))
}

/// Reads up to a value and fails there, so that the error has the position of the value.
struct Seek<'s> {
    steps: &'s [String],
    of_key: bool,
}

impl<'de> DeserializeSeed<'de> for Seek<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.steps.is_empty() {
            deserializer.deserialize_any(Refuse)
        } else {
            deserializer.deserialize_any(self)
        }
    }
}

// For scalars, which have no members, the default methods of `Visitor` fail.
impl<'de> Visitor<'de> for Seek<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping or a sequence")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let Some((step, steps)) = self.steps.split_first() else { return Err(not_found()) };
        let refuse = self.of_key && steps.is_empty();
        while let Some(is_wanted) = members.next_key_seed(SeekKey { key: step, refuse })? {
            if is_wanted {
                members.next_value_seed(Seek { steps, of_key: self.of_key })?;
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Err(not_found())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Some((step, steps)) = self.steps.split_first() else { return Err(not_found()) };
        for _ in 0..step.parse().unwrap_or(0) {
            items.next_element::<IgnoredAny>()?;
        }
        items.next_element_seed(Seek { steps, of_key: self.of_key })?;
        Err(not_found())
    }
}

fn not_found<E: serde::de::Error>() -> E {
    E::custom("not found")
}

/// Returns whether a key is the wanted one; with `refuse`, fails at the wanted key.
struct SeekKey<'s> {
    key: &'s str,
    refuse: bool,
}

impl<'de> DeserializeSeed<'de> for SeekKey<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for SeekKey<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<bool, E> {
        if key == self.key && self.refuse { Err(not_found()) } else { Ok(key == self.key) }
    }
}

/// Fails at any value.
struct Refuse;

impl Visitor<'_> for Refuse {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing")
    }
}

/// A value whose mappings do not repeat keys.
struct UniqueKeys(Value);

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueKeysVisitor).map(Self)
    }
}

struct UniqueKeysVisitor;

impl<'de> Visitor<'de> for UniqueKeysVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    /// An empty document.
    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(UniqueKeys(value)) = items.next_element()? {
            array.push(value);
        }
        Ok(array.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = members.next_key_seed(NewKey(&object))? {
            let UniqueKeys(value) = members.next_value()?;
            object.insert(key, value);
        }
        Ok(object.into())
    }
}

/// A key that the mapping does not have yet.
struct NewKey<'m>(&'m Map<String, Value>);

impl<'de> DeserializeSeed<'de> for NewKey<'_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for NewKey<'_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string key")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<String, E> {
        if self.0.contains_key(key) {
            return Err(E::custom(format!("the key \"{key}\" is repeated")));
        }
        Ok(key.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Rc<YamlDocument> {
        Rc::new(YamlDocument::parse("f", text.to_owned()).unwrap())
    }

    fn refused(text: &str) -> String {
        let Diagnostic { location, message } =
            YamlDocument::parse("f", text.to_owned()).unwrap_err();
        format!("{location}: {message}")
    }

    #[test]
    fn values_and_keys_have_locations() {
        let text = "version: 1\ntypes:\n  - name: a\n    properties:\n      t: {type: text, max: 3}\n  - {name: b}\n";
        let document = parse(text);
        let table = [
            ("/version", "f:1:10", "f:1:1"),
            ("/types", "f:3:3", "f:2:1"),
            ("/types/0", "f:3:5", "f:3:5"),
            ("/types/0/properties/t", "f:5:10", "f:5:7"),
            ("/types/0/properties/t/type", "f:5:17", "f:5:11"),
            ("/types/0/properties/t/max", "f:5:28", "f:5:23"),
            ("/types/1/name", "f:6:12", "f:6:6"),
            // The nearest value around one that does not exist.
            ("/types/1/name/none/such", "f:6:12", "f:6:12"),
            ("/types/1/none", "f:6:5", "f:6:5"),
            ("/types/7", "f:3:3", "f:3:3"),
            ("", "f:1:1", "f:1:1"),
        ];
        for (pointer, value, key) in table {
            assert_eq!(Location::of_value(&document, pointer).to_string(), value, "{pointer}");
            assert_eq!(Location::of_key(&document, pointer).to_string(), key, "key {pointer}");
        }
    }

    #[test]
    fn json_is_yaml() {
        let document = parse("{\n  \"a\": [1, {\"b/c\": true}]\n}");
        assert_eq!(document.value["a"][1]["b/c"], Value::Bool(true));
        assert_eq!(Location::of_value(&document, "/a/1/b~1c").to_string(), "f:2:20");
    }

    /// JSON writers escape characters outside the Basic Multilingual Plane as surrogate pairs, which YAML cannot
    /// read.
    #[test]
    fn json_with_surrogate_pairs_is_read() {
        let document = parse("{\n  \"a\": \"\\ud83d\\ude00\",\n  \"b\": [1, {\"c\": true}]\n}");
        assert_eq!(document.value["a"], "\u{1f600}");
        let location = Location::of_value(&document, "/b/1/c").to_string();
        assert!(location.starts_with("f:3:"), "{location}");
        assert!(refused("{\"a\": \"\\ud83d\\ude00\", \"a\": 1}").starts_with("f:1:"));
    }

    #[test]
    fn json_texts_keep_their_line_separators() {
        let text = "a \u{2028} b \u{85} c";
        let document = parse(&serde_json::json!({ "a": text, "b": {} }).to_string());
        assert_eq!(document.value["a"], text);
        assert_eq!(Location::of_value(&document, "/b").to_string(), "f:1:26");
    }

    #[test]
    fn aliases_and_numbers_are_values() {
        let document = parse("a: &x {b: [1, -1, 1.5, null, ~, text]}\nc: *x\n");
        assert_eq!(document.value["c"], document.value["a"]);
        assert_eq!(document.value["a"]["b"].to_string(), "[1,-1,1.5,null,null,\"text\"]");
    }

    #[test]
    fn repeated_keys_and_syntax_errors_have_locations() {
        assert_eq!(refused("a: 1\nb: {c: 1, c: 2}\n"), "f:2:11: b: the key \"c\" is repeated");
        let error = refused("a: 1\n b: 2\n");
        assert!(error.starts_with("f:2:") && !error.contains("line"), "{error}");
    }

    #[test]
    fn items_have_lines() {
        let block = parse("# objects\n- id: a\n  list:\n  - x\n- id: b\n-\n  id: c\n");
        assert_eq!(block.item_locations(), ["f:2", "f:5", "f:6"]);
        assert_eq!(parse("[{id: a}, {id: b}]").item_locations(), ["f[1]", "f[2]"]);
        assert_eq!(parse("{id: a}").item_locations(), [""; 0]);
    }
}
