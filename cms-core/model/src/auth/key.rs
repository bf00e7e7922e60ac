//! Hashes of tokens. Only the SHA-256 of a token is stored, see docs/reference/keys.md
//!
//! The server finds a key by the hash of its token and never compares tokens. Response times can
//! reveal something about hashes only, which does not help to guess a token.

use std::fmt::Write as _;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

/// Encodes a random secret in Base64 for URLs.
pub fn encode(secret: &[u8; 32]) -> String {
    URL_SAFE_NO_PAD.encode(secret)
}

/// Writes a digest in hexadecimal digits.
pub fn hex(digest: &[u8]) -> String {
    digest.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a String cannot fail");
        text
    })
}

/// Returns the hash of a token for storage.
pub fn token_hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}
