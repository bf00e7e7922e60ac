//! The OpenAPI document (see docs/reference/openapi.md): [`service`] builds it with
//! [`cms_model::openapi`], [`cache`] keeps it.

pub(crate) mod cache;
pub(crate) mod service;
