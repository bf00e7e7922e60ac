//! Copies the shared database to a new replica, and a data directory to a new shared database.

use std::{
    fs,
    path::{Path, PathBuf},
};

use cms_model::error::{Error, Result, path_error};
use cms_system::folder;
use rusqlite::{Connection, params};

use super::{
    apply,
    database::{Head, Position, SharedDatabase, SharedSnapshot, SharedTable},
    rows, tables,
};
use crate::{DERIVED_DATA_VERSION, Reader, Schemas, WriteTransaction, error::map, functions};

/// File name of a new replica until it is complete.
const TEMPORARY: &str = "cms.db.bootstrap";

/// Copies all rows of one commit to a new database; returns its path and the commit.
pub(crate) fn copy_shared_database(
    folder: &Path,
    database: &dyn SharedDatabase,
    schemas: &Schemas,
) -> Result<(PathBuf, Position)> {
    let mut snapshot = database.snapshot(None)?;
    let schema = snapshot.head().schema;
    schemas.require_usable(schema)?;
    let path = folder.join(TEMPORARY);
    rename_or_remove(folder, TEMPORARY, None)?;
    folder::create_private(&path).map_err(|error| path_error(&path, &error))?;
    schemas.migrate(&mut Connection::open(&path).map_err(map)?, Some(schema))?;
    let mut connection = Connection::open(&path).map_err(map)?;
    functions::register(&connection).map_err(map)?;
    connection
        .execute_batch(
            "PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -64000",
        )
        .map_err(map)?;
    let position = fill(&mut connection, &mut *snapshot)?;
    // Writes the log into the file, so that one complete file can be renamed.
    connection
        .execute_batch("PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)")
        .map_err(map)?;
    drop(connection);
    let file = fs::File::open(&path).and_then(|file| file.sync_all());
    file.map_err(|error| path_error(&path, &error))?;
    Ok((path, position))
}

fn fill(connection: &mut Connection, snapshot: &mut dyn SharedSnapshot) -> Result<Position> {
    let transaction = connection.transaction().map_err(map)?;
    let position = {
        let writer = WriteTransaction(Reader::new(&transaction));
        // Indexes are built after all rows are inserted, which is faster than one update per row.
        let indexes: Vec<(String, String)> = writer.query_rows(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL",
            [],
            |row| row.try_into(),
        )?;
        for (name, _) in &indexes {
            transaction.execute_batch(&format!("DROP INDEX \"{name}\"")).map_err(map)?;
        }
        // A migration of an empty database leaves rows, such as the actors of the system.
        let shared = tables::shared(&writer)?;
        for table in &shared {
            transaction.execute_batch(&format!("DELETE FROM \"{}\"", table.name)).map_err(map)?;
        }
        for table in &shared {
            snapshot.all_rows(table, &mut |rows| rows::write_new(&writer, table, &rows))?;
        }
        for (_, sql) in &indexes {
            transaction.execute_batch(sql).map_err(map)?;
        }
        writer.create_slot_indexes_of_types()?;
        let dangling = writer.dangling_rows()?;
        if let Some((table, referenced)) = dangling.first() {
            return Err(Error::Damaged(format!(
                "the database of the cluster is damaged: {} rows refer to missing rows, the first \
                 in table {table} to {referenced}",
                dangling.len()
            )));
        }
        let head = snapshot.head();
        apply::write_sequences(&writer, head)?;
        writer.execute(
            "UPDATE local SET derived = ?1, cluster = ?2, commit_no = ?3, nonce = ?4",
            params![DERIVED_DATA_VERSION, head.cluster, head.position.commit, head.position.nonce],
        )?;
        head.position
    };
    transaction.commit().map_err(map)?;
    Ok(position)
}

/// Makes a copy standalone: it belongs to no cluster.
pub(crate) fn leave_cluster(copy: &Connection) -> Result<()> {
    let sql = "UPDATE local SET cluster = NULL, commit_no = NULL, nonce = NULL";
    copy.execute_batch(sql).map_err(map)
}

/// Creates the cluster in a shared database, with all rows of a data directory.
pub(crate) fn copy_to_shared_database(
    reader: &Reader<'_>,
    database: &dyn SharedDatabase,
    schema: i64,
) -> Result<Head> {
    let tables: Vec<SharedTable> = tables::shared(reader)?;
    let head = Head {
        cluster: reader.query_value("SELECT lower(hex(randomblob(16)))", [])?,
        position: Position { commit: 0, nonce: reader.query_value("SELECT random()", [])? },
        schema,
        sequences: apply::sequences(reader)?,
    };
    database.create(&tables, &head, &mut |sink| {
        for table in &tables {
            rows::read_all(reader, table, |rows| sink.send(table, rows))?;
        }
        Ok(())
    })?;
    Ok(head)
}

/// Renames or removes a database, with the files that SQLite keeps beside it.
pub(crate) fn rename_or_remove(folder: &Path, name: &str, new_name: Option<&str>) -> Result<()> {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let path = folder.join(format!("{name}{suffix}"));
        let done = match new_name {
            Some(new_name) => fs::rename(&path, folder.join(format!("{new_name}{suffix}"))),
            None => fs::remove_file(&path),
        };
        done.or_else(folder::ignore_missing).map_err(|error| path_error(&path, &error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    };

    use super::*;
    use crate::cluster::database::{ChangedKeys, ColumnValues, HeadState, History, Rows};

    /// A snapshot with one link for each object, but without the objects.
    struct Links {
        objects: i64,
        state: HeadState,
    }

    impl SharedSnapshot for Links {
        fn state(&self) -> &HeadState {
            &self.state
        }

        fn rows(&mut self, _: &SharedTable, _: &[i64]) -> Result<Rows> {
            unreachable!("a copy reads all rows")
        }

        fn all_rows(
            &mut self,
            table: &SharedTable,
            visit: &mut dyn FnMut(Rows) -> Result<()>,
        ) -> Result<()> {
            if table.name != tables::LINKS {
                return Ok(());
            }
            (1..=self.objects).try_for_each(|key| {
                let links = Some(format!(r#"[["tag", "tag-{key}", null]]"#));
                visit(Rows { keys: vec![key], values: vec![ColumnValues::Text(vec![links])] })
            })
        }
    }

    /// Instructions of SQLite for a copy, in hundreds.
    fn instructions(objects: i64) -> u32 {
        let mut connection = Connection::open_in_memory().unwrap();
        functions::register(&connection).unwrap();
        Schemas::default().migrate(&mut connection, None).unwrap();
        let count = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&count);
        let handler = move || {
            counter.fetch_add(1, Ordering::Relaxed);
            false
        };
        connection.progress_handler(100, Some(handler)).unwrap();
        let position = Position { commit: 1, nonce: 1 };
        let head =
            Head { cluster: "cluster".to_owned(), position, schema: 1, sequences: String::new() };
        let state = HeadState { head, history: History::Same, changes: ChangedKeys::new() };
        // The objects are missing: `fill` reports that after it has inserted all links.
        fill(&mut connection, &mut Links { objects, state }).unwrap_err();
        count.load(Ordering::Relaxed)
    }

    #[test]
    fn copy_of_links_takes_linear_time() {
        let (few, many) = (instructions(1_000), instructions(4_000));
        assert!(many < few * 5, "{few}, {many}");
    }
}
