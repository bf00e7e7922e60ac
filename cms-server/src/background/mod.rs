//! Background tasks: publishing on schedule, indexing, clean-up, backups and webhook deliveries.

mod backups;
mod clean_up;
mod public_address;
mod runner;
mod schedules;
pub(crate) mod tasks;
mod webhook_client;
pub(crate) mod webhooks;
