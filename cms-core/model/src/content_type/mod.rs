//! Content types.
//!
//! Definitions: the model ([`model`]), parsing ([`parse`]), the schema that validates objects
//! ([`schema`]), the built-in types ([`builtin`]), slugs ([`slug`]), resolved schemas
//! ([`resolve`]), indexed properties ([`indexed`]), default values ([`defaults`]), the preview URL
//! ([`preview`]), a snapshot of all types ([`catalog`]).
//!
//! Changes: differences between two definitions ([`diff`], [`nested`]), conversion of a value
//! ([`convert`]), of all objects of a type ([`rewrite`], `tightened`, `combinations`) and of an
//! object from the trash ([`history`]).

pub mod builtin;
pub mod catalog;
mod combinations;
pub mod convert;
pub mod defaults;
pub mod diff;
pub mod history;
pub mod indexed;
pub mod model;
pub mod nested;
pub mod parse;
pub mod preview;
pub mod resolve;
pub mod rewrite;
pub mod schema;
pub mod slug;
pub mod stored_level;
mod tightened;

/// Returns whether a property can have this name: ASCII letters, digits and `_`.
pub fn is_property_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric())
}

/// The built-in types, as payloads of create requests.
pub fn builtin_types() -> Vec<serde_json::Value> {
    builtin::definitions().iter().map(|definition| serde_json::json!(definition)).collect()
}
