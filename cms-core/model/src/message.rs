//! Sentences that definitions and objects are judged by alike (contract 2.4, 3.6).
//!
//! Sentences that only one of the two uses stand where they are used: in `content_type::parse` and
//! `object::validate`.

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

/// `String value found, but a number is required` and its family.
pub fn wrong_type(found: &Value, expected: &str) -> String {
    let article = if expected.starts_with(['a', 'i', 'o']) { "an" } else { "a" };
    format!("{} value found, but {article} {expected} is required", kind(found))
}

/// What messages call the kind of a value.
fn kind(value: &Value) -> &'static str {
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

pub fn too_short(least: u64) -> String {
    format!("Must be at least {least} characters long")
}

pub fn too_long(most: usize) -> String {
    format!("Must be at most {most} characters long")
}

pub fn too_few(least: u64) -> String {
    format!("There must be a minimum of {least} items in the array")
}

pub fn too_many(most: impl std::fmt::Display) -> String {
    format!("There must be a maximum of {most} items in the array")
}

/// The allowed values are shown as a compact JSON list.
pub fn not_in_enumeration(allowed: &[&str]) -> String {
    let list: Vec<String> = allowed.iter().map(|value| format!("\"{value}\"")).collect();
    format!("Does not have a value in the enumeration [{}]", list.join(","))
}

pub fn undeclared(name: &str) -> String {
    format!(
        "The property {name} is not defined and the definition does not allow additional properties"
    )
}
