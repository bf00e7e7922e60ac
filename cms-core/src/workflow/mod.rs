//! Workflows (contract 5): states of content, and named ways between them.
//!
//! [`model`] holds the built-in workflows and reads those of the operator, [`transition`] says
//! what is enabled and what a step does; both are functions from values to values. [`service`]
//! carries out what they say.

pub(crate) mod model;
pub(crate) mod service;
pub(crate) mod transition;
