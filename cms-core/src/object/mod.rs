//! The operations on content objects ([`service`] over [`mod@write`], [`create`], [`batch`],
//! [`version`], [`duplicate`], [`idempotency`], [`asking`]); [`hydrate`] replaces links with
//! objects.

pub(crate) mod asking;
pub(crate) mod batch;
mod create;
pub(crate) mod duplicate;
pub(crate) mod hydrate;
pub(crate) mod idempotency;
pub(crate) mod service;
pub(crate) mod trash;
pub(crate) mod version;
pub(crate) mod write;
