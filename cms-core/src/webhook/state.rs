//! The webhook state of a process, and the trait through which synchronous webhooks are called.

use std::{fs::File, sync::OnceLock};

use cms_model::{error::Result, webhook::synchronous::WebhookOutcome};
use parking_lot::Mutex;

use super::{delivery_creator::JournalCursor, webhook_cache::WebhookCache};

/// Sends requests of synchronous webhooks, which are not called without a transport.
pub trait WebhookTransport: Send + Sync {
    /// Sends a body to a URL and waits for the response until a timeout.
    ///
    /// # Errors
    /// [`cms_model::error::Error::Busy`] when too many requests are in flight.
    fn send(&self, url: &str, headers: &[(String, String)], body: &str) -> Result<WebhookOutcome>;
}

/// The webhook state of a process.
#[derive(Default)]
pub(crate) struct WebhookState {
    pub(super) cache: WebhookCache,
    pub(super) cursor: JournalCursor,
    /// Held while this process sends.
    pub(super) lock: Mutex<Option<File>>,
    /// Sends requests of synchronous webhooks.
    pub(super) transport: OnceLock<Box<dyn WebhookTransport>>,
}
