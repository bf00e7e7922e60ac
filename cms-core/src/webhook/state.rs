//! What a process knows of webhooks.

use std::{
    fs::File,
    sync::{Mutex, OnceLock},
};

use cms_model::{error::Result, webhook::exchange::Answered};

use super::{feed::Cursor, known::Known};

/// Makes the requests, which the core does not. Without one, blocking webhooks are not asked.
pub trait AskReceiver: Send + Sync {
    /// Sends a body to an address, and waits for the answer, but not for long.
    ///
    /// # Errors
    /// [`cms_model::error::Error::Busy`] when too many are asked already.
    fn ask(&self, url: &str, headers: &[(String, String)], body: &str) -> Result<Answered>;
}

/// What a process knows of webhooks.
#[derive(Default)]
pub(crate) struct WebhookState {
    pub(super) known: Known,
    pub(super) cursor: Cursor,
    /// Held for as long as this process sends.
    pub(super) lock: Mutex<Option<File>>,
    /// Who asks blocking webhooks.
    pub(super) receiver: OnceLock<Box<dyn AskReceiver>>,
}
