//! Webhooks (contract 11): `feed` turns the journal into deliveries, `service` hands them out and keeps
//! their log, `consult` asks blocking webhooks before a write. Nothing here makes a request: that is the
//! server's part.

pub(crate) mod consult;
pub(crate) mod feed;
pub(crate) mod known;
pub(crate) mod service;
pub(crate) mod state;
