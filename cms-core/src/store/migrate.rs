//! Getting a folder ready: the lock between processes, migrations, refusal of newer databases.
//!
//! Every process holds `DIR/lock` shared while it uses the database and exclusively while it
//! migrates, so nobody migrates under a running server.

use std::{
    fs::{File, OpenOptions, TryLockError},
    path::{Path, PathBuf},
    thread::sleep,
    time::Duration,
};

use rusqlite::Connection;

use super::{error::map, functions};
use crate::{
    error::{Error, Result},
    folder,
};

mod embedded {
    refinery::embed_migrations!("migrations");
}

/// How long to wait for another process that migrates.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);

/// Makes the folder and its database ready; returns the database's path and the shared lock.
pub(super) fn prepare(folder: &Path) -> Result<(PathBuf, File)> {
    folder::make(folder).map_err(|error| unusable(folder, &error))?;
    let path = folder.join("cms.db");
    let lock = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(folder.join("lock"))
        .map_err(|error| unusable(folder, &error))?;
    if is_current(&path)? {
        lock_shared(&lock, folder)?;
    } else {
        match lock.try_lock() {
            Ok(()) => migrate(&path)?,
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(unusable(folder, &error)),
        }
        lock.unlock().map_err(|error| unusable(folder, &error))?;
        lock_shared(&lock, folder)?;
    }
    // Only now can nobody change the schema any more.
    if is_current(&path)? {
        Ok((path, lock))
    } else {
        Err(Error::Conflict(format!(
            "the data folder {} is in use by an older version; stop it, then start this one",
            folder.display()
        )))
    }
}

fn lock_shared(lock: &File, folder: &Path) -> Result<()> {
    let mut waited = Duration::ZERO;
    loop {
        match lock.try_lock_shared() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if waited < PATIENCE => {
                sleep(PAUSE);
                waited += PAUSE;
            }
            Err(TryLockError::WouldBlock) => {
                return Err(Error::Busy(format!(
                    "another process is migrating the data folder {}",
                    folder.display()
                )));
            }
            Err(TryLockError::Error(error)) => return Err(unusable(folder, &error)),
        }
    }
}

/// Tells whether the database is at this program's version; refuses a newer one.
fn is_current(path: &Path) -> Result<bool> {
    if !path.exists() {
        return Ok(false);
    }
    let connection = Connection::open(path).map_err(map)?;
    connection.busy_timeout(PATIENCE).map_err(map)?;
    let has_history: bool = connection
        .query_row(
            "SELECT count(*) FROM sqlite_schema WHERE name = 'refinery_schema_history'",
            [],
            |row| row.get(0),
        )
        .map_err(map)?;
    if !has_history {
        return Ok(false);
    }
    let found: Option<i64> = connection
        .query_row("SELECT max(version) FROM refinery_schema_history", [], |row| row.get(0))
        .map_err(map)?;
    let ours = embedded::migrations::runner()
        .get_migrations()
        .iter()
        .map(|migration| i64::from(migration.version()))
        .max();
    if found > ours {
        return Err(Error::Conflict(format!(
            "the database {} was written by a newer version (schema {}, this program knows {}): \
             use that version, or restore a backup made before the upgrade",
            path.display(),
            found.unwrap_or_default(),
            ours.unwrap_or_default()
        )));
    }
    Ok(found == ours)
}

fn migrate(path: &Path) -> Result<()> {
    let mut connection = Connection::open(path).map_err(map)?;
    connection
        // A migration that makes a table anew drops the old one, which would take all rows with it
        // that refer to it.
        .execute_batch(
            "PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA foreign_keys = OFF;",
        )
        .map_err(map)?;
    // Indexes that a migration meets speak of them.
    functions::register(&connection).map_err(map)?;
    // In one transaction: by itself, a change and the note that it was made are committed one after
    // the other, and a folder whose program dies between them could never be opened again.
    let runner = embedded::migrations::runner().set_grouped(true);
    runner.run(&mut connection).map_err(Error::of_storage)?;
    Ok(())
}

fn unusable(folder: &Path, error: &std::io::Error) -> Error {
    Error::internal(format!("the data folder {} cannot be used: {error}", folder.display()))
}
