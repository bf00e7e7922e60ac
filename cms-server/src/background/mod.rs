//! What the server does without a request: publishing, clean-up, indexing, backups and webhooks.

pub(crate) mod public_address;
pub(crate) mod tasks;
pub(crate) mod webhook_client;
pub(crate) mod webhooks;
