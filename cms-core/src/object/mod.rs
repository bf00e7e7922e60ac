//! The operations on content objects ([`service`] over [`mod@write`], [`create`], [`batch`],
//! [`version`], [`duplicate`], [`idempotency`], [`synchronous_webhooks`], [`validate`],
//! [`incoming`]); [`hydrate`] replaces
//! links with objects, [`authors`] names who changed them.

pub(crate) mod authors;
pub(crate) mod batch;
mod create;
pub(crate) mod duplicate;
pub(crate) mod hydrate;
pub(crate) mod idempotency;
mod incoming;
pub(crate) mod service;
pub(crate) mod synchronous_webhooks;
mod validate;
pub(crate) mod version;
pub(crate) mod write;
