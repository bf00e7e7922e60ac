//! Errors of PostgreSQL as errors of the core.
//!
//! An error that may disappear without a change in this program is [`Error::Busy`]. This includes a wrong
//! password and an invalid certificate: clients learn that the service is unavailable, operators find the
//! reason in the message. No message contains a password, or a value of a row.

use std::{fmt, time::Duration};

use cms_model::error::{Error, causes};
use tokio_postgres::error::{DbError, Severity, SqlState};

/// Why an operation on the shared database failed.
#[derive(Debug)]
pub(crate) enum Failure {
    Postgres(tokio_postgres::Error),
    /// The database did not respond within this time.
    Timeout(Duration),
    /// The server must not be used, for this reason.
    Unusable(String),
    /// The schema exists, but the row of the head does not.
    NoHead,
}

pub(crate) type Attempt<T> = std::result::Result<T, Failure>;

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Postgres(error)
    }
}

impl Failure {
    /// Whether the connection cannot be used any more, or its state is not known.
    pub(crate) fn is_broken(&self) -> bool {
        match self {
            Self::Timeout(_) | Self::Unusable(_) => true,
            Self::NoHead => false,
            Self::Postgres(error) => error.as_db_error().is_none_or(ends_connection),
        }
    }

    pub(crate) fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout(_))
    }

    fn database_error(&self) -> Option<&DbError> {
        match self {
            Self::Postgres(error) => error.as_db_error(),
            _ => None,
        }
    }

    /// Returns whether this error guarantees that the database stored nothing of the transaction. After serialization
    /// errors and connection errors the outcome is unknown: returns false, and the caller resolves the outcome.
    pub(crate) fn is_rejection(&self) -> bool {
        let is_unknown =
            |code: &SqlState| ["40", "08"].iter().any(|class| code.code().starts_with(class));
        self.database_error()
            .is_some_and(|error| !ends_connection(error) && !is_unknown(error.code()))
    }

    /// Whether the schema of the cluster exists already.
    pub(crate) fn is_duplicate(&self) -> bool {
        self.database_error().is_some_and(|error| {
            // Two creations at the same time: the later one violates a unique index of the catalog.
            *error.code() == SqlState::DUPLICATE_SCHEMA
                || (*error.code() == SqlState::UNIQUE_VIOLATION
                    && error.constraint() == Some("pg_namespace_nspname_index"))
        })
    }

    /// Returns the error for callers. Messages identify the database by `name`.
    pub(crate) fn into_error(self, name: &str) -> Error {
        let busy = |what: &str, reason: &dyn fmt::Display| {
            Error::Busy(format!("the database of the cluster {what}: {name}: {reason}"))
        };
        let internal = |reason: &Self| Error::Internal(format!("{name}: {reason}").into());
        match self.kind() {
            Kind::Unavailable => busy("does not respond", &self),
            Kind::Refused => busy("refuses access", &self),
            Kind::Locked => busy("is locked by another node", &self),
            Kind::Full => Error::NoSpace(format!("{name}: {self}").into()),
            Kind::NoCluster => Error::not_found("cluster", name),
            Kind::Other => internal(&self),
        }
    }

    fn kind(&self) -> Kind {
        let error = match self {
            Self::Timeout(_) => return Kind::Unavailable,
            Self::Unusable(_) => return Kind::Refused,
            Self::NoHead => return Kind::NoCluster,
            Self::Postgres(error) => error,
        };
        let Some(database) = error.as_db_error() else { return kind_of_client_error(error) };
        let code = database.code();
        match code.code().get(..2).unwrap_or_default() {
            _ if *code == SqlState::DISK_FULL => Kind::Full,
            _ if *code == SqlState::LOCK_NOT_AVAILABLE => Kind::Locked,
            _ if *code == SqlState::UNDEFINED_TABLE => Kind::NoCluster,
            _ if *code == SqlState::INVALID_SCHEMA_NAME => Kind::NoCluster,
            _ if *code == SqlState::INSUFFICIENT_PRIVILEGE => Kind::Refused,
            // Authorization, and a database that does not exist.
            "28" | "3D" => Kind::Refused,
            // Connection, aborted transaction, resources, cancelled or shut down, system errors.
            "08" | "40" | "53" | "57" | "58" => Kind::Unavailable,
            // For example, the server has ended an idle transaction.
            _ if ends_connection(database) => Kind::Unavailable,
            _ => Kind::Other,
        }
    }
}

/// Kinds of failures for callers.
enum Kind {
    Unavailable,
    Refused,
    Locked,
    Full,
    NoCluster,
    Other,
}

/// The kind of an error that comes from the client library, not from the server. The library exposes the kind only in
/// the message.
fn kind_of_client_error(error: &tokio_postgres::Error) -> Kind {
    let message = error.to_string();
    let is = |begins: &[&str]| begins.iter().any(|begin| message.starts_with(begin));
    if is(&["error performing TLS", "authentication error", "invalid configuration"]) {
        Kind::Refused
    } else if is(&["error serializing", "error deserializing", "error encoding", "invalid column"])
    {
        Kind::Other
    } else {
        Kind::Unavailable
    }
}

/// The reason, without values of rows: those are in the details of errors, which are left out.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = match self {
            Self::Timeout(limit) => return write!(f, "no response within {limit:?}"),
            Self::Unusable(reason) => return f.write_str(reason),
            Self::NoHead => return f.write_str("the head is missing"),
            Self::Postgres(error) => error,
        };
        if let Some(database) = error.as_db_error() {
            return write!(f, "{} ({})", database.message(), database.code().code());
        }
        write!(f, "{error}")?;
        match causes(error).skip(1).last() {
            Some(cause) => write!(f, ": {cause}"),
            None => Ok(()),
        }
    }
}

fn ends_connection(error: &DbError) -> bool {
    matches!(error.parsed_severity(), Some(Severity::Fatal | Severity::Panic))
}
