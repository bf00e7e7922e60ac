//! Messages of validation errors that several modules use: see
//! docs/reference/content-types.md#validation-errors and
//! docs/reference/objects.md#validation-messages
//!
//! A message with one use is in the module that uses it.

use std::fmt;

use serde_json::Value;

pub const NOT_VALID: &str = "This value is not valid.";
pub const WRONG_DATE: &str = "Wrong date format";
pub const CHANGES_EXPIRED: &str = "The changes after this position are no longer available";
/// See [`crate::error::Error::OutcomeUnknown`].
pub const OUTCOME_UNKNOWN: &str = "Commit outcome unknown";
pub const MATCHES_CHANGED: &str = "The number of matching objects has changed";
pub const NOT_IN_DATABASE: &str = "This value does not exist in database";
pub const ALREADY_USED: &str = "This value is already used";
pub const FORBIDDEN: &str = "Access denied or quota limit exceeded";
pub const IN_USE: &str = "This content object is used in another content object.";
pub const NOT_AN_IMAGE: &str = "The file is not an image";
pub const ID_MISMATCH: &str = "Id in the request body does not match the id in the path";
pub const NOT_AN_OPTION: &str = "The value does not match possible options";
pub const DUPLICATES: &str = "There are no duplicates allowed in the array";

const REQUIRED: (&str, &str) = ("The property ", " is required");
const UNDECLARED: &str = " is not defined and the definition does not allow additional properties";
const MISSING_FILTER_TYPE: &str = "Missing filter type for ";
const UNKNOWN_FILTER_TYPE: &str = "Unknown filter type ";
const BATCH_LIMIT: &str = "Batch limit exceeded, limit: ";
const OBJECT: &str = "Content object: \"";
const OBJECT_MISSING: &str = "\" doesn't exist";
const OBJECT_IN_USE: &str = "\" is used in another content object.";
const OBJECT_FORBIDDEN: &str = "\" is public, access denied";
const NO_DRAFT_PUBLIC: &str = "Draft & Public is not enabled for this content type";

/// The meaning of a validation message, for programs.
///
/// The API sends messages without codes. So a message is mapped to its code here and nowhere else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageCode {
    /// The target of a link does not exist.
    MissingTarget,
    /// A required value is missing.
    Required,
    /// A filter has no type or an unknown one.
    FilterType,
    /// The content type does not declare the property.
    Undeclared,
}

impl MessageCode {
    pub fn of(message: &str) -> Option<Self> {
        if message == NOT_IN_DATABASE {
            Some(Self::MissingTarget)
        } else if message.starts_with(REQUIRED.0) && message.ends_with(REQUIRED.1) {
            Some(Self::Required)
        } else if message.starts_with(MISSING_FILTER_TYPE)
            || message.starts_with(UNKNOWN_FILTER_TYPE)
        {
            Some(Self::FilterType)
        } else if message.ends_with(UNDECLARED) {
            Some(Self::Undeclared)
        } else {
            None
        }
    }
}

/// Why an action was refused; `Display` is the sentence of the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A batch contains more elements than this.
    BatchLimit(usize),
    /// The batch names an object that does not exist.
    ObjectMissing(String),
    /// Another object links to the object with this id.
    ObjectInUse(String),
    /// The object is public, and the caller may not publish.
    ObjectForbidden(String),
    /// The content type has no Draft & Public.
    NoDraftPublic,
    Other(String),
}

impl Reason {
    /// Reads the sentence of a response.
    pub fn parse(sentence: &str) -> Self {
        let object = |end| sentence.strip_prefix(OBJECT)?.strip_suffix(end).map(str::to_owned);
        if let Some(limit) = sentence.strip_prefix(BATCH_LIMIT).and_then(|n| n.parse().ok()) {
            Self::BatchLimit(limit)
        } else if let Some(id) = object(OBJECT_MISSING) {
            Self::ObjectMissing(id)
        } else if let Some(id) = object(OBJECT_IN_USE) {
            Self::ObjectInUse(id)
        } else if let Some(id) = object(OBJECT_FORBIDDEN) {
            Self::ObjectForbidden(id)
        } else if sentence == NO_DRAFT_PUBLIC {
            Self::NoDraftPublic
        } else {
            Self::Other(sentence.to_owned())
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BatchLimit(limit) => write!(f, "{BATCH_LIMIT}{limit}"),
            Self::ObjectMissing(id) => write!(f, "{OBJECT}{id}{OBJECT_MISSING}"),
            Self::ObjectInUse(id) => write!(f, "{OBJECT}{id}{OBJECT_IN_USE}"),
            Self::ObjectForbidden(id) => write!(f, "{OBJECT}{id}{OBJECT_FORBIDDEN}"),
            Self::NoDraftPublic => f.write_str(NO_DRAFT_PUBLIC),
            Self::Other(sentence) => f.write_str(sentence),
        }
    }
}

impl From<&str> for Reason {
    fn from(sentence: &str) -> Self {
        Self::Other(sentence.to_owned())
    }
}

impl From<String> for Reason {
    fn from(sentence: String) -> Self {
        Self::Other(sentence)
    }
}

pub fn required(name: &str) -> String {
    format!("{}{name}{}", REQUIRED.0, REQUIRED.1)
}

pub fn missing_filter_type(path: &str) -> String {
    format!("{MISSING_FILTER_TYPE}{path}")
}

pub fn unknown_filter_type(name: &str, path: &str) -> String {
    format!("{UNKNOWN_FILTER_TYPE}{name} for {path}")
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

pub fn no_match(pattern: &str) -> String {
    format!("Does not match the regex pattern {pattern}")
}

pub fn too_short(minimum: impl fmt::Display) -> String {
    format!("Must be at least {minimum} characters long")
}

pub fn too_long(maximum: impl fmt::Display) -> String {
    format!("Must be at most {maximum} characters long")
}

pub fn below_minimum(minimum: impl fmt::Display) -> String {
    format!("Must have a minimum value of {minimum}")
}

pub fn above_maximum(maximum: impl fmt::Display) -> String {
    format!("Must have a maximum value of {maximum}")
}

pub fn too_few(minimum: u64) -> String {
    format!("There must be a minimum of {minimum} items in the array")
}

pub fn too_many(maximum: impl fmt::Display) -> String {
    format!("There must be a maximum of {maximum} items in the array")
}

/// Shows the allowed values as compact JSON.
pub fn not_in_enumeration(allowed: &[&str]) -> String {
    let list: Vec<String> = allowed.iter().map(|value| format!("\"{value}\"")).collect();
    format!("Does not have a value in the enumeration [{}]", list.join(","))
}

/// [`ALREADY_USED`] for a combination of properties. The error is at the path of one of them; the
/// message names the others.
pub fn used_together(others: &[String]) -> String {
    format!("{ALREADY_USED} together with {}", others.join(", "))
}

pub fn undeclared(name: &str) -> String {
    format!("The property {name}{UNDECLARED}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_codes_are_found_by_the_message() {
        let table = [
            (NOT_IN_DATABASE.to_owned(), Some(MessageCode::MissingTarget)),
            (required("title"), Some(MessageCode::Required)),
            (missing_filter_type("title"), Some(MessageCode::FilterType)),
            (unknown_filter_type("like", "title"), Some(MessageCode::FilterType)),
            (NOT_VALID.to_owned(), None),
        ];
        for (message, code) in table {
            assert_eq!(MessageCode::of(&message), code, "{message}");
        }
    }

    #[test]
    fn reasons_are_read_back_from_their_sentences() {
        for reason in [
            Reason::BatchLimit(100),
            Reason::ObjectMissing("a \"b\"".to_owned()),
            Reason::ObjectInUse("a".to_owned()),
            Reason::ObjectForbidden("a".to_owned()),
            Reason::NoDraftPublic,
            Reason::Other(IN_USE.to_owned()),
        ] {
            assert_eq!(Reason::parse(&reason.to_string()), reason);
        }
    }
}
