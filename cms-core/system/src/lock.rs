//! Lock files of the data directory. One process at a time holds the lock of a file; closing the
//! file, also by a crash, releases it.

use std::{
    fs::{File, TryLockError},
    path::Path,
};

use cms_model::error::{Result, path_error};

/// Opens a lock file; creates it if missing.
pub fn open(path: &Path) -> Result<File> {
    let file = File::options().create(true).truncate(false).write(true).open(path);
    file.map_err(|error| path_error(path, &error))
}

/// Takes the lock of a file, which is created if missing; none when another process holds it.
pub fn try_hold(path: &Path) -> Result<Option<File>> {
    let file = open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(path_error(path, &error)),
    }
}
