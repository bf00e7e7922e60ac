//! Working copies (see docs/reference/working-copies.md): [`service`] stores unfinished work of a
//! caller, outside the content.

pub(crate) mod service;
