//! Errors of PostgreSQL as errors of the core.
//!
//! What may end without a change on our side is [`Error::Busy`], also a wrong password and an
//! invalid certificate: for a client, the service is unavailable; for an operator, the message
//! names the reason. No message contains a password, or a value of a row.

use std::time::Duration;

use cms_model::error::{Error, causes};
use tokio_postgres::error::{DbError, Severity, SqlState};

/// Why an operation on the shared database failed.
#[derive(Debug)]
pub(crate) enum Failure {
    Postgres(tokio_postgres::Error),
    /// The database did not respond within this time.
    Timeout(Duration),
    /// The server may not be used, with the reason.
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

    /// Whether the database has certainly stored nothing of a transaction in which this happened.
    /// Serialization errors and those of the connection are resolved by the caller.
    pub(crate) fn is_rejection(&self) -> bool {
        let resolved =
            |code: &SqlState| ["40", "08"].iter().any(|class| code.code().starts_with(class));
        match self {
            Self::Postgres(error) => error
                .as_db_error()
                .is_some_and(|error| !ends_connection(error) && !resolved(error.code())),
            _ => false,
        }
    }

    /// Whether the schema of the cluster, or something in it, exists already.
    pub(crate) fn is_duplicate(&self) -> bool {
        self.database_error().is_some_and(|error| {
            // Two creations at the same time: the later one violates a unique index of the catalog.
            *error.code() == SqlState::DUPLICATE_SCHEMA
                || (*error.code() == SqlState::UNIQUE_VIOLATION
                    && error.constraint() == Some("pg_namespace_nspname_index"))
        })
    }

    /// Returns the error for callers. `name` is the database for messages.
    pub(crate) fn into_error(self, name: &str) -> Error {
        let silent = |reason: &str| {
            Error::Busy(format!("the database of the cluster does not respond: {name}: {reason}"))
        };
        let refused = |reason: &str| {
            Error::Busy(format!("the database of the cluster refuses access: {name}: {reason}"))
        };
        let error = match self {
            Self::Timeout(limit) => return silent(&format!("no response within {limit:?}")),
            Self::Unusable(reason) => return refused(&reason),
            Self::NoHead => return no_cluster(name),
            Self::Postgres(error) => error,
        };
        let Some(database) = error.as_db_error() else {
            let cause = causes(&error).last().map(ToString::to_string).unwrap_or_default();
            let outer = error.to_string();
            let reason = if cause == outer { outer } else { format!("{outer}: {cause}") };
            // The library has no public kind for these.
            return if reason.starts_with("error performing TLS") || is_client_side(&reason) {
                refused(&reason)
            } else if is_damage(&reason) {
                Error::Internal(format!("{name}: {reason}").into())
            } else {
                silent(&reason)
            };
        };
        let code = database.code();
        if *code == SqlState::DISK_FULL {
            return Error::NoSpace(format!("{name}: {}", database.message()).into());
        }
        if *code == SqlState::LOCK_NOT_AVAILABLE {
            return Error::Busy(format!(
                "the database of the cluster is locked by another node: {name}"
            ));
        }
        if [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME].contains(code) {
            return no_cluster(name);
        }
        match code.code().get(..2).unwrap_or_default() {
            // Authorization, and a database that does not exist.
            "28" | "3D" => refused(database.message()),
            _ if *code == SqlState::INSUFFICIENT_PRIVILEGE => refused(database.message()),
            // Connection, aborted transaction, resources, cancelled or shut down, system errors; an
            // idle transaction that was ended.
            "08" | "40" | "53" | "57" | "58" => silent(database.message()),
            _ if ends_connection(database) => silent(database.message()),
            _ => {
                let code = code.code();
                Error::Internal(format!("{name}: {} ({code})", database.message()).into())
            }
        }
    }
}

fn ends_connection(error: &DbError) -> bool {
    matches!(error.parsed_severity(), Some(Severity::Fatal | Severity::Panic))
}

fn no_cluster(name: &str) -> Error {
    Error::NotFound { what: "cluster", name: name.to_owned() }
}

/// Whether the client refused the server: authentication and settings.
fn is_client_side(reason: &str) -> bool {
    ["authentication error", "invalid configuration"].iter().any(|begin| reason.starts_with(begin))
}

/// Whether a value could not be sent or read.
fn is_damage(reason: &str) -> bool {
    ["error serializing", "error deserializing", "error encoding", "invalid column"]
        .iter()
        .any(|begin| reason.starts_with(begin))
}
