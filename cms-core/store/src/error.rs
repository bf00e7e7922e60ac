//! Converts database errors to errors of the core, and records the first error caused by a damaged
//! file.

use std::{error::Error as StdError, sync::OnceLock};

use cms_model::error::{Error, Result, causes};
use rusqlite::{ErrorCode, ffi};

/// Converts a lock held by another process and an interrupted query to [`Error::Busy`], a full disk to
/// [`Error::NoSpace`], and every other error to [`Error::Internal`].
pub(super) fn map(error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Error::Busy("the database is locked by another process".to_owned())
        }
        Some(ErrorCode::OperationInterrupted) => Error::Busy(
            "the read took too long; a list needs a filter on a property that has an index"
                .to_owned(),
        ),
        _ if is_full(&error) => Error::NoSpace(Box::new(error)),
        _ => Error::Internal(Box::new(error)),
    }
}

/// Returns whether the disk is full, even when the shared-memory file cannot grow.
fn is_full(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| {
        error.code == ErrorCode::DiskFull || error.extended_code == ffi::SQLITE_IOERR_SHMSIZE
    })
}

/// The message of SQLite for the first damaged page since the database was opened. After that
/// nothing is written: a change based on a damaged page spreads the damage.
#[derive(Default)]
pub(super) struct Damage(OnceLock<String>);

impl Damage {
    /// Records the error of a damaged database file, and returns the result.
    pub(super) fn record_damage<T>(&self, result: Result<T>) -> Result<T> {
        if let Err(error) = &result
            && let Some(cause) = damage(error)
        {
            self.note(&cause.to_string());
        }
        result
    }

    pub(super) fn note(&self, cause: &str) {
        self.0.get_or_init(|| {
            tracing::error!(cause, "database is damaged: writes are refused until a restart");
            cause.to_owned()
        });
    }

    pub(super) fn get(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }
}

/// Returns the message of an error that reports a damaged database file.
pub fn damage(error: &Error) -> Option<&(dyn StdError + 'static)> {
    causes(error).find(|cause| cause.downcast_ref().is_some_and(is_damage))
}

pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(code: i32) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
    }

    #[test]
    fn damage_is_recorded_from_nested_errors_and_stays() {
        let noted = Damage::default();
        for harmless in [map(failure(ffi::SQLITE_BUSY)), Error::internal("other")] {
            noted.record_damage::<()>(Err(harmless)).unwrap_err();
            assert_eq!(noted.get(), None);
        }
        let deep = Error::Internal(Box::new(map(failure(ffi::SQLITE_CORRUPT))));
        noted.record_damage::<()>(Err(deep)).unwrap_err();
        let first = noted.get().unwrap().to_owned();
        assert!(first.contains("malformed"), "{first}");
        noted.record_damage::<()>(Err(map(failure(ffi::SQLITE_NOTADB)))).unwrap_err();
        assert_eq!(noted.get(), Some(&*first));
    }
}
