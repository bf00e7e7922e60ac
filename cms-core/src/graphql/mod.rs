//! Queries in the language GraphQL (contract 8).
//!
//! [`model`] makes types from content types, with the names of [`naming`]; [`schema`] describes
//! them, and [`schemas`] keeps what was made. A query goes through [`bounds`] (may it be looked at),
//! [`validate`] (is it right), [`input`] (what are its arguments), [`plan`] (what is to be done) and
//! [`lists`] (which objects are meant); then [`execute`] reads the objects and [`render`] writes the
//! answer. [`service`] puts these in their order. All are functions from values to values, but for
//! `execute`, which reads from a snapshot of the store, and what is kept in `schemas`.
//!
//! `async_graphql` parses, and describes schemas. It does not execute: resolving field by field takes
//! ten times as long as reading the objects.

pub(crate) mod bounds;
pub(crate) mod execute;
pub(crate) mod fault;
pub(crate) mod input;
pub(crate) mod lists;
pub(crate) mod model;
pub(crate) mod naming;
pub(crate) mod plan;
pub(crate) mod render;
pub(crate) mod schema;
pub(crate) mod schemas;
pub(crate) mod service;
pub(crate) mod validate;
