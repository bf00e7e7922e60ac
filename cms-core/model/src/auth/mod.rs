//! Keys: hashes of tokens ([`key`]) and rights ([`scope`]).

pub mod key;
pub mod scope;
