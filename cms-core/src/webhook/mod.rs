//! Webhooks (contract 11): which there are, what they are told, and what became of that.
//!
//! `model`, `mask`, `body`, `exchange`, `signature` and `schedule` are functions from values to values. `feed` turns the
//! journal into deliveries, `service` hands them out and keeps their log, `consult` asks blocking
//! webhooks before a write. Nothing here makes a request: that is the server's part.

mod body;
pub(crate) mod consult;
pub(crate) mod exchange;
pub(crate) mod feed;
pub(crate) mod known;
pub(crate) mod mask;
pub(crate) mod model;
pub(crate) mod schedule;
pub(crate) mod service;
mod signature;
