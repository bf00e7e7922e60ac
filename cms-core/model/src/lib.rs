//! The content model: values, and functions from values to values.
//!
//! Except for tests, nothing here reads or writes a file, opens a connection, or reads the system time:
//! the layers above do that, and pass [`clock::Clock`] and [`ids::IdSource`] as inputs.
//!
//! | module | content |
//! |---|---|
//! | [`wire`] | the public API as data |
//! | [`content_type`] | content type definitions: model, parsing, schema, differences, conversion of values |
//! | [`object`] | content objects: validation, links, rendering, visibility |
//! | [`pattern`], [`query`] | regular expressions of properties; filters and order of lists |
//! | [`publish`], [`workflow`] | statuses and schedules; states and transitions |
//! | [`search`] | the query language of searches, text analysis |
//! | [`graphql`], [`openapi`], [`typescript`] | types and planning of GraphQL queries; the OpenAPI document; types for clients |
//! | [`media`] | image paths, transformations and formats; names and fingerprints of files |
//! | [`auth`], [`user`], [`context`] | keys and scopes; users, passwords, sessions and OpenID claims; the caller of a service |
//! | [`webhook`] | payloads, signatures and retries |
//! | [`error`], [`message`], [`limits`], [`memory`] | errors and their messages; limits; the response memory budget |
//! | [`clock`], [`ids`], [`dates`], [`json`], [`paging`], [`read`], [`retention`], [`settings`] | values that all of these use |

pub mod auth;
pub mod clock;
pub mod content_type;
pub mod context;
pub mod dates;
pub mod error;
pub mod graphql;
pub mod ids;
pub mod json;
pub mod limits;
pub mod media;
pub mod memory;
pub mod message;
mod named;
pub mod object;
pub mod openapi;
pub mod paging;
pub mod pattern;
pub mod publish;
pub mod query;
pub mod read;
pub mod retention;
pub mod search;
pub mod settings;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod typescript;
pub mod user;
pub mod webhook;
pub mod wire;
pub mod workflow;

/// `tracing` target of the spans of all layers: the steps of a request, without content. They are
/// recorded only when a subscriber enables this target.
pub const TRACE_TARGET: &str = "cms_trace";
