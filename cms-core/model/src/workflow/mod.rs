//! Workflows, see docs/reference/workflows.md: built-in and custom workflows ([`model`]),
//! transitions of objects ([`transition`]).

pub mod model;
pub mod transition;
