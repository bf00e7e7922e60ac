//! The table of routes, matching a path to a row of it, and the order of checks of a request.

mod authenticated_request;
mod checks;
pub(crate) mod path;
pub(crate) mod permissions;
pub(crate) mod request;
pub(crate) mod route;
pub(crate) mod table;
