//! Records the keys of the rows that a transaction changes, by SQLite's update hook.
//!
//! The rows are read just before the commit. So it does no harm if a key is recorded twice, or without
//! need. A key without a row is a deletion.
//!
//! The hook does not report changes of tables without an integer key, rows that `REPLACE` removes, and
//! `DELETE` without `WHERE`. A test of the source code refuses such statements, except where changes of other nodes are
//! applied (`rows.rs`): that connection has no hook. To detect other gaps, tests compare all tables after each commit.

use std::{collections::HashMap, sync::Arc};

use cms_model::error::{Error, Result};
use parking_lot::Mutex;
use rusqlite::{Connection, hooks::Action};

use super::{
    database::{ChangedKeys, SharedTable},
    tables::LINKS,
};
use crate::{Reader, error::map};

/// The changed rows of the current transaction of one connection.
pub(crate) struct Capture {
    /// The list is used even after a panic while it was locked: each change is added in one step, so
    /// the list is always consistent.
    changes: Arc<Mutex<Vec<Change>>>,
    /// The index of the table of links.
    links: usize,
}

/// A changed row: the index of its table in the list of shared tables, and its key.
type Change = (usize, i64);

impl Capture {
    /// Starts to record the changes of a connection.
    pub(super) fn install(connection: &mut Connection, tables: &[SharedTable]) -> Result<Self> {
        let indexes: HashMap<String, usize> =
            tables.iter().enumerate().map(|(index, table)| (table.name.clone(), index)).collect();
        let links = indexes[LINKS];
        let capture = Self { changes: Arc::default(), links };
        let changes = Arc::clone(&capture.changes);
        let hook = move |action: Action, _: &str, table: &str, key: i64| {
            let Some(&index) = indexes.get(table) else { return };
            let mut changes = changes.lock();
            if changes.last() != Some(&(index, key)) {
                changes.push((index, key));
            }
            // Deleting an object also deletes its links, and the hook does not report those.
            if action == Action::SQLITE_DELETE && table == "object" {
                changes.push((links, key));
            }
        };
        connection.update_hook(Some(hook)).map_err(map)?;
        Ok(capture)
    }

    /// Records the links of an object as changed: the hook does not report them.
    pub(crate) fn record_links(&self, object: i64) {
        self.changes.lock().push((self.links, object));
    }

    /// Records all rows of a table as changed.
    pub(super) fn record_table(
        &self,
        reader: &Reader<'_>,
        tables: &[SharedTable],
        name: &str,
    ) -> Result<()> {
        let index = tables.iter().position(|table| table.name == name);
        let index = index.ok_or_else(|| Error::internal(format!("{name} is no shared table")))?;
        let sql = format!("SELECT DISTINCT \"{}\" FROM \"{name}\"", tables[index].key());
        let keys: Vec<i64> = reader.query_values(&sql, [])?;
        self.changes.lock().extend(keys.into_iter().map(|key| (index, key)));
        Ok(())
    }

    /// Number of recorded changes, for [`Self::truncate`].
    pub(crate) fn len(&self) -> usize {
        self.changes.lock().len()
    }

    /// Removes the changes that a savepoint has rolled back.
    pub(crate) fn truncate(&self, len: usize) {
        self.changes.lock().truncate(len);
    }

    /// Returns the recorded keys by table, in order and without repetitions, and removes them.
    pub(super) fn take(&self, tables: &[SharedTable]) -> ChangedKeys {
        let mut changes = std::mem::take(&mut *self.changes.lock());
        changes.sort_unstable();
        changes.dedup();
        let mut keys = ChangedKeys::new();
        for group in changes.chunk_by(|one, next| one.0 == next.0) {
            let name = tables[group[0].0].name.clone();
            keys.insert(name, group.iter().map(|(_, key)| *key).collect());
        }
        keys
    }
}
