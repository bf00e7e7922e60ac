//! Draft & Public ([`state`]) and scheduled publication ([`schedule`]), see
//! docs/reference/publishing.md
//!
//! [`crate::object::view`] decides what readers see.

pub mod schedule;
pub mod state;
