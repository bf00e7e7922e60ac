//! Presence (see docs/reference/presence.md): [`service`] checks rights, [`table`] holds the open
//! tabs of this process.

pub(crate) mod service;
pub(crate) mod table;
