//! Tokens and their digests. Only the SHA-256 of a token is ever stored (contract 10).
//!
//! A token is never compared with another one: its digest is looked up. How long that takes says
//! something about digests at most, and nobody can choose a token by its digest, so there is nothing
//! to be learnt from the time of an answer.

use sha2::{Digest, Sha256};

/// Returns what is stored of a token.
pub fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}
