//! Keys: what they are, what they allow, and who holds them (contract 10).

pub(crate) mod key;
pub(crate) mod scope;
pub(crate) mod service;
