//! The OpenAPI document (see docs/reference/openapi.md): [`service`] caches the documents of [`cms_model::openapi`].

pub(crate) mod service;
