//! Content objects: what one is ([`model`]), whether it is valid ([`validate`]), how it becomes
//! JSON ([`render`], [`hydrate`]), and the operations ([`service`] over [`mod@write`], [`create`],
//! [`batch`], [`version`], [`duplicate`], [`idempotency`], [`asking`]).

pub(crate) mod asking;
pub(crate) mod batch;
mod create;
pub(crate) mod dates;
pub(crate) mod duplicate;
pub(crate) mod hydrate;
pub(crate) mod idempotency;
pub(crate) mod link;
mod list;
pub(crate) mod model;
pub(crate) mod path;
pub(crate) mod remember;
pub(crate) mod render;
pub(crate) mod rules;
pub(crate) mod scan;
pub(crate) mod service;
pub(crate) mod title;
pub(crate) mod trash;
pub(crate) mod validate;
pub(crate) mod version;
pub(crate) mod view;
pub(crate) mod write;
