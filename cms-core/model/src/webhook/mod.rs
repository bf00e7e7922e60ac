//! Webhooks (contract 11): their definition ([`model`]), the payload of a delivery ([`body`]) and its
//! [`signature`], [`mod@exchange`] with a receiver, retries ([`schedule`]), secrets ([`mask`]).

pub mod body;
pub mod exchange;
pub mod mask;
pub mod model;
pub mod schedule;
pub mod signature;
