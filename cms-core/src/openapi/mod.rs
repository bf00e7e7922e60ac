//! The OpenAPI document (contract 9): [`service`] caches what [`cms_model::openapi`] describes.

pub(crate) mod service;
