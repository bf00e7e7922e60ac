//! Applies the changes of other nodes to a replica.

use std::{collections::HashSet, path::Path};

use cms_model::error::{Error, Result};
use parking_lot::Mutex;
use rusqlite::Connection;

use super::{
    database::{Head, History, Position, SharedSnapshot, SharedTable},
    rows,
};
use crate::{Reader, WriteTransaction, error::map, pool};

/// The table of content types.
const TYPES: &str = "ctd";

/// The connection that writes the changes of other nodes. It does not enforce foreign keys: these hold
/// at the end of the transaction, but not between two rows, and a deletion must not cascade to rows
/// that stay.
pub(super) struct ChangeApplier(Mutex<Connection>);

impl ChangeApplier {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let connection = pool::connect_writer(path, cms_model::settings::Durability::Normal)?;
        connection.execute_batch("PRAGMA foreign_keys = OFF").map_err(map)?;
        Ok(Self(Mutex::new(connection)))
    }

    /// Applies all changes up to the head of a snapshot to the replica, in one transaction.
    pub(super) fn apply(
        &self,
        tables: &[SharedTable],
        snapshot: &mut dyn SharedSnapshot,
    ) -> Result<Position> {
        if snapshot.history() != History::Same {
            return Err(Error::internal("changes of another history"));
        }
        let connection = self.0.lock();
        let writer = WriteTransaction(Reader::new(&connection));
        writer.execute("BEGIN IMMEDIATE", [])?;
        let applied = apply(&writer, tables, snapshot)
            .and_then(|position| writer.execute("COMMIT", []).map(|()| position));
        if applied.is_err() && !connection.is_autocommit() {
            writer.execute("ROLLBACK", [])?;
        }
        applied
    }
}

fn apply(
    writer: &WriteTransaction<'_>,
    tables: &[SharedTable],
    snapshot: &mut dyn SharedSnapshot,
) -> Result<Position> {
    let changes = snapshot.changes().clone();
    for (name, keys) in &changes {
        let table = tables.iter().find(|table| table.name == *name).ok_or_else(|| {
            Error::internal(format!("the cluster has changed the unknown table {name}"))
        })?;
        for keys in keys.chunks(rows::CHUNK_ROWS) {
            let rows = snapshot.rows(table, keys)?;
            let existing: HashSet<i64> = rows.keys.iter().copied().collect();
            let deleted: Vec<i64> =
                keys.iter().copied().filter(|key| !existing.contains(key)).collect();
            rows::delete(writer, table, &deleted)?;
            rows::write(writer, table, &rows)?;
        }
    }
    // The schema is not copied.
    if changes.contains_key(TYPES) {
        writer.create_slot_indexes_of_types()?;
    }
    let head = snapshot.head();
    write_sequences(writer, head)?;
    set_position(writer, head.position)?;
    Ok(head.position)
}

/// The last used key of each table, as JSON. Each commit copies all of them, because SQLite's update
/// hook does not report changes of `sqlite_sequence`.
pub(super) fn sequences(reader: &Reader<'_>) -> Result<String> {
    reader.query_value(
        "SELECT json_group_object(name, seq) FROM (SELECT name, seq FROM sqlite_sequence ORDER BY name)",
        [],
    )
}

pub(super) fn write_sequences(writer: &WriteTransaction<'_>, head: &Head) -> Result<()> {
    let delete = "DELETE FROM sqlite_sequence WHERE name IN (SELECT key FROM json_each(?1))";
    writer.execute(delete, [&head.sequences])?;
    let insert = "INSERT INTO sqlite_sequence (name, seq) SELECT key, value FROM json_each(?1)";
    writer.execute(insert, [&head.sequences])
}

/// Stores the last commit of the cluster that the replica has.
pub(super) fn set_position(writer: &WriteTransaction<'_>, position: Position) -> Result<()> {
    let sql = "UPDATE local SET commit_no = ?1, nonce = ?2";
    writer.execute(sql, [position.commit, position.nonce])
}
