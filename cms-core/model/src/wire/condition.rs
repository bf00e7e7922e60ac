//! Tags of answers, and what a request makes its change depend on: `ETag`, `If-Match`,
//! `Idempotency-Key`.
//!
//! A tag is made of what it names. So nobody has to remember to change it, and every process and
//! every restart makes the same one.

use std::{fmt, sync::Arc};

use sha2::{Digest, Sha256};
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    error::{Error, Result},
    limits,
};

/// Digits of a hash.
const DIGITS: usize = 16;

/// Names the bytes of one answer.
///
/// Of an object with its links replaced, the first half names the object without that: so whoever
/// read it may say by this tag which state they want to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntityTag {
    plain: u64,
    hydrated: Option<u64>,
}

impl EntityTag {
    /// Names an answer.
    pub fn of(answer: &[u8]) -> Self {
        Self { plain: xxh3_64(answer), hydrated: None }
    }

    /// Names an answer in which the links of what this tag names are replaced.
    #[must_use]
    pub fn hydrated(self, answer: &[u8]) -> Self {
        Self { hydrated: Some(xxh3_64(answer)), ..self }
    }
}

impl fmt::Display for EntityTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.plain)?;
        self.hydrated.map_or(Ok(()), |hydrated| write!(f, ".{hydrated:016x}"))
    }
}

/// The states of an object of which one must be there, or nothing is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IfMatch {
    /// Whatever state it is in.
    Any,
    /// By the first halves of their tags; none at all when no tag could be one of ours.
    Tags(Vec<u64>),
}

impl IfMatch {
    /// Reads the header. Weak tags name no exact state, so they match nothing.
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

/// The first half of a tag in its quotes, whatever follows it: a second half, or a coding.
fn plain_half(tag: &str) -> Option<u64> {
    let tag = tag.strip_prefix('"')?.strip_suffix('"')?;
    let (plain, rest) = tag.split_at_checked(DIGITS)?;
    let is_whole = rest.is_empty() || rest.starts_with(['.', '-']);
    let is_hash = plain.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_whole && is_hash { u64::from_str_radix(plain, 16).ok() } else { None }
}

/// By what a repeated request is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey {
    pub key: String,
    /// Of all that the request says.
    pub fingerprint: [u8; 32],
}

impl IdempotencyKey {
    /// Reads the header of a request that says these things. Quotes around the key mean nothing.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for a key that is empty, too long, or not of visible characters.
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

/// What a change depends on; without conditions it is simply made.
#[derive(Clone, Debug, Default)]
pub struct Conditions(Option<Arc<(Option<IfMatch>, Option<IdempotencyKey>)>>);

impl Conditions {
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
    fn only_exact_tags_match() {
        let tag = EntityTag::of(b"{}");
        let (text, other) = (tag.to_string(), EntityTag::of(b"[]"));
        let hydrated = tag.hydrated(b"{\"a\":{}}");
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
    fn keys_are_short_and_visible() {
        let key = |text: &str| IdempotencyKey::new(text, &[]).map(|key| key.key).ok();
        assert_eq!(key(" \"a b\" ").as_deref(), Some("a b"));
        assert_eq!(key("a").as_deref(), Some("a"));
        for wrong in ["", "\"\"", " ", "é", "a\tb", &"x".repeat(256)] {
            assert_eq!(key(wrong), None, "{wrong}");
        }
        assert!(key(&"x".repeat(255)).is_some());
    }

    #[test]
    fn a_fingerprint_tells_where_parts_end() {
        let of = |parts: &[&[u8]]| IdempotencyKey::new("k", parts).unwrap().fingerprint;
        assert_ne!(of(&[b"ab", b"c"]), of(&[b"a", b"bc"]));
        assert_ne!(of(&[b"a", b""]), of(&[b"a"]));
        assert_eq!(of(&[b"a", b"b"]), of(&[b"a", b"b"]));
    }

    proptest! {
        #[test]
        fn any_header_is_read(text in "\\PC*") {
            IfMatch::parse(&text);
            IdempotencyKey::new(&text, &[]).ok();
        }
    }
}
