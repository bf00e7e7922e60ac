//! Copies the database while other connections read and write.

use std::path::Path;

use cms_model::error::{Error, Result, path_error};
use cms_system::folder;
use rusqlite::{
    Connection,
    backup::{Backup, StepResult},
};

use super::{
    Reader, Store,
    cluster::bootstrap,
    error::{is_damage, map},
    functions, pool,
};

impl Store {
    /// Copies the database to a new file. The copy is one snapshot, taken after the call starts.
    ///
    /// All pages are copied in one step from one snapshot, which does not block writes. A copy
    /// in several steps would start again after every write.
    pub fn copy(&self, to: &Path) -> Result<()> {
        let source = pool::connect_unlimited(self.readers.path())?;
        // SQLite creates world-readable files, and uses an existing empty file unchanged.
        folder::create_private(to).map_err(|error| path_error(to, &error))?;
        let mut copy = Connection::open(to).map_err(map)?;
        copy.execute_batch("PRAGMA synchronous = OFF").map_err(map)?;
        let step = Backup::new(&source, &mut copy).map_err(map)?.step(-1).map_err(map);
        let step = self.damage.record_damage(step)?;
        if step != StepResult::Done {
            return Err(Error::Busy("the database is locked by another process".to_owned()));
        }
        // The copy is a standalone database, even if the content of the directory has moved to a cluster.
        bootstrap::leave_cluster(&copy)?;
        // In this mode, the copy has no write-ahead log beside it, not even while it is read.
        copy.execute_batch("PRAGMA journal_mode = DELETE").map_err(map)
    }
}

/// Reads from a copy that no other connection uses, without a time limit.
pub fn read_copy<T>(path: &Path, read: impl FnOnce(&Reader<'_>) -> Result<T>) -> Result<T> {
    let copy = Connection::open(path).map_err(map)?;
    functions::register(&copy).map_err(map)?;
    read(&Reader::new(&copy))
}

/// Reads from a database file that may be too damaged to be opened as a database.
pub fn read_file<T>(path: &Path, read: impl FnOnce(&Reader<'_>) -> Result<T>) -> Result<T> {
    let connection = pool::connect_unlimited(path)?;
    read(&Reader::new(&connection))
}

impl Reader<'_> {
    /// Returns the errors of the database file; empty when every page is readable.
    pub fn quick_check(&self) -> Result<Vec<String>> {
        self.pragma_findings("PRAGMA quick_check(20)")
    }

    pub(super) fn pragma_findings(&self, check: &str) -> Result<Vec<String>> {
        let mut statement = match self.connection.prepare(check) {
            Ok(statement) => statement,
            // A damaged schema stops every statement.
            Err(error) if is_damage(&error) => return Ok(vec![error.to_string()]),
            Err(error) => return Err(map(error)),
        };
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).map_err(map)?;
        let mut findings = Vec::new();
        for row in rows {
            match row {
                // One row may hold several lines; the first one names the database.
                Ok(text) => findings.extend(
                    text.lines()
                        .filter(|line| *line != "ok" && !line.starts_with("***"))
                        .map(str::to_owned),
                ),
                // Some damage stops the integrity check itself.
                Err(error) if is_damage(&error) => {
                    findings.push(error.to_string());
                    break;
                }
                Err(error) => return Err(map(error)),
            }
        }
        Ok(findings)
    }
}
