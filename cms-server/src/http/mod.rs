//! One function per route: unpack, one call of the core, pack. Which route leads here is in
//! `router.rs`; key, scope and content type were checked before.

pub(crate) mod auth_context;
pub(crate) mod backup;
pub(crate) mod batch;
pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod content_types;
pub(crate) mod docs;
pub(crate) mod graphql;
pub(crate) mod health;
pub(crate) mod images;
pub(crate) mod keys;
pub(crate) mod media;
pub(crate) mod objects;
pub(crate) mod openapi;
pub(crate) mod publish;
pub(crate) mod search;
pub(crate) mod webhooks;
pub(crate) mod workflow;
