//! Content types: the catalog of this process ([`catalog_cache`]), and the operations ([`service`],
//! [`plan`] over [`change`]). What a type is and what a change does to values: [`cms_model::content_type`].

pub(crate) mod catalog_cache;
pub(crate) mod change;
pub(crate) mod plan;
pub(crate) mod service;
