//! The table of routes, finding a row of it, and the order of checks of a request.

pub(crate) mod path;
pub(crate) mod request;
pub(crate) mod table;
