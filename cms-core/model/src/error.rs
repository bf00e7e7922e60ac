//! What can go wrong, without a word about transports.
//!
//! Variants carry data; the sentence a caller reads is [`std::fmt::Display`], the private cause is
//! [`std::error::Error::source`] and goes to logs only. How an error looks on the wire is in
//! [`crate::wire::error`]; exit codes belong to the command line.

use std::{fmt, io, path::Path};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::limits;

/// Result of everything in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a request was not carried out.
#[derive(Debug)]
pub enum Error {
    /// Validation failed: a map from property path to messages (contract 1.4, "400 map").
    Invalid(FieldErrors),
    /// The action is refused as a whole, with reasons (contract 1.4, "400 list").
    Refused(Vec<String>),
    /// A batch holds more elements than allowed (contract 3.9, 4.5).
    BatchLimit { limit: usize },
    /// The request itself cannot be understood.
    BadRequest(String),
    /// The key is missing, unknown or revoked.
    Unauthenticated,
    /// The key does not allow this, the type is protected, or a quota is used up.
    Forbidden,
    /// The addressed thing does not exist or is not visible.
    NotFound { what: &'static str, name: String },
    /// The state changed underneath, for example a stale plan.
    Conflict(String),
    /// The object is in none of the states that the request names (`If-Match`).
    PreconditionFailed,
    /// An `Idempotency-Key` came before with another request.
    IdempotencyKeyReused,
    /// What was asked for is forgotten for good.
    Gone(String),
    /// A project cannot be applied: faults by content type (contract 14).
    Blocked(Vec<(String, FieldErrors)>),
    /// Stored values would be lost and nobody agreed to that; names `type.property`.
    DataLoss(Vec<String>),
    /// One object is larger than an object may be.
    ObjectTooLarge { id: String, bytes: usize },
    /// The whole request is larger than the server accepts.
    BodyTooLarge,
    /// The body is not of the media type that the endpoint reads.
    UnsupportedMedia,
    /// Overloaded, draining, or a lock is held; nothing was done and it is safe to repeat.
    Busy(String),
    /// This key or address asks too often; nothing was done.
    TooManyRequests,
    /// The disk is full; nothing was done, and it can be repeated once there is room. The source is
    /// for logs.
    NoSpace(Cause),
    /// This target cannot do that, with a hint where it can be done.
    Unsupported(String),
    /// A remote server did not answer.
    Unreachable(String),
    /// What is stored is not what was written: names it, and what to do. For operators.
    Damaged(String),
    /// Our fault. The source is for logs.
    Internal(Cause),
}

/// What lies behind an error, for logs only.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

impl Error {
    /// An internal error from a sentence.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::Internal(message.into().into())
    }

    /// A body that is not the JSON that it should be.
    pub fn malformed_json() -> Self {
        Self::BadRequest("Malformed JSON".to_owned())
    }

    /// A failure of the disk: full, or our fault.
    pub fn from_io(error: io::Error) -> Self {
        if is_disk_full(&error) {
            Self::NoSpace(error.into())
        } else {
            Self::Internal(error.into())
        }
    }

    /// The same for an error of a library, which may have come from the disk.
    pub fn from_storage(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        let first: &(dyn std::error::Error + 'static) = &error;
        let mut causes = std::iter::successors(Some(first), |&cause| cause.source());
        if causes.any(|cause| cause.downcast_ref().is_some_and(is_disk_full)) {
            Self::NoSpace(error.into())
        } else {
            Self::Internal(error.into())
        }
    }

    /// A validation error with one message at one path.
    pub fn invalid(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid(FieldErrors::one(path, message))
    }

    pub fn type_not_found(name: &str) -> Self {
        Self::NotFound { what: "content type", name: name.to_owned() }
    }

    pub fn object_not_found(content_type: &str, id: &str) -> Self {
        Self::NotFound { what: "object", name: format!("{content_type}/{id}") }
    }
}

/// An error of the system with the place where it happened.
pub fn path_error(path: &Path, error: &io::Error) -> Error {
    let sentence = format!("{} cannot be used: {error}", path.display());
    if is_disk_full(error) { Error::NoSpace(sentence.into()) } else { Error::internal(sentence) }
}

/// Tells whether a disk, or what one may use of it, is used up.
pub fn is_disk_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(_) => f.write_str("the data is not valid"),
            Self::Refused(reasons) => f.write_str(&reasons.join("; ")),
            Self::BatchLimit { limit } => write!(f, "Batch limit exceeded, limit: {limit}"),
            Self::BadRequest(message)
            | Self::Conflict(message)
            | Self::Gone(message)
            | Self::Damaged(message)
            | Self::Busy(message)
            | Self::Unsupported(message)
            | Self::Unreachable(message) => f.write_str(message),
            Self::Unauthenticated => f.write_str("Unauthorized"),
            Self::Forbidden => f.write_str("Access denied or quota limit exceeded"),
            Self::NotFound { what, name } => write!(f, "{what} \"{name}\" not found"),
            Self::Blocked(types) => {
                let names: Vec<&str> = types.iter().map(|(name, _)| name.as_str()).collect();
                write!(f, "the plan is blocked: {}", names.join(", "))
            }
            Self::DataLoss(names) => write!(f, "Values would be lost: {}", names.join(", ")),
            #[expect(clippy::cast_precision_loss, reason = "two decimals of a size in MB")]
            Self::ObjectTooLarge { id, bytes } => write!(
                f,
                // The unbalanced parenthesis is part of the message (contract 1.4).
                "Content Object size limit exceeded by an object with ID: {id}. Requested size {:.2} MB, limit: 1 MB)",
                *bytes as f64 / 1_048_576.0
            ),
            Self::PreconditionFailed => f.write_str("Precondition Failed"),
            Self::IdempotencyKeyReused => f.write_str("Idempotency-Key is already used"),
            Self::BodyTooLarge => f.write_str("Request Entity Too Large"),
            Self::UnsupportedMedia => f.write_str("Unsupported Media Type"),
            Self::TooManyRequests => f.write_str("Too Many Requests"),
            Self::NoSpace(_) => f.write_str("no space is left on the disk of the data folder"),
            Self::Internal(_) => f.write_str("Internal Server Error"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NoSpace(source) | Self::Internal(source) => Some(source.as_ref()),
            _ => None,
        }
    }
}

/// Messages by property path, in the order in which they were found.
///
/// Paths are spelt as in contract 1.5. Each message appears once per path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FieldErrors(IndexMap<String, Vec<String>>);

impl FieldErrors {
    /// One message at one path.
    pub fn one(path: impl Into<String>, message: impl Into<String>) -> Self {
        let mut errors = Self::default();
        errors.add(path, message);
        errors
    }

    /// Adds a message unless the path already has it.
    ///
    /// Past [`limits::MAX_ERROR_PATHS`] paths, or messages at a path, nothing is added: there is
    /// enough to mend.
    pub fn add(&mut self, path: impl Into<String>, message: impl Into<String>) {
        let path = path.into();
        if self.0.len() >= limits::MAX_ERROR_PATHS && !self.0.contains_key(&path) {
            return;
        }
        let messages = self.0.entry(path).or_default();
        let message = message.into();
        if messages.len() < limits::MAX_ERROR_PATHS && !messages.contains(&message) {
            messages.push(message);
        }
    }

    /// Adds all messages of `other`.
    pub fn merge(&mut self, other: Self) {
        for (path, messages) in other.0 {
            for message in messages {
                self.add(path.clone(), message);
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the messages at a path.
    pub fn at(&self, path: &str) -> &[String] {
        self.0.get(path).map_or(&[], Vec::as_slice)
    }

    /// Returns the paths with their messages.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.0.iter().map(|(path, messages)| (path.as_str(), messages.as_slice()))
    }

    /// Returns `Ok` when nothing was found.
    pub fn into_result(self) -> Result<()> {
        if self.is_empty() { Ok(()) } else { Err(Error::Invalid(self)) }
    }
}

#[cfg(test)]
mod tests {
    use io::ErrorKind;

    use super::*;

    #[test]
    fn a_full_disk_is_told_from_a_broken_one() {
        let table = [
            (ErrorKind::StorageFull, true),
            (ErrorKind::QuotaExceeded, true),
            (ErrorKind::FileTooLarge, true),
            (ErrorKind::PermissionDenied, false),
            (ErrorKind::ReadOnlyFilesystem, false),
            (ErrorKind::Other, false),
        ];
        for (kind, is_disk_full) in table {
            let is_told = |error| match error {
                Error::NoSpace(_) => true,
                Error::Internal(_) => false,
                other => panic!("{other:?}"),
            };
            assert_eq!(is_told(Error::from_io(kind.into())), is_disk_full, "{kind}");
            // Libraries wrap what the system said.
            let wrapped = Error::from_io(kind.into());
            assert_eq!(is_told(Error::from_storage(wrapped)), is_disk_full, "{kind}");
        }
    }
}
