//! Publishing (see docs/reference/publishing.md): [`service`] applies the rules of
//! [`cms_model::publish`].

pub(crate) mod service;
