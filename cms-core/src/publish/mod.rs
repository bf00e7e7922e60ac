//! Draft & Public (contract 4) and scheduled publication (13.3).
//!
//! [`state`] is the table of statuses and actions, [`schedule`] reads when something is due; both
//! are functions from values to values. [`service`] carries out what they say. What readers see
//! meanwhile is decided in `object::view`.

pub(crate) mod schedule;
pub(crate) mod service;
pub(crate) mod state;
