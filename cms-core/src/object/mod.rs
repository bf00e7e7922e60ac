//! Content objects: what one is ([`model`]), whether it is valid ([`validate`]), how it becomes
//! JSON ([`render`], [`hydrate`]), and the operations ([`service`] over [`write`] and [`batch`]).

pub(crate) mod link;
pub(crate) mod path;
pub(crate) mod rules;
pub(crate) mod service;
pub(crate) mod validate;
