//! Database errors become errors of the core here and nowhere else.

use rusqlite::{ErrorCode, ffi};

use crate::error::Error;

/// A lock that somebody else holds is "busy", a full disk is told; everything else is our fault.
pub(super) fn map(error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Error::Busy("the database is locked by another process".to_owned())
        }
        Some(ErrorCode::OperationInterrupted) => Error::Busy(
            "the query took too long; filter by a property that has an index".to_owned(),
        ),
        _ if is_full(&error) => Error::NoSpace(Box::new(error)),
        _ => Error::Internal(Box::new(error)),
    }
}

/// Tells whether the disk is used up; also when that shows in the file that connections share.
fn is_full(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| {
        error.code == ErrorCode::DiskFull || error.extended_code == ffi::SQLITE_IOERR_SHMSIZE
    })
}
