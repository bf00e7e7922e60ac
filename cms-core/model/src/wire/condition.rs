//! Conditional requests: `ETag`, `If-Match`, `Idempotency-Key`.
//!
//! An entity tag is a hash of the response. So the tag changes whenever the response changes, and is
//! the same in every process and after a restart.

use std::{fmt, sync::Arc};

use sha2::{Digest, Sha256};
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    error::{Error, Result},
    limits,
};

/// Number of hexadecimal digits of a hash.
const HASH_DIGITS: usize = 16;

/// Identifies the bytes of a response.
///
/// The first half of the tag of a hydrated object, or of a part of an object, is the tag of the
/// complete object without hydration. So a client can use any of these tags in `If-Match`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntityTag {
    plain: u64,
    response: Option<u64>,
}

impl EntityTag {
    /// The tag of a response.
    pub fn of(response: &[u8]) -> Self {
        Self { plain: xxh3_64(response), response: None }
    }

    /// Returns the tag of a response that shows the same state in another form, such as hydrated. The
    /// first half of the tag stays the same.
    #[must_use]
    pub fn of_response(self, response: &[u8]) -> Self {
        Self { response: Some(xxh3_64(response)), ..self }
    }

    /// Returns whether a quoted tag identifies the same state, also if it is the tag of a hydrated or compressed
    /// response.
    pub fn is_same_state(self, text: &str) -> bool {
        plain_half(text.trim()) == Some(self.plain)
    }
}

impl fmt::Display for EntityTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.plain)?;
        self.response.map_or(Ok(()), |response| write!(f, ".{response:016x}"))
    }
}

/// The entity tags in `If-Match`; the object must have one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IfMatch {
    /// `*`: any state.
    Any,
    /// The first halves of the tags, without malformed tags.
    Tags(Vec<u64>),
}

impl IfMatch {
    /// Parses the header. Weak tags match nothing.
    pub fn parse(text: &str) -> Self {
        let tags = text.split(',').map(str::trim);
        if tags.clone().any(|tag| tag == "*") {
            return Self::Any;
        }
        Self::Tags(tags.filter_map(plain_half).collect())
    }

    pub fn admits(&self, tag: EntityTag) -> bool {
        match self {
            Self::Any => true,
            Self::Tags(tags) => tags.contains(&tag.plain),
        }
    }
}

/// The first half of a quoted tag, before a second half or a suffix of the compression.
fn plain_half(tag: &str) -> Option<u64> {
    let tag = tag.strip_prefix('"')?.strip_suffix('"')?;
    let (plain, rest) = tag.split_at_checked(HASH_DIGITS)?;
    let is_complete = rest.is_empty() || rest.starts_with(['.', '-']);
    let is_hash = plain.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_complete && is_hash { u64::from_str_radix(plain, 16).ok() } else { None }
}

/// Identifies a repeated request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey {
    pub key: String,
    /// Hash of the request.
    pub fingerprint: [u8; 32],
}

impl IdempotencyKey {
    /// Parses the header; `request` has the parts of the request for the fingerprint. Quotes around
    /// the key are ignored.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for a key that is empty, too long, or not of printable ASCII characters.
    pub fn new(text: &str, request: &[&[u8]]) -> Result<Self> {
        let text = text.trim();
        let unquoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        let key = unquoted.unwrap_or(text);
        let is_plain = key.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        if key.is_empty() || key.len() > limits::MAX_IDEMPOTENCY_KEY_BYTES || !is_plain {
            return Err(Error::BadRequest("Invalid Idempotency-Key".to_owned()));
        }
        let mut hash = Sha256::new();
        for part in request {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Ok(Self { key: key.to_owned(), fingerprint: hash.finalize().into() })
    }
}

/// `If-Match` and `Idempotency-Key` of a write, if any.
#[derive(Clone, Debug, Default)]
pub struct WriteGuards(Option<Arc<(Option<IfMatch>, Option<IdempotencyKey>)>>);

impl WriteGuards {
    pub fn new(if_match: Option<IfMatch>, idempotency_key: Option<IdempotencyKey>) -> Self {
        let is_any = if_match.is_some() || idempotency_key.is_some();
        Self(is_any.then(|| Arc::new((if_match, idempotency_key))))
    }

    pub fn if_match(&self) -> Option<&IfMatch> {
        self.0.as_ref()?.0.as_ref()
    }

    pub fn idempotency_key(&self) -> Option<&IdempotencyKey> {
        self.0.as_ref()?.1.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn if_match_accepts_exact_tags_only() {
        let tag = EntityTag::of(b"{}");
        let (text, other) = (tag.to_string(), EntityTag::of(b"[]"));
        let hydrated = tag.of_response(b"{\"a\":{}}");
        let cases = [
            ("*".to_owned(), true),
            (format!("\"{text}\""), true),
            (format!("\"{hydrated}\""), true),
            (format!("\"{text}-gzip\""), true),
            (format!("\"{hydrated}-br\""), true),
            (format!("\"{other}\" ,\"{text}\""), true),
            (format!("\"{}\"", text.to_uppercase()), true),
            (format!("\"{other}\""), false),
            (format!("W/\"{text}\""), false),
            (text.clone(), false),
            (format!("\"{text}0\""), false),
            (format!("\"+{}\"", &text[1..]), false),
            ("\"\"".to_owned(), false),
            (String::new(), false),
            ("\"ééééééééé\"".to_owned(), false),
        ];
        for (header, admits) in cases {
            assert_eq!(IfMatch::parse(&header).admits(tag), admits, "{header}");
        }
    }

    #[test]
    fn idempotency_keys_are_short_and_printable() {
        let key = |text: &str| IdempotencyKey::new(text, &[]).map(|key| key.key).ok();
        assert_eq!(key(" \"a b\" ").as_deref(), Some("a b"));
        assert_eq!(key("a").as_deref(), Some("a"));
        for wrong in ["", "\"\"", " ", "é", "a\tb", &"x".repeat(256)] {
            assert_eq!(key(wrong), None, "{wrong}");
        }
        assert!(key(&"x".repeat(255)).is_some());
    }

    #[test]
    fn fingerprint_depends_on_the_boundaries_of_parts() {
        let of = |parts: &[&[u8]]| IdempotencyKey::new("k", parts).unwrap().fingerprint;
        assert_ne!(of(&[b"ab", b"c"]), of(&[b"a", b"bc"]));
        assert_ne!(of(&[b"a", b""]), of(&[b"a"]));
        assert_eq!(of(&[b"a", b"b"]), of(&[b"a", b"b"]));
    }

    proptest! {
        #[test]
        fn header_parsers_never_panic(text in "\\PC*") {
            IfMatch::parse(&text);
            IdempotencyKey::new(&text, &[]).ok();
        }
    }
}
