//! Tokens and their digests. Only the SHA-256 of a token is ever stored (contract 10).

use sha2::{Digest, Sha256};

/// Returns what is stored of a token.
pub(crate) fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}
