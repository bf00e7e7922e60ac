//! Content type definitions: the model ([`model`]), reading payloads ([`parse`]), the schema that
//! objects are checked against ([`schema`]), the built-in types ([`builtin`]), all types at one moment
//! ([`catalog`]), which properties have an index ([`indexed`]). What a change does to stored values is in
//! [`convert`], for all objects of a type in [`rewrite`]; [`nested`] names what changes inside a property.

pub mod builtin;
pub mod catalog;
pub mod convert;
pub mod diff;
pub mod indexed;
pub mod model;
pub mod nested;
pub mod parse;
pub mod resolve;
pub mod rewrite;
pub mod schema;
pub mod slug;

/// The types that every new space has, as a create takes them.
pub fn builtin_types() -> Vec<serde_json::Value> {
    builtin::definitions().iter().map(|definition| serde_json::json!(definition)).collect()
}
