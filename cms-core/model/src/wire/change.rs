//! Changes of the content, and places in their order (`GET /api/v1/changes`).

use std::{fmt, str::FromStr};

use serde::{Serialize, Serializer};

use crate::{
    error::{Error, Result},
    message,
};

/// Which changes are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangesRequest {
    /// After this place; none means after the newest change.
    pub since: Option<Position>,
    /// Only of these types; none means of all.
    pub content_types: Option<Vec<String>>,
    /// Most entries.
    pub limit: u32,
}

/// A place between two changes.
///
/// Beside its number a row of the journal has a random one. So a place in a database that was put
/// back to an older state since is not taken for the place of another change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub seq: i64,
    /// None when the row is not known any more, or nobody asked for it.
    pub nonce: Option<u32>,
}

impl Position {
    /// After the row with these two numbers.
    pub fn new(seq: i64, nonce: i64) -> Self {
        Self { seq, nonce: (seq > 0).then_some(Self::short(nonce)) }
    }

    /// As much of the random number as is told.
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

    /// Reads a number, with or without the random one.
    fn from_str(text: &str) -> Result<Self> {
        let (seq, nonce) = match text.split_once('-') {
            Some((seq, nonce)) => (seq, Some(nonce)),
            None => (text, None),
        };
        let read = || {
            let is_number = !seq.is_empty() && seq.bytes().all(|byte| byte.is_ascii_digit());
            let seq = seq.parse().ok().filter(|_| is_number)?;
            let is_hash = |nonce: &&str| nonce.bytes().all(|byte| byte.is_ascii_hexdigit());
            let nonce = match nonce {
                Some(nonce) => Some(u32::from_str_radix(Some(nonce).filter(is_hash)?, 16).ok()?),
                None => None,
            };
            Some(Self { seq, nonce })
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
    /// What was done to an object: `create`, `update`, `delete`, `publish`, `unpublish`, `archive`,
    /// `schedule`, `transition`. To a type: the same with `type.` before it, and `type.purge`.
    pub action: &'static str,
    pub content_type: String,
    /// The object; none when the type as a whole changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The latest version of the object when this was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    /// After this change.
    #[serde(skip)]
    pub position: Position,
}

/// Changes in their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Changes {
    pub data: Vec<Change>,
    /// Where to go on.
    pub next: Position,
    /// There was more to read when these were read.
    pub more: bool,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_place_is_refused() {
        for text in ["", "-", "-1", "+1", "1-", "1-x", "1--1", "1-+1", "x", "1 ", "1-123456789"] {
            let read: Result<Position> = text.parse();
            assert!(matches!(read, Err(Error::Invalid(_))), "{text}");
        }
        assert_eq!("7".parse::<Position>().unwrap(), Position { seq: 7, nonce: None });
    }

    proptest! {
        #[test]
        fn a_place_is_read_as_it_is_written(seq in 0_i64.., nonce: i64) {
            let position = Position::new(seq, nonce);
            prop_assert_eq!(position.to_string().parse::<Position>().unwrap(), position);
        }

        #[test]
        fn any_text_is_read(text in "\\PC*") {
            text.parse::<Position>().ok();
        }
    }
}
