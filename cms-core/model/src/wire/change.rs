//! Changes of content and positions in the journal (`GET /api/v1/changes`).

use std::{fmt, str::FromStr};

use serde::{Serialize, Serializer};

use crate::{
    error::{Error, Result},
    message,
    read::digits,
    wire::author::Author,
};

/// The requested changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangesRequest {
    /// Position after which to start; none means after the newest change.
    pub since: Option<Position>,
    /// Only these types; none means all types.
    pub content_types: Option<Vec<String>>,
    /// Maximum number of entries.
    pub limit: u32,
}

/// A position between two changes.
///
/// A row of the journal has a random number besides its sequence number. So a position from before
/// a restore of the database is not mistaken for the position of another change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub seq: i64,
    /// None before the first row, and when the client sent only the sequence number: then any row
    /// with this number is accepted.
    pub nonce: Option<u32>,
}

impl Position {
    /// The position after the row with these two numbers.
    pub fn new(seq: i64, nonce: i64) -> Self {
        Self { seq, nonce: (seq > 0).then_some(Self::short(nonce)) }
    }

    /// The part of the random number in positions.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the lower half")]
    pub fn short(nonce: i64) -> u32 {
        nonce as u32
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.seq)?;
        self.nonce.map_or(Ok(()), |nonce| write!(f, "-{nonce:08x}"))
    }
}

impl FromStr for Position {
    type Err = Error;

    /// Parses a sequence number, with or without a nonce.
    fn from_str(text: &str) -> Result<Self> {
        let (seq, nonce) = match text.split_once('-') {
            Some((seq, nonce)) => (seq, Some(nonce)),
            None => (text, None),
        };
        let read = || {
            let is_hex = |nonce: &&str| nonce.bytes().all(|byte| byte.is_ascii_hexdigit());
            let nonce = match nonce {
                Some(nonce) => Some(u32::from_str_radix(Some(nonce).filter(is_hex)?, 16).ok()?),
                None => None,
            };
            Some(Self { seq: digits(seq)?, nonce })
        };
        read().ok_or_else(|| Error::invalid("since", message::NOT_VALID))
    }
}

impl Serialize for Position {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    pub seq: i64,
    pub at: String,
    /// The action on an object: `create`, `update`, `delete`, `publish`, `unpublish`, `archive`,
    /// `schedule`, `transition`. On a type: `type.create`, `type.update`, `type.delete`,
    /// `type.purge`.
    pub action: &'static str,
    pub content_type: String,
    /// The object; none for changes of a type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The latest version of the object after the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    pub by: Author,
    /// The position after this change.
    #[serde(skip)]
    pub position: Position,
}

/// A page of changes, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Changes {
    pub data: Vec<Change>,
    /// `since` of the next request.
    pub next: Position,
    /// There are more changes.
    pub more: bool,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn position_rejects_other_texts() {
        for text in ["", "-", "-1", "+1", "1-", "1-x", "1--1", "1-+1", "x", "1 ", "1-123456789"] {
            let read: Result<Position> = text.parse();
            assert!(matches!(read, Err(Error::Invalid(_))), "{text}");
        }
        assert_eq!("7".parse::<Position>().unwrap(), Position { seq: 7, nonce: None });
    }

    proptest! {
        #[test]
        fn position_is_parsed_back(seq in 0_i64.., nonce: i64) {
            let position = Position::new(seq, nonce);
            prop_assert_eq!(position.to_string().parse::<Position>().unwrap(), position);
        }

        #[test]
        fn position_parser_never_panics(text in "\\PC*") {
            text.parse::<Position>().ok();
        }
    }
}
