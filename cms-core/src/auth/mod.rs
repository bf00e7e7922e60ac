//! API keys (see docs/reference/keys.md): [`service`] creates, lists and revokes them, and
//! authenticates requests by key or session; [`context`] describes the caller.

mod context;
pub(crate) mod key_ring;
pub(crate) mod service;
mod session_cache;
