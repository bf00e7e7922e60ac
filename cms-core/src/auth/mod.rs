//! API keys (see docs/reference/keys.md): [`service`] creates, lists and revokes them, and
//! authenticates requests.

pub(crate) mod key_ring;
pub(crate) mod service;
