//! Content types: the cached catalog ([`catalog_cache`]), and the operations ([`service`], [`plan`]
//! over [`change`]). The rules of types and of value conversion: [`cms_model::content_type`].

pub(crate) mod catalog_cache;
pub(crate) mod change;
pub(crate) mod plan;
pub(crate) mod service;
