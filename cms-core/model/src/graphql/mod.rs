//! GraphQL: types, validation, planning and rendering of queries (see docs/reference/graphql.md).
//!
//! [`model`] builds types from content types, with names of [`naming`]; [`schema`] exports them. A
//! query passes [`escapes`] (before it is parsed), [`complexity`] (limits), [`validate`], [`input`]
//! (variables and arguments), [`plan`] (compilation) and [`arguments`] (list requests); [`render`]
//! writes the response and [`error`] the errors.
//!
//! `async_graphql` parses queries and exports schemas. It does not execute queries: resolving field
//! by field takes ten times as long as reading the objects.

pub mod arguments;
pub mod complexity;
pub mod error;
pub mod escapes;
pub mod input;
pub mod model;
pub mod naming;
pub mod plan;
pub mod render;
pub mod schema;
pub mod validate;
