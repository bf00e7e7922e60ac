//! What the core promises, through its public names. The database file is looked at, and written only
//! to make it one of another time.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod asking;
mod backup;
mod changes;
mod check;
mod clock;
mod conditions;
mod conversion;
mod follow;
mod graphql;
mod handles;
mod hostile;
mod hydration;
mod media;
mod memory;
mod objects;
mod openapi;
mod opening;
mod pictures;
mod plan;
mod project;
mod publish;
mod restore;
#[cfg(feature = "s3")]
mod s3;
mod search;
mod stored_files;
mod support;
mod upgrade;
mod webhook_schedule;
mod webhooks;
mod writers;
