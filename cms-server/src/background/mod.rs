//! Background tasks: publishing on schedule, indexing, clean-up, backups and webhook deliveries.

mod backups;
mod clean_up;
mod job;
mod public_address;
mod schedules;
pub(crate) mod tasks;
mod webhook_client;
pub(crate) mod webhooks;
