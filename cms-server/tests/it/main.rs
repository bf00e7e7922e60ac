//! Tests of the HTTP interface through its requests and responses.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod activity;
mod auth_context;
mod changes;
mod conditions;
mod conventions;
mod coverage;
mod docs;
mod graphql;
mod headers;
mod hostile;
mod hydration;
mod images;
mod keep_dates;
mod keys;
mod logs;
mod management_document;
mod media;
mod messages;
mod openapi;
mod operations;
mod presence;
mod projection;
mod publish;
mod queries;
mod recovery;
mod relevance;
mod schedule;
mod search;
mod secrecy;
mod serving;
mod single_objects;
mod support;
mod transfers;
mod views;
mod visibility;
mod webhooks;
mod workflow;
mod working_copies;
