//! Content type definitions: the model ([`model`]), reading payloads ([`parse`]), the schema that
//! objects are checked against ([`schema`]), the built-in types ([`builtin`]), all types of a
//! server at one moment ([`catalog`]), and the operations ([`service`], [`plan`] over [`change`]).
//! What a change does to stored values is in [`convert`], for all objects of a type in [`rewrite`];
//! [`nested`] names what changes inside a property.

pub(crate) mod builtin;
pub(crate) mod catalog;
pub(crate) mod change;
pub(crate) mod convert;
pub(crate) mod diff;
pub(crate) mod model;
mod nested;
pub(crate) mod parse;
pub(crate) mod plan;
pub(crate) mod resolve;
pub(crate) mod rewrite;
pub(crate) mod schema;
pub(crate) mod service;
pub(crate) mod slug;

/// The types that every new space has, as a create takes them.
pub fn builtin_types() -> Vec<serde_json::Value> {
    builtin::definitions().iter().map(|definition| serde_json::json!(definition)).collect()
}
