//! Workflows (contract 5): [`model`] holds the built-in workflows and reads those of the operator,
//! [`transition`] decides what is enabled and what a step does.

pub mod model;
pub mod transition;
