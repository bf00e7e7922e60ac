//! End-to-end tests of the built `cms`, and the rules of the source layout.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod backup;
mod batches;
mod bulk;
mod cli_guide;
mod cli_walkthrough;
mod commands;
mod configuration;
mod damage;
mod disk;
mod export_import;
mod graphql;
mod hostile_media;
mod interrupted_imports;
mod keep_dates;
mod layers;
mod links;
mod media;
mod messages;
mod missing_database;
mod objects;
mod openapi;
mod openid;
mod parity;
mod preview;
mod projects;
mod receiver;
mod recovery;
mod reference;
mod retention;
mod s3;
mod search;
mod secrets;
mod server_errors;
mod short_links;
mod shutdown;
mod statuses;
mod support;
mod targets;
mod tidy;
mod traces;
mod unread_responses;
mod users;
mod webhooks;
mod working_copies;
