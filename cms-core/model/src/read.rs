//! Reads JSON of unknown structure: a value of the wrong type is a validation error, never a panic.

use serde_json::{Map, Value};

use crate::{
    clock::Timestamp,
    dates,
    error::FieldErrors,
    message::{self, wrong_type},
};

/// A type of JSON values, by its name in messages.
pub trait JsonType<'a>: Sized {
    const NAME: &'static str;

    fn of(value: &'a Value) -> Option<Self>;
}

impl<'a> JsonType<'a> for &'a str {
    const NAME: &'static str = "string";

    fn of(value: &'a Value) -> Option<Self> {
        value.as_str()
    }
}

impl JsonType<'_> for bool {
    const NAME: &'static str = "boolean";

    fn of(value: &Value) -> Option<Self> {
        value.as_bool()
    }
}

impl<'a> JsonType<'a> for &'a [Value] {
    const NAME: &'static str = "array";

    fn of(value: &'a Value) -> Option<Self> {
        value.as_array().map(Vec::as_slice)
    }
}

impl<'a> JsonType<'a> for &'a Map<String, Value> {
    const NAME: &'static str = "object";

    fn of(value: &'a Value) -> Option<Self> {
        value.as_object()
    }
}

/// Any number, when only the type is checked.
pub struct AnyNumber;

impl JsonType<'_> for AnyNumber {
    const NAME: &'static str = "number";

    fn of(value: &Value) -> Option<Self> {
        value.is_number().then_some(Self)
    }
}

/// Any integer, when only the type is checked.
pub struct Integer;

impl JsonType<'_> for Integer {
    const NAME: &'static str = "integer";

    fn of(value: &Value) -> Option<Self> {
        (value.is_i64() || value.is_u64()).then_some(Self)
    }
}

/// Reads a value, or adds an error at `path` when it is of another type.
pub fn read<'a, T: JsonType<'a>>(
    value: &'a Value,
    path: impl Into<String>,
    errors: &mut FieldErrors,
) -> Option<T> {
    let read = T::of(value);
    if read.is_none() {
        errors.add(path, wrong_type(value, T::NAME));
    }
    read
}

/// Reads an optional key. `parent` is the path of the map.
pub fn optional<'a, T: JsonType<'a>>(
    map: &'a Map<String, Value>,
    key: &str,
    parent: &str,
    errors: &mut FieldErrors,
) -> Option<T> {
    read(map.get(key)?, join(parent, key), errors)
}

/// Reads a required key. `parent` is the path of the map.
pub fn required<'a, T: JsonType<'a>>(
    map: &'a Map<String, Value>,
    key: &str,
    parent: &str,
    errors: &mut FieldErrors,
) -> Option<T> {
    if !map.contains_key(key) {
        errors.add(join(parent, key), message::required(key));
    }
    optional(map, key, parent, errors)
}

/// Reads a required text, which is empty after an error.
pub fn required_text(map: &Map<String, Value>, key: &str, errors: &mut FieldErrors) -> String {
    required::<&str>(map, key, "", errors).unwrap_or_default().to_owned()
}

/// Reads an optional date in any of the accepted forms.
pub fn date(text: Option<&str>, key: &str, errors: &mut FieldErrors) -> Option<Timestamp> {
    let date = dates::parse_lenient(text?);
    if date.is_none() {
        errors.add(key, message::WRONG_DATE);
    }
    date
}

/// Reads a number of digits only, without a sign.
pub fn digits(text: &str) -> Option<i64> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Adds an error for each key that is not in `known`. `parent` is the path of the map.
pub fn refuse_others(
    map: &Map<String, Value>,
    known: &[&str],
    parent: &str,
    errors: &mut FieldErrors,
) {
    for key in map.keys().filter(|key| !known.contains(&key.as_str())) {
        errors.add(join(parent, key), message::undeclared(key));
    }
}

/// Reads an optional array of strings; other elements are errors.
pub fn strings<'a>(
    map: &'a Map<String, Value>,
    key: &str,
    parent: &str,
    errors: &mut FieldErrors,
) -> Vec<&'a str> {
    let items: &[Value] = optional(map, key, parent, errors).unwrap_or_default();
    let path = join(parent, key);
    let read = |(index, item)| read(item, format!("{path}[{index}]"), errors);
    items.iter().enumerate().filter_map(read).collect()
}

pub fn join(parent: &str, key: &str) -> String {
    if parent.is_empty() { key.to_owned() } else { format!("{parent}.{key}") }
}
