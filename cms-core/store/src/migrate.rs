//! Prepares a data directory: the lock between processes, new databases, migrations, rejection of
//! newer databases.
//!
//! Every process holds `DIR/lock` shared while it uses the database and exclusively while it
//! migrates, so no process migrates under a running server. An import of many objects holds it
//! exclusively, too.

use std::{
    fs::{self, File},
    io::ErrorKind,
    path::{Path, PathBuf},
    time::Duration,
};

use cms_model::{
    error::{Error, Result, path_error},
    settings::NewDatabase,
};
use cms_system::{folder, lock};
use rusqlite::{Connection, MAIN_DB};

use super::{Reader, error::map, schema::Schemas};

/// Maximum wait for a process that holds the lock exclusively.
const MAX_LOCK_WAIT: Duration = Duration::from_secs(10);

/// The database file, and the temporary file of a new one.
pub(super) const DATABASE: &str = "cms.db";
const TEMPORARY_DATABASE: &str = "cms.db.new";
/// Directories that are meaningless without the database.
const DEPENDENT_DIRECTORIES: [&str; 2] = ["media", "index"];
/// The staging directory of a restore.
const RESTORE_STAGING: &str = "restoring";

/// Prepares the directory and its database; returns the database path and the shared lock.
pub(super) fn prepare(folder: &Path, new: NewDatabase) -> Result<(PathBuf, File)> {
    let path = folder.join(DATABASE);
    // Checked before the database file. In the reverse order, another process could create database and data between
    // the two checks: then the database would seem lost.
    let has_dependent_data = has_dependent_data(folder);
    if new == NewDatabase::Never && size(&path)?.is_none() {
        let name = folder.display().to_string();
        return Err(if has_dependent_data {
            lost(folder, None)
        } else {
            Error::not_found("data directory", name)
        });
    }
    folder::create(folder).map_err(|error| path_error(folder, &error))?;
    let lock = lock::open(&folder.join("lock"))?;
    if is_current(&path)? {
        lock_shared(&lock, folder)?;
    } else {
        let is_alone = lock::wait(Duration::ZERO, || lock.try_lock());
        if is_alone.map_err(|error| path_error(folder, &error))? {
            match size(&path)? {
                None | Some(0) => create(folder, &path, new)?,
                Some(_) => migrate(&path)?,
            }
        }
        lock.unlock().map_err(|error| path_error(folder, &error))?;
        lock_shared(&lock, folder)?;
    }
    // From here on no other process can change the schema.
    if is_current(&path)? {
        Ok((path, lock))
    } else if size(&path)?.is_none() {
        Err(Error::Conflict(format!(
            "the database {} is missing, and another process still has the data directory open: stop \
             that process",
            path.display()
        )))
    } else {
        Err(Error::Conflict(format!(
            "the data directory {} is in use by an older version; stop it, then start this one",
            folder.display()
        )))
    }
}

/// Locks the directory of an open database exclusively instead of shared, if no other process uses it;
/// returns whether it did.
pub(super) fn lock_exclusively(lock: &File, path: &Path) -> Result<bool> {
    let folder = path.parent().unwrap_or(path);
    let failed = |error| path_error(folder, &error);
    lock.unlock().map_err(failed)?;
    let is_alone = lock::wait(Duration::ZERO, || lock.try_lock()).map_err(failed)?;
    if !is_alone {
        lock_shared(lock, folder)?;
    }
    ensure_not_newer(path)?;
    Ok(is_alone)
}

/// Locks the directory of an open database shared instead of exclusively.
pub(super) fn lock_shared_again(lock: &File, path: &Path) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    lock.unlock().map_err(|error| path_error(folder, &error))?;
    lock_shared(lock, folder)?;
    ensure_not_newer(path)
}

/// Fails if another process migrated the database to a newer schema while the directory was not locked.
fn ensure_not_newer(path: &Path) -> Result<()> {
    is_current(path).map(drop)
}

fn lock_shared(lock: &File, folder: &Path) -> Result<()> {
    let is_taken = lock::wait(MAX_LOCK_WAIT, || lock.try_lock_shared());
    if is_taken.map_err(|error| path_error(folder, &error))? {
        return Ok(());
    }
    Err(Error::Busy(format!(
        "another process migrates, restores or imports into the data directory {}",
        folder.display()
    )))
}

/// Returns whether the database has this program's schema version; rejects a newer one.
fn is_current(path: &Path) -> Result<bool> {
    // An empty file is not opened: SQLite would remove the write-ahead log beside it.
    if matches!(size(path)?, None | Some(0)) {
        return Ok(false);
    }
    let Some(found) = stored_schema(path)? else { return Ok(false) };
    let ours = Schemas::default().newest();
    if found > ours {
        return Err(Error::Conflict(format!(
            "the database {} was written by a newer version (schema {found}, this program knows {ours}): \
             use that version, or restore a backup made before the upgrade",
            path.display(),
        )));
    }
    Ok(found == ours)
}

/// Returns the schema version of a database; none before its first migration. Fails if the database
/// cannot be written: SQLite would only report it for the first change, without the path.
pub(super) fn stored_schema(path: &Path) -> Result<Option<i64>> {
    let connection = Connection::open(path).map_err(map)?;
    if connection.is_readonly(MAIN_DB).map_err(map)? {
        return Err(Error::internal(format!("the database {} is read-only", path.display())));
    }
    connection.busy_timeout(MAX_LOCK_WAIT).map_err(map)?;
    let reader = Reader::new(&connection);
    let has_history = "SELECT count(*) FROM sqlite_schema WHERE name = 'refinery_schema_history'";
    if !reader.query_value(has_history, [])? {
        return Ok(None);
    }
    reader.query_value("SELECT max(version) FROM refinery_schema_history", [])
}

/// Opens the database of a directory that has a current one; returns its path and the shared lock.
pub(super) fn open_existing(folder: &Path) -> Result<(PathBuf, File)> {
    let lock = lock::open(&folder.join("lock"))?;
    lock_shared(&lock, folder)?;
    Ok((folder.join(DATABASE), lock))
}

fn migrate(path: &Path) -> Result<()> {
    let mut connection = Connection::open(path).map_err(map)?;
    Schemas::default().migrate(&mut connection, None)
}

/// Creates a database under a temporary name first, so that a killed process leaves no empty or
/// incomplete one.
fn create(folder: &Path, path: &Path, new: NewDatabase) -> Result<()> {
    let size = size(path)?;
    if new != NewDatabase::Always && (size.is_some() || has_dependent_data(folder)) {
        return Err(lost(folder, size));
    }
    let failed = |error| path_error(folder, &error);
    let temporary = folder.join(TEMPORARY_DATABASE);
    let remove = |name: &str| {
        fs::remove_file(folder.join(name)).or_else(folder::ignore_missing).map_err(failed)
    };
    for name in [TEMPORARY_DATABASE, "cms.db.new-wal", "cms.db.new-shm"] {
        remove(name)?;
    }
    // SQLite would create a file that others may read, in a directory that they may enter.
    folder::create_private(&temporary).map_err(failed)?;
    migrate(&temporary)?;
    if folder.join("cms.db.new-wal").exists() {
        return Err(Error::internal("the new database cannot be closed"));
    }
    // SQLite would replay the log of a lost database into the new one. The log is kept under another
    // name, because it may be all that remains of the lost database.
    let log = folder.join("cms.db-wal");
    if log.exists() {
        fs::rename(&log, folder.join("cms.db-wal.old")).map_err(failed)?;
    }
    remove("cms.db-shm")?;
    // The search index was derived from the lost database.
    fs::remove_dir_all(folder.join("index")).or_else(folder::ignore_missing).map_err(failed)?;
    fs::rename(&temporary, path).map_err(failed)?;
    folder::sync(folder).map_err(failed)
}

/// Returns whether a directory has data that is meaningless without its database.
fn has_dependent_data(folder: &Path) -> bool {
    !dependent_data(folder).is_empty()
}

fn dependent_data(folder: &Path) -> Vec<&'static str> {
    let has_entries = |name: &str| {
        fs::read_dir(folder.join(name)).is_ok_and(|mut entries| entries.next().is_some())
    };
    let mut found: Vec<_> =
        DEPENDENT_DIRECTORIES.into_iter().filter(|name| has_entries(name)).collect();
    if has_entries(RESTORE_STAGING) {
        found.push(RESTORE_STAGING);
    }
    if fs::metadata(folder.join("cms.db-wal")).is_ok_and(|log| log.len() > 0) {
        found.push("cms.db-wal");
    }
    found
}

/// The error for creating a database where one existed.
fn lost(folder: &Path, size: Option<u64>) -> Error {
    let (path, data) = (folder.join(DATABASE), folder.display());
    let found = dependent_data(folder);
    if size.is_none() && found.contains(&RESTORE_STAGING) {
        return Error::Conflict(format!(
            "the data directory {data} holds an unfinished restore ({RESTORE_STAGING}/) and no \
             database: run `cms restore FILE --data {data}` again; --new-database creates an \
             empty database instead"
        ));
    }
    let state = match size {
        None => format!(
            "is missing, but the data directory still holds its data ({})",
            found.join(", ")
        ),
        Some(_) => "has 0 bytes".to_owned(),
    };
    Error::Conflict(format!(
        "the database {} {state}: put the file back, or restore a backup into another data directory \
         with `cms restore FILE --data DIR`; --new-database creates an empty database instead",
        path.display()
    ))
}

/// Returns the size of a file, if it exists; any other entry counts as a file with content.
fn size(path: &Path) -> Result<Option<u64>> {
    match fs::metadata(path) {
        Ok(meta) => Ok(Some(if meta.is_file() { meta.len() } else { 1 })),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(path_error(path.parent().unwrap_or(path), &error)),
    }
}
