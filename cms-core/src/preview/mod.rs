//! Preview tokens (see docs/reference/preview.md): [`service`] creates and authenticates them.

pub(crate) mod service;
