//! Tests of the core through its public names. They read the database file, and write it only to
//! damage it or to make it older.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod backup;
#[expect(dead_code, reason = "shared with end-to-end tests and benchmarks")]
mod bucket;
mod bulk;
mod bulk_load;
mod change_feed;
mod check;
mod clock;
mod cluster;
mod cluster_upgrade;
mod concurrent_writes;
mod conditions;
mod conversion;
mod data_directory;
mod graphql;
mod hostile;
mod hydration;
mod identity;
mod image_rendering;
mod incoming_counts;
mod media;
mod memory;
mod objects;
mod openapi;
mod plan;
mod project;
mod projection;
mod publish;
mod restore;
#[cfg(feature = "s3")]
mod s3;
mod search;
mod sessions;
mod stopped_check;
mod stored_files;
mod support;
mod synchronous_webhooks;
mod trash;
mod two_processes;
mod type_changes;
mod type_rules;
mod upgrade;
mod webhook_log;
mod webhook_schedule;
mod webhook_settings;
mod webhooks;
