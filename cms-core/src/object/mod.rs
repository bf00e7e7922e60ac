//! The operations on content objects ([`read`], [`service`] over [`mod@write`], [`create`], [`batch`],
//! [`version`], [`duplicate`], [`idempotency`], [`before_write`], [`validate`], [`incoming`]);
//! [`hydrate`] replaces links with objects, [`authors`] adds who created and changed them.

pub(crate) mod authors;
pub(crate) mod batch;
pub(crate) mod batch_report;
mod before_write;
mod create;
pub(crate) mod duplicate;
pub(crate) mod hydrate;
pub(crate) mod idempotency;
mod incoming;
pub(crate) mod linked_objects;
pub(crate) mod read;
pub(crate) mod service;
mod validate;
pub(crate) mod version;
pub(crate) mod write;
