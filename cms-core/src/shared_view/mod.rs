//! Shared views of content types (see docs/reference/views.md): [`service`] lists and changes them.

pub(crate) mod service;
