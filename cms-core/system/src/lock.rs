//! Lock files. One process holds the lock of a file exclusively, or several share it; closing the file, also
//! by a crash, releases it.

use std::{
    fs::{File, TryLockError},
    io,
    path::Path,
    thread::sleep,
    time::{Duration, Instant},
};

use cms_model::error::{Result, path_error};

/// Pause between attempts to take a lock.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Opens a lock file; creates it if missing.
pub fn open(path: &Path) -> Result<File> {
    let file = File::options().create(true).truncate(false).write(true).open(path);
    file.map_err(|error| path_error(path, &error))
}

/// Takes the lock of a file, which is created if missing; none when another process holds it.
pub fn try_lock(path: &Path) -> Result<Option<File>> {
    let file = open(path)?;
    let is_taken = wait(Duration::ZERO, || file.try_lock());
    Ok(is_taken.map_err(|error| path_error(path, &error))?.then_some(file))
}

/// Takes a lock; returns false when another process still holds it after the timeout.
pub fn wait(
    timeout: Duration,
    take: impl Fn() -> std::result::Result<(), TryLockError>,
) -> io::Result<bool> {
    let begun = Instant::now();
    loop {
        match take() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) if begun.elapsed() < timeout => sleep(POLL_INTERVAL),
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}
