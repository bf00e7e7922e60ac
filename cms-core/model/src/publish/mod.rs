//! Draft & Public ([`state`]), scheduled publication ([`schedule`]) and the publishing right
//! ([`right`]), see docs/reference/publishing.md
//!
//! [`crate::object::view`] decides what readers see.

pub mod right;
pub mod schedule;
pub mod state;
