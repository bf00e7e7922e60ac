//! Messages of validation errors that several modules use: see
//! docs/reference/content-types.md#validation-errors and
//! docs/reference/objects.md#validation-messages
//!
//! A message with one use is in the module that uses it.

use serde_json::Value;

pub const NOT_VALID: &str = "This value is not valid.";
pub const WRONG_DATE: &str = "Wrong date format";
pub const CHANGES_EXPIRED: &str = "The changes after this position are forgotten";
pub const NOT_IN_DATABASE: &str = "This value does not exist in database";
pub const ALREADY_USED: &str = "This value is already used";
pub const IN_USE: &str = "This content object is used in another content object.";
pub const NOT_AN_IMAGE: &str = "The file is not an image";
pub const DUPLICATES: &str = "There are no duplicates allowed in the array";

pub fn required(name: &str) -> String {
    format!("The property {name} is required")
}

/// `String value found, but a number is required`.
pub fn wrong_type(found: &Value, expected: &str) -> String {
    let article = if expected.starts_with(['a', 'i', 'o']) { "an" } else { "a" };
    format!("{} value found, but {article} {expected} is required", json_type(found))
}

/// The name of a value's JSON type in messages.
fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "NULL",
        Value::Bool(_) => "Boolean",
        Value::Number(number) if number.is_f64() => "Double",
        Value::Number(_) => "Integer",
        Value::String(_) => "String",
        Value::Array(_) => "Array",
        Value::Object(_) => "Object",
    }
}

pub fn too_short(minimum: u64) -> String {
    format!("Must be at least {minimum} characters long")
}

pub fn too_long(maximum: usize) -> String {
    format!("Must be at most {maximum} characters long")
}

pub fn too_few(minimum: u64) -> String {
    format!("There must be a minimum of {minimum} items in the array")
}

pub fn too_many(maximum: impl std::fmt::Display) -> String {
    format!("There must be a maximum of {maximum} items in the array")
}

/// Shows the allowed values as compact JSON.
pub fn not_in_enumeration(allowed: &[&str]) -> String {
    let list: Vec<String> = allowed.iter().map(|value| format!("\"{value}\"")).collect();
    format!("Does not have a value in the enumeration [{}]", list.join(","))
}

pub fn undeclared(name: &str) -> String {
    format!(
        "The property {name} is not defined and the definition does not allow additional properties"
    )
}
