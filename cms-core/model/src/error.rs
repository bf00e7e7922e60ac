//! The errors of all layers, independent of transports.
//!
//! Variants carry data. [`std::fmt::Display`] is the message for the client;
//! [`std::error::Error::source`] is for logs only. [`crate::wire::error`] maps an error to HTTP
//! status and body; exit codes belong to the command line.

use std::{fmt, io, ops::RangeInclusive, path::Path};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::{
    limits,
    message::{self, MessageCode, Reason},
};

/// Result type of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// The path of the error of a response that would exceed the maximum size.
pub(crate) const RESPONSE_LIMIT_PATH: &str = "limit";

/// Why a request failed.
#[derive(Debug)]
pub enum Error {
    /// Validation failed: messages by property path, see docs/reference/http.md#error-bodies
    Invalid(FieldErrors),
    /// The action is rejected: a list of messages, see docs/reference/http.md#error-bodies
    Rejected(Vec<Reason>),
    /// A batch has too many elements, see docs/reference/objects.md#batches
    BatchLimit { limit: usize },
    /// The request is malformed.
    BadRequest(String),
    /// The request has no valid key, session or token.
    Unauthenticated,
    /// The caller may not do this, the type is protected, or a quota is used up.
    Forbidden,
    /// The resource does not exist or is not visible to the caller. `what` names its kind.
    NotFound { what: &'static str, name: String },
    /// The stored state does not allow the operation, for example because it has changed since a plan.
    Conflict(String),
    /// The number of matching objects differs from the number that the client expects.
    MatchesChanged { expected: u64, found: u64 },
    /// The object has none of the entity tags in `If-Match`.
    PreconditionFailed,
    /// The `Idempotency-Key` was used with another request.
    IdempotencyKeyReused,
    /// The requested data has been removed permanently.
    Gone(String),
    /// A project cannot be applied: validation errors by content type, see
    /// docs/reference/content-types.md#plan-and-apply
    Blocked(Vec<(String, FieldErrors)>),
    /// Stored values would be lost and the request does not allow that; names `type.property`.
    DataLoss(Vec<String>),
    /// An object exceeds the maximum size of an object.
    ObjectTooLarge { id: String, bytes: usize },
    /// The request body exceeds the maximum size.
    BodyTooLarge,
    /// The endpoint does not accept the media type of the body.
    UnsupportedMedia,
    /// Overloaded, shutting down, or a lock is held. Nothing was changed; the client may retry.
    Busy(String),
    /// A change by a session may come from a page of another site. Nothing was changed.
    CrossSite,
    /// The rate limit of the key or address is exceeded. Nothing was changed.
    TooManyRequests { retry_after_seconds: u64 },
    /// The caller allows only fast work (`Caller::fast_only`), and the work may be slow: it has to be repeated without
    /// that restriction. Never sent to a client.
    WouldBlock,
    /// The connection to the database of the cluster broke during a commit, and whether the change is
    /// stored is not known. A client reads it first, or repeats it with the same `Idempotency-Key`.
    OutcomeUnknown,
    /// The disk is full. Nothing was changed; the client may retry once space is free.
    NoSpace(Cause),
    /// This program was built without support for the operation.
    Unsupported(String),
    /// A remote server did not respond.
    Unreachable(String),
    /// Stored data is damaged: the message names it and says what the operator can do.
    Damaged(String),
    /// An unexpected error of the server.
    Internal(Cause),
}

/// Cause of an error, for logs only.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

impl Error {
    /// An internal error from a message or another error.
    pub fn internal(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Internal(cause.into())
    }

    /// The body is not the expected JSON.
    pub fn malformed_json() -> Self {
        Self::BadRequest("Malformed JSON".to_owned())
    }

    /// An I/O error: the disk is full, or an internal error.
    pub fn from_io(error: io::Error) -> Self {
        if is_disk_full(&error) {
            Self::NoSpace(error.into())
        } else {
            Self::Internal(error.into())
        }
    }

    /// Like [`Self::from_io`], for an error of a library that may have an I/O error among its
    /// causes.
    pub fn from_storage(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        if causes(&error).any(|cause| cause.downcast_ref().is_some_and(is_disk_full)) {
            Self::NoSpace(error.into())
        } else {
            Self::Internal(error.into())
        }
    }

    /// Why one object of many was refused: the message without paths and names.
    pub fn reason(&self) -> String {
        match self {
            Self::NotFound { .. } => "not found".to_owned(),
            Self::Invalid(errors) => {
                let all = errors.iter().flat_map(|(_, messages)| messages);
                all.map(String::as_str).collect::<Vec<_>>().join("; ")
            }
            other => other.to_string(),
        }
    }

    /// A validation error with one message at one path.
    pub fn invalid(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid(FieldErrors::one(path, message))
    }

    pub fn not_found(what: &'static str, name: impl Into<String>) -> Self {
        Self::NotFound { what, name: name.into() }
    }

    /// Returns whether the response would exceed the maximum size, so that a request for fewer objects
    /// may succeed.
    pub fn is_response_too_large(&self) -> bool {
        matches!(self, Self::Invalid(errors) if !errors.at(RESPONSE_LIMIT_PATH).is_empty())
    }

    pub fn type_not_found(name: &str) -> Self {
        Self::not_found("content type", name)
    }

    pub fn object_not_found(content_type: &str, id: &str) -> Self {
        Self::not_found("object", format!("{content_type}/{id}"))
    }
}

/// Separates the errors of a validation from all others.
pub fn split_invalid<T>(result: Result<T>) -> Result<std::result::Result<T, FieldErrors>> {
    match result {
        Ok(valid) => Ok(Ok(valid)),
        Err(Error::Invalid(errors)) => Ok(Err(errors)),
        Err(error) => Err(error),
    }
}

/// An I/O error at a path.
pub fn path_error(path: &Path, error: &io::Error) -> Error {
    let sentence = format!("{} cannot be used: {error}", path.display());
    if is_disk_full(error) { Error::NoSpace(sentence.into()) } else { Error::internal(sentence) }
}

/// Returns an error and its causes, down to the root cause.
pub fn causes<'e>(
    error: &'e (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'e (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |&cause| cause.source())
}

/// Returns whether the disk or the quota is full.
pub fn is_disk_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(_) => f.write_str("the data is not valid"),
            Self::Rejected(reasons) => {
                let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
                f.write_str(&reasons.join("; "))
            }
            Self::BatchLimit { limit } => Reason::BatchLimit(*limit).fmt(f),
            Self::BadRequest(message)
            | Self::Conflict(message)
            | Self::Gone(message)
            | Self::Damaged(message)
            | Self::Busy(message)
            | Self::Unsupported(message)
            | Self::Unreachable(message) => f.write_str(message),
            Self::MatchesChanged { expected, found } => {
                write!(f, "{}: expected {expected}, found {found}", message::MATCHES_CHANGED)
            }
            Self::Unauthenticated => f.write_str("Unauthorized"),
            Self::Forbidden => f.write_str(message::FORBIDDEN),
            Self::NotFound { what, name } => write!(f, "{what} \"{name}\" not found"),
            Self::Blocked(types) => {
                let names: Vec<&str> = types.iter().map(|(name, _)| name.as_str()).collect();
                write!(f, "the plan is blocked: {}", names.join(", "))
            }
            Self::DataLoss(names) => write!(f, "Values would be lost: {}", names.join(", ")),
            #[expect(clippy::cast_precision_loss, reason = "two decimals of a size in MB")]
            Self::ObjectTooLarge { id, bytes } => write!(
                f,
                // The unbalanced parenthesis is part of the API, see
                // docs/reference/http.md#error-bodies
                "Content Object size limit exceeded by an object with ID: {id}. Requested size {:.2} MB, limit: 1 MB)",
                *bytes as f64 / 1_048_576.0
            ),
            Self::PreconditionFailed => f.write_str("Precondition Failed"),
            Self::IdempotencyKeyReused => f.write_str("Idempotency-Key is already used"),
            Self::BodyTooLarge => f.write_str("Request Entity Too Large"),
            Self::UnsupportedMedia => f.write_str("Unsupported Media Type"),
            Self::CrossSite => f.write_str("Cross-site request refused"),
            Self::TooManyRequests { .. } => f.write_str("Too Many Requests"),
            Self::OutcomeUnknown => f.write_str(message::OUTCOME_UNKNOWN),
            Self::WouldBlock => f.write_str("the work may take longer"),
            Self::NoSpace(_) => f.write_str("no space is left on the disk of the data directory"),
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

/// Validation errors: messages by property path, in the order in which they were found, each once
/// per path.
///
/// The syntax of paths is in docs/reference/http.md#property-paths-in-errors
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
    /// At most [`limits::MAX_ERROR_PATHS`] paths are stored, and as many messages per path.
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

    /// Adds an error if a text has fewer or more characters than allowed.
    pub fn check_length(&mut self, path: &str, text: &str, allowed: RangeInclusive<usize>) {
        let length = text.chars().count();
        if length < *allowed.start() {
            self.add(path, message::too_short(allowed.start()));
        }
        if length > *allowed.end() {
            self.add(path, message::too_long(allowed.end()));
        }
    }

    /// Removes the errors of the paths for which `keep` returns false.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.0.retain(|path, _| keep(path));
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

    /// Returns the code of each message; none for messages that programs need not tell apart.
    pub fn codes(&self) -> impl Iterator<Item = Option<MessageCode>> {
        self.0.values().flatten().map(|message| MessageCode::of(message))
    }

    /// Returns `Ok` when there are no errors.
    pub fn into_result(self) -> Result<()> {
        if self.is_empty() { Ok(()) } else { Err(Error::Invalid(self)) }
    }
}

#[cfg(test)]
mod tests {
    use io::ErrorKind;

    use super::*;

    #[test]
    fn full_disk_is_not_an_internal_error() {
        let table = [
            (ErrorKind::StorageFull, true),
            (ErrorKind::QuotaExceeded, true),
            (ErrorKind::FileTooLarge, true),
            (ErrorKind::PermissionDenied, false),
            (ErrorKind::ReadOnlyFilesystem, false),
            (ErrorKind::Other, false),
        ];
        for (kind, is_disk_full) in table {
            let is_no_space = |error| match error {
                Error::NoSpace(_) => true,
                Error::Internal(_) => false,
                other => panic!("{other:?}"),
            };
            assert_eq!(is_no_space(Error::from_io(kind.into())), is_disk_full, "{kind}");
            // Libraries wrap the error of the system.
            let wrapped = Error::from_io(kind.into());
            assert_eq!(is_no_space(Error::from_storage(wrapped)), is_disk_full, "{kind}");
        }
    }
}
