//! The public API as data: what the server sends and reads, and what the command line shows.
//!
//! Structs here have the names and key order of the contract. They know no storage and no HTTP;
//! the same values go through the server, the remote command line and the direct one.

pub mod backup;
pub mod batch;
pub mod change;
pub mod check;
pub mod condition;
pub mod content_type;
pub mod context;
pub mod error;
pub mod graphql;
pub mod key;
pub mod list;
pub mod media;
pub mod object;
pub mod openapi;
pub mod plan;
pub mod publish;
pub mod search;
pub mod webhook;
pub mod workflow;
