//! Background tasks: publishing on schedule, indexing, bulk jobs, clean-up, backups, webhook
//! deliveries, GraphQL schemas, checks of storage, and the tasks of a node of a cluster.

mod backups;
mod clean_up;
pub(crate) mod cluster;
mod periodic;
mod public_address;
mod runner;
pub(crate) mod tasks;
mod webhook_client;
pub(crate) mod webhooks;
