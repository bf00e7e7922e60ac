//! Webhooks (see docs/reference/webhooks.md): their definition ([`model`]), the [`payload`] and
//! [`signature`] of a delivery, changes that are delivered together ([`change_batch`]), requests of
//! [`synchronous`] webhooks, retries ([`schedule`]), headers in the log ([`exchange`]), masked header
//! values ([`mask`]).

pub mod change_batch;
pub mod exchange;
pub mod mask;
pub mod model;
pub mod payload;
pub mod schedule;
pub mod signature;
pub mod synchronous;
