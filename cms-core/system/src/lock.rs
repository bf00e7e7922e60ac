//! Files of the data folder whose lock one process has at a time. It lets go when the file is closed,
//! however it ends.

use std::{
    fs::{File, TryLockError},
    path::Path,
};

use cms_model::error::{Result, path_error};

/// Opens a file to lock it; it is made when missing.
pub fn open(path: &Path) -> Result<File> {
    let file = File::options().create(true).truncate(false).write(true).open(path);
    file.map_err(|error| path_error(path, &error))
}

/// Takes the lock of a file, which is made when missing; none when another process has it.
pub fn try_hold(path: &Path) -> Result<Option<File>> {
    let file = open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(path_error(path, &error)),
    }
}
