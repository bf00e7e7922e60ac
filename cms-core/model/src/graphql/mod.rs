//! GraphQL queries (contract 8).
//!
//! [`model`] makes types from content types, with the names of [`naming`]; [`schema`] describes them. A
//! query goes through [`bounds`] (is its size acceptable), [`validate`] (is it valid), [`input`] (its
//! arguments), [`plan`] (what has to be done) and [`lists`] (which objects are meant); [`render`] writes
//! the response.
//!
//! `async_graphql` parses, and describes schemas. It does not execute: resolving field by field takes
//! ten times as long as reading the objects.

pub mod bounds;
pub mod fault;
pub mod input;
pub mod lists;
pub mod model;
pub mod naming;
pub mod plan;
pub mod render;
pub mod schema;
pub mod validate;
