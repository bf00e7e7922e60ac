//! stub
use super::model::Definition;
pub(crate) fn definitions() -> Vec<Definition> { Vec::new() }
pub(crate) fn is_builtin(_name: &str) -> bool { false }
