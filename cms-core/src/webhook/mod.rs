//! Webhooks (see docs/reference/webhooks.md): [`feed`] creates deliveries from the journal,
//! [`service`] schedules and logs them, [`synchronous`] calls synchronous webhooks before a write.
//! The server sends the requests.

pub(crate) mod feed;
pub(crate) mod service;
pub(crate) mod state;
pub(crate) mod synchronous;
pub(crate) mod webhook_cache;
