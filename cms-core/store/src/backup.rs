//! Copies of the database, made while others read and write.

use std::path::Path;

use cms_model::error::{Error, Result, path_error};
use cms_system::folder;
use rusqlite::{
    Connection,
    backup::{Backup, StepResult},
};

use super::{
    Reader, Store,
    error::{is_damage, map},
    functions, pool,
};

impl Store {
    /// Copies the database to a new file, in the state of one moment after the call.
    ///
    /// All pages are copied in one step: it reads from one snapshot, which keeps nobody from
    /// writing, while a copy in several steps would begin again after every write.
    pub fn copy(&self, to: &Path) -> Result<()> {
        let source = pool::connect_unlimited(self.readers.path())?;
        // SQLite makes files that everybody may read, and takes one that is empty as it is.
        folder::create_private(to).map_err(|error| path_error(to, &error))?;
        let mut copy = Connection::open(to).map_err(map)?;
        copy.execute_batch("PRAGMA synchronous = OFF").map_err(map)?;
        let step = Backup::new(&source, &mut copy).map_err(map)?.step(-1).map_err(map);
        let step = self.damage.watch(step)?;
        if step != StepResult::Done {
            return Err(Error::Busy("the database is locked by another process".to_owned()));
        }
        // One file and nothing beside it, also when it is read.
        copy.execute_batch("PRAGMA journal_mode = DELETE").map_err(map)
    }
}

/// Reads from a copy that nobody else uses, for as long as it takes.
pub fn read_copy<T>(path: &Path, read: impl FnOnce(&Reader<'_>) -> Result<T>) -> Result<T> {
    let copy = Connection::open(path).map_err(map)?;
    functions::register(&copy).map_err(map)?;
    read(&Reader(&copy))
}

/// Reads from the file of a database that may be too damaged to be opened as one.
pub fn read_file<T>(path: &Path, read: impl FnOnce(&Reader<'_>) -> Result<T>) -> Result<T> {
    let connection = pool::connect_unlimited(path)?;
    read(&Reader(&connection))
}

impl Reader<'_> {
    /// Tells what is wrong with the file of the database; nothing when it can be read throughout.
    pub fn damage(&self) -> Result<Vec<String>> {
        self.pragma_findings("PRAGMA quick_check(20)")
    }

    pub(super) fn pragma_findings(&self, check: &str) -> Result<Vec<String>> {
        let mut statement = self.statement(check)?;
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).map_err(map)?;
        let mut findings = Vec::new();
        for row in rows {
            match row {
                // One row may hold several lines, the first of which names the database.
                Ok(text) => findings.extend(
                    text.lines()
                        .filter(|line| *line != "ok" && !line.starts_with("***"))
                        .map(str::to_owned),
                ),
                // Some damage keeps the check itself from going on.
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
