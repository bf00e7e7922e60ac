//! Identifiers: new ones, and the syntax of object ids, see docs/reference/objects.md#object-ids

use std::sync::atomic::{AtomicU64, Ordering};

use uuid::Uuid;

/// The pattern of object ids in messages.
pub const ID_PATTERN: &str = r#"^[a-zA-Z0-9-_.,:=!?#$%&(\`\’\{\}" ]*$"#;

/// Maximum length of an object id, in characters.
pub const MAX_ID_CHARS: usize = 255;

/// Returns whether every character of `id` is allowed in an object id.
pub fn has_only_id_characters(id: &str) -> bool {
    id.chars().all(|c| c.is_ascii_alphanumeric() || "-_.,:=!?#$%&(`’{}\" ".contains(c))
}

/// Returns whether a text is a UUID in lower case.
pub fn is_uuid(text: &str) -> bool {
    Uuid::try_parse(text).is_ok_and(|uuid| uuid.to_string() == text)
}

/// Source of new identifiers.
pub trait IdSource: Send + Sync {
    /// Returns a new UUID v4 in lower case.
    fn uuid(&self) -> String;

    /// Returns a new key token: 40 random hexadecimal digits.
    fn token(&self) -> String;

    /// Returns 32 random bytes, for codes and cookies.
    fn secret(&self) -> [u8; 32];
}

/// Sequential identifiers for tests.
#[derive(Debug, Default)]
pub struct CountingIds(AtomicU64);

impl CountingIds {
    fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The number of ids so far.
    pub fn issued(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Leaves out ids, which a database contains already.
    pub fn skip(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }
}

impl IdSource for CountingIds {
    fn uuid(&self) -> String {
        format!("00000000-0000-4000-8000-{:012x}", self.next())
    }

    fn token(&self) -> String {
        format!("{:040x}", self.next())
    }

    fn secret(&self) -> [u8; 32] {
        let mut secret = [0; 32];
        secret[24..].copy_from_slice(&self.next().to_be_bytes());
        secret
    }
}
