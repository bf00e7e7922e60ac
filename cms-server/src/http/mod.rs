//! One function per route: unpack the request, call the core, make the response.
//!
//! `routing/table.rs` has the routes; `routing/authenticated_request.rs` checks the key before, and on routes
//! with a body also permission and media type. Nothing here knows the table.

pub(crate) mod activity;
#[cfg(feature = "admin")]
pub(crate) mod admin;
pub(crate) mod api_explorer;
pub(crate) mod auth_context;
pub(crate) mod backup;
pub(crate) mod batch;
pub(crate) mod bulk;
pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod content_types;
pub(crate) mod context;
pub(crate) mod event_stream;
pub(crate) mod graphql;
pub(crate) mod health;
pub(crate) mod images;
pub(crate) mod keys;
pub(crate) mod media;
pub(crate) mod objects;
pub(crate) mod openapi;
pub(crate) mod openid;
pub(crate) mod presence;
pub(crate) mod presence_events;
pub(crate) mod preview;
pub(crate) mod progress;
pub(crate) mod publish;
pub(crate) mod search;
pub(crate) mod session;
pub(crate) mod settings;
pub(crate) mod shared_views;
pub(crate) mod start;
pub(crate) mod trash;
pub(crate) mod users;
pub(crate) mod webhooks;
pub(crate) mod workflow;
pub(crate) mod working_copies;
