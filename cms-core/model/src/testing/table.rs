//! Tables of validation errors under `fixtures/tables`: a valid JSON value, and rows that make it
//! invalid.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{error::FieldErrors, testing::fixture};

/// One table.
#[derive(Debug, Deserialize)]
pub struct Table {
    /// The valid value that every row changes.
    pub base: Value,
    /// Content types that have to exist, in this order.
    #[serde(default)]
    pub types: Vec<Value>,
    /// Objects that have to exist, in this order.
    #[serde(default)]
    pub objects: Vec<TableObject>,
    pub rows: Vec<Row>,
}

/// An object that a table needs in the store.
#[derive(Debug, Deserialize)]
pub struct TableObject {
    #[serde(rename = "type")]
    pub content_type: String,
    pub object: Value,
}

/// One invalid value and all its errors.
#[derive(Debug, Deserialize)]
pub struct Row {
    pub name: String,
    /// `POST`, or `PUT` to replace the base value, which was stored before.
    #[serde(default = "post")]
    pub method: String,
    /// New values by JSON pointer; `-` at the end of a pointer appends to an array.
    #[serde(default)]
    set: Map<String, Value>,
    /// JSON pointers, removed after `set` was done.
    #[serde(default)]
    remove: Vec<String>,
    /// Only a store finds the error; the base value was stored before.
    #[serde(default)]
    pub database: bool,
    /// All errors of the response.
    pub errors: FieldErrors,
}

fn post() -> String {
    "POST".to_owned()
}

impl Table {
    /// Reads `fixtures/tables/<name>.json`.
    pub fn read(name: &str) -> Self {
        let path = fixture(&format!("tables/{name}.json"));
        let text = std::fs::read(&path).expect("the table exists");
        serde_json::from_slice(&text).expect("the table has the documented format")
    }
}

impl Row {
    /// Applies the changes of this row to the base value.
    pub fn apply(&self, base: &Value) -> Value {
        let mut value = base.clone();
        for (pointer, new) in &self.set {
            let (parent, key) = split(pointer);
            match value.pointer_mut(parent) {
                Some(Value::Object(map)) => drop(map.insert(key.to_owned(), new.clone())),
                Some(Value::Array(items)) if key == "-" => items.push(new.clone()),
                Some(Value::Array(items)) => items[index(key)] = new.clone(),
                _ => panic!("{}: {pointer} leads nowhere", self.name),
            }
        }
        for pointer in &self.remove {
            let (parent, key) = split(pointer);
            let removed = match value.pointer_mut(parent) {
                Some(Value::Object(map)) => map.shift_remove(key),
                Some(Value::Array(items)) => Some(items.remove(index(key))),
                _ => None,
            };
            assert!(removed.is_some(), "{}: {pointer} leads nowhere", self.name);
        }
        value
    }
}

fn split(pointer: &str) -> (&str, &str) {
    pointer.rsplit_once('/').expect("a JSON pointer starts with a slash")
}

fn index(key: &str) -> usize {
    key.parse().expect("array elements have numbers")
}
