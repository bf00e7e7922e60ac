//! Draft & Public (contract 4) and scheduled publication (13.3): [`state`] is the table of statuses and
//! actions, [`schedule`] reads when an action is due. What readers see is decided in
//! [`crate::object::view`].

pub mod schedule;
pub mod state;
