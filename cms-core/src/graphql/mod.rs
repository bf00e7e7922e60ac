//! Queries in the language GraphQL (contract 8).
//!
//! [`model`] makes types from content types, with the names of [`naming`]; [`schema`] describes
//! them. A query goes through [`bounds`] (may it be looked at), [`validate`] (is it right), [`input`]
//! (what are its arguments), [`plan`] (what is to be done), and then [`execute`] reads the objects
//! and [`render`] writes the answer. [`service`] puts these in their order. All but the last are
//! functions from values to values, except `execute`, which reads from a snapshot of the store.
//!
//! `async_graphql` parses, and describes schemas. It does not execute: resolving field by field takes
//! ten times as long as reading the objects.

pub(crate) mod bounds;
pub(crate) mod execute;
pub(crate) mod fault;
pub(crate) mod input;
pub(crate) mod model;
pub(crate) mod naming;
pub(crate) mod plan;
pub(crate) mod render;
pub(crate) mod schema;
pub(crate) mod service;
pub(crate) mod validate;
