//! Database errors become errors of the core here and nowhere else.

use rusqlite::ErrorCode;

use crate::error::Error;

/// A lock that somebody else holds is "busy"; everything else is our fault.
pub(super) fn map(error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Error::Busy("the database is locked by another process".to_owned())
        }
        Some(ErrorCode::OperationInterrupted) => Error::Busy(
            "the query took too long; filter by a property that has an index".to_owned(),
        ),
        _ => Error::Internal(Box::new(error)),
    }
}
