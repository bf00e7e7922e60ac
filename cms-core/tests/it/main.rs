//! What the core promises, through its public names; the database file is looked at, never written.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod changes;
mod conversion;
mod graphql;
mod handles;
mod media;
mod objects;
mod openapi;
mod opening;
mod pictures;
mod plan;
mod project;
mod publish;
mod s3;
mod search;
mod support;
mod writers;
