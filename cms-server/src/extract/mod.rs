//! Parsing the parts of a request: key, view, query, preconditions and body.

pub(crate) mod auth;
pub(crate) mod body;
pub(crate) mod cookie;
pub(crate) mod form;
pub(crate) mod header;
pub(crate) mod preconditions;
pub(crate) mod query;
pub(crate) mod visibility;
pub(crate) mod write_guards;
