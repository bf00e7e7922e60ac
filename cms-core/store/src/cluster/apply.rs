//! Applies the changes of other nodes to a replica.

use std::{collections::HashSet, path::Path, sync::Mutex};

use cms_model::error::{Error, Result};
use rusqlite::{Connection, params};

use super::{
    database::{Head, History, MirroredTable, Position, SharedSnapshot},
    rows,
};
use crate::{Reader, error::map, pool};

/// Maximum rows that are requested at once.
const CHUNK_ROWS: usize = 2000;

/// The connection that writes the changes of others. It does not enforce references: they hold at
/// the end, but not between two rows, and its deletions must not cascade to rows that stay.
pub(super) struct ChangeApplier(Mutex<Connection>);

impl ChangeApplier {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let connection = pool::connect_writer(path, cms_model::settings::Durability::Normal)?;
        connection.execute_batch("PRAGMA foreign_keys = OFF").map_err(map)?;
        Ok(Self(Mutex::new(connection)))
    }

    /// Brings the replica to the head of a snapshot, in one transaction.
    pub(super) fn apply(
        &self,
        tables: &[MirroredTable],
        snapshot: &mut dyn SharedSnapshot,
    ) -> Result<Position> {
        if snapshot.history() != History::Same {
            return Err(Error::internal("changes of another history"));
        }
        let connection = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let reader = Reader::new(&connection);
        connection.execute_batch("BEGIN IMMEDIATE").map_err(map)?;
        let applied = apply(&reader, tables, snapshot).and_then(|position| {
            connection.execute_batch("COMMIT").map_err(map).map(|()| position)
        });
        if applied.is_err() && !connection.is_autocommit() {
            connection.execute_batch("ROLLBACK").map_err(map)?;
        }
        applied
    }
}

fn apply(
    reader: &Reader<'_>,
    tables: &[MirroredTable],
    snapshot: &mut dyn SharedSnapshot,
) -> Result<Position> {
    let changes = snapshot.changes().clone();
    for (name, keys) in &changes {
        let table = tables.iter().find(|table| table.name == *name).ok_or_else(|| {
            Error::internal(format!("the cluster has changed the unknown table {name}"))
        })?;
        for keys in keys.chunks(CHUNK_ROWS) {
            let rows = snapshot.rows(table, keys)?;
            let existing: HashSet<i64> = rows.keys.iter().copied().collect();
            let deleted: Vec<i64> =
                keys.iter().copied().filter(|key| !existing.contains(key)).collect();
            rows::delete(reader, table, &deleted)?;
            rows::write(reader, table, &rows)?;
        }
    }
    let head = snapshot.head();
    write_sequences(reader, head)?;
    set_position(reader, head.position)?;
    Ok(head.position)
}

/// The keys that were used last, as JSON: no hook reports them.
pub(super) fn sequences(reader: &Reader<'_>) -> Result<String> {
    reader.query_value(
        "SELECT json_group_object(name, seq) FROM (SELECT name, seq FROM sqlite_sequence ORDER BY name)",
        [],
    )
}

pub(super) fn write_sequences(reader: &Reader<'_>, head: &Head) -> Result<()> {
    let delete = "DELETE FROM sqlite_sequence WHERE name IN (SELECT key FROM json_each(?1))";
    reader.statement(delete)?.execute([&head.sequences]).map_err(map)?;
    let insert = "INSERT INTO sqlite_sequence (name, seq) SELECT key, value FROM json_each(?1)";
    reader.statement(insert)?.execute([&head.sequences]).map_err(map)?;
    Ok(())
}

/// Stores up to which commit the replica has the changes of the cluster.
pub(super) fn set_position(reader: &Reader<'_>, position: Position) -> Result<()> {
    reader
        .statement("UPDATE local SET commit_no = ?1, nonce = ?2")?
        .execute(params![position.commit, position.nonce])
        .map_err(map)?;
    Ok(())
}
