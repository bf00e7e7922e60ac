//! End to end: the built `cms`, as a user or a script runs it, and the rules of the layout.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod backup;
mod batches;
mod commands;
mod configuration;
mod damage;
mod disk;
mod documents;
mod faults;
mod graphql;
mod interrupted_imports;
mod kept_dates;
mod layers;
mod lost;
mod media;
mod media_files;
mod messages;
mod openapi;
mod parity;
mod projects;
mod receiver;
mod recovery;
mod retention;
mod s3;
mod search;
mod secrets;
mod shutdown;
mod spaces;
mod statuses;
mod support;
mod targets;
mod tidy;
mod traces;
mod unread;
mod walk;
mod webhooks;
