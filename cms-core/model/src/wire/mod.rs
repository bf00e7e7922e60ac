//! Requests and responses of the API as data.
//!
//! Serialized structs have the names and key order of the API. They know neither storage nor HTTP:
//! server and command line, with and without a server, use the same types.

pub mod activity;
pub mod author;
pub mod backup;
pub mod batch;
pub mod bulk;
pub mod change;
pub mod check;
pub mod condition;
pub mod content_type;
pub mod context;
pub mod error;
pub mod graphql;
pub mod json;
pub mod key;
pub mod list;
pub mod media;
pub mod object;
pub mod openapi;
pub mod plan;
pub mod presence;
pub mod preview;
pub mod publish;
pub mod schedule;
pub mod search;
pub mod session;
pub mod shared_view;
pub mod trash;
pub mod user;
pub mod webhook;
pub mod workflow;
pub mod working_copy;
