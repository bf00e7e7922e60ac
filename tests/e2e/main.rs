//! End-to-end tests of the built `cms`, and the rules of the source layout.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod backup;
mod bad_input;
mod batches;
#[expect(dead_code, reason = "shared with the tests of cms-core")]
#[path = "../../cms-core/tests/it/bucket.rs"]
mod bucket;
mod bulk;
mod cli_guide;
mod cli_walkthrough;
mod cluster;
mod commands;
mod configuration;
mod damage;
mod disk;
mod export_import;
mod forwarding;
mod graphql;
mod hostile_media;
mod init;
mod interrupted_imports;
mod keep_dates;
mod layers;
mod links;
mod login;
mod media;
mod messages;
mod missing_database;
mod objects;
mod openapi;
mod openid;
mod parity;
#[expect(dead_code, reason = "shared with the tests of cms-cluster")]
#[path = "../../cms-core/cluster/tests/it/server.rs"]
mod postgres;
mod preview;
mod projects;
mod python_guide;
mod receiver;
mod recovery;
mod reference;
mod response_cache;
mod retention;
mod s3;
mod search;
mod secrets;
mod server_errors;
mod short_links;
mod shutdown;
mod statuses;
mod suggestions;
mod support;
mod targets;
mod tidy;
mod traces;
mod two_nodes;
mod types;
mod unread_responses;
mod users;
mod validate;
mod wait;
mod webhooks;
mod whoami_and_status;
mod working_copies;
