//! Keys: what they are ([`key`]) and what they allow ([`scope`]).

pub mod key;
pub mod scope;
