//! The OpenAPI document (contract 9): [`service`] makes it with [`cms_model::openapi`], [`cache`] keeps it.

pub(crate) mod cache;
pub(crate) mod service;
