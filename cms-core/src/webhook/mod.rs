//! Webhooks (see docs/reference/webhooks.md): [`delivery_creator`] creates deliveries from the journal,
//! [`service`] schedules and logs them, [`synchronous`] calls synchronous webhooks before a write.
//! The server sends the requests.

pub(crate) mod delivery_creator;
mod log_entry;
pub(crate) mod service;
pub(crate) mod state;
pub(crate) mod synchronous;
pub(crate) mod webhook_cache;
