//! The operations on content objects ([`service`] over [`mod@write`], [`create`], [`batch`],
//! [`version`], [`duplicate`], [`idempotency`], [`synchronous_webhooks`]); [`hydrate`] replaces
//! links with objects.

pub(crate) mod batch;
mod create;
pub(crate) mod duplicate;
pub(crate) mod hydrate;
pub(crate) mod idempotency;
pub(crate) mod service;
pub(crate) mod synchronous_webhooks;
pub(crate) mod version;
pub(crate) mod write;
