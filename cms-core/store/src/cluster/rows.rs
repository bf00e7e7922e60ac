//! Reads and writes rows of shared tables on one connection.

use cms_model::error::Result;
use rusqlite::{
    CachedStatement, ToSql,
    types::{ToSqlOutput, ValueRef},
};

use super::{
    database::{ColumnValues, Rows, SharedTable},
    tables::LINKS,
};
use crate::{Reader, error::map};

/// Maximum number of rows, and of bytes, of a chunk in memory. The shared database stores the rows of a
/// chunk while those of the next one are read. A replica requests as many rows at a time, of any size.
pub(super) const CHUNK_ROWS: usize = 250;
const CHUNK_BYTES: usize = 4 * 1024 * 1024;

/// Reads the rows with these keys in chunks: passes `visit` the keys of a chunk, and the existing rows
/// with these keys.
pub(super) fn read(
    reader: &Reader<'_>,
    table: &SharedTable,
    mut keys: &[i64],
    mut visit: impl FnMut(&[i64], Rows) -> Result<()>,
) -> Result<()> {
    let mut statement = reader.statement(&select(table, &format!("\"{}\" = ?1", table.key())))?;
    while !keys.is_empty() {
        let mut rows = Rows::empty(table);
        let (mut count, mut bytes) = (0, 0);
        while count < keys.len().min(CHUNK_ROWS) && bytes < CHUNK_BYTES {
            bytes += read_row(&mut statement, keys[count], &mut rows)?;
            count += 1;
        }
        visit(&keys[..count], rows)?;
        keys = &keys[count..];
    }
    Ok(())
}

/// Passes all rows of a table to `visit`, in chunks, in the order of their keys.
pub(super) fn read_all(
    reader: &Reader<'_>,
    table: &SharedTable,
    mut visit: impl FnMut(Rows) -> Result<()>,
) -> Result<()> {
    let (name, key) = (&table.name, table.key());
    let mut after = i64::MIN;
    loop {
        let keys: Vec<i64> = reader.query_values(
            &format!(
                "SELECT DISTINCT \"{key}\" FROM \"{name}\" WHERE \"{key}\" > ?1
                 ORDER BY \"{key}\" LIMIT {CHUNK_ROWS}"
            ),
            [after],
        )?;
        let Some(last) = keys.last() else { return Ok(()) };
        after = *last;
        read(reader, table, &keys, |_, rows| visit(rows))?;
    }
}

/// The statement that reads rows, with the columns in the order of the table.
fn select(table: &SharedTable, condition: &str) -> String {
    if table.name == LINKS {
        // An object without links gives no row.
        return format!(
            "SELECT object, json_group_array(json_array(target_type, target_id, source_ctd))
             FROM (SELECT * FROM link WHERE {condition} ORDER BY target_type, target_id)
             GROUP BY object"
        );
    }
    format!("SELECT {} FROM \"{}\" WHERE {condition}", table.column_list(), table.name)
}

/// Adds the row with a key, if it exists; returns its size.
fn read_row(statement: &mut CachedStatement<'_>, key: i64, into: &mut Rows) -> Result<usize> {
    let mut rows = statement.query([key]).map_err(map)?;
    let Some(row) = rows.next().map_err(map)? else { return Ok(0) };
    into.keys.push(key);
    let mut bytes = 0;
    for (column, values) in (1..).zip(&mut into.values) {
        match values {
            ColumnValues::Integer(values) => values.push(row.get(column).map_err(map)?),
            ColumnValues::Text(values) => {
                let text: Option<String> = row.get(column).map_err(map)?;
                bytes += text.as_ref().map_or(0, String::len);
                values.push(text);
            }
            ColumnValues::Blob(values) => {
                let blob: Option<Vec<u8>> = row.get(column).map_err(map)?;
                bytes += blob.as_ref().map_or(0, Vec::len);
                values.push(blob);
            }
        }
    }
    Ok(bytes)
}

/// Inserts rows, or replaces those with the same keys. A row of another key with the same unique values is
/// removed. The caller guarantees that this key is also among the changed keys: its row is then written or
/// deleted, too.
///
/// Only columns that differ are written, so only indexes on these change. This matters for a commit that
/// changes 100,000 objects, as there are dozens of indexes.
pub(super) fn write(reader: &Reader<'_>, table: &SharedTable, rows: &Rows) -> Result<()> {
    let mut existing = reader.statement(&select(table, &format!("\"{}\" = ?1", table.key())))?;
    let mut insert = reader.statement(&insertion(table))?;
    for (index, key) in rows.keys.iter().enumerate() {
        match different_columns(&mut existing, *key, rows, index)? {
            None => execute(&mut insert, rows, index)?,
            Some(columns) if columns.is_empty() => {}
            Some(_) if table.name == LINKS => {
                delete(reader, table, &[*key])?;
                execute(&mut insert, rows, index)?;
            }
            Some(columns) => update(reader, table, rows, index, &columns)?,
        }
    }
    Ok(())
}

/// Like [`write()`], for a table that has no rows with these keys: does not look for existing rows, so
/// it needs no index.
pub(super) fn write_new(reader: &Reader<'_>, table: &SharedTable, rows: &Rows) -> Result<()> {
    let mut insert = reader.statement(&insertion(table))?;
    (0..rows.keys.len()).try_for_each(|index| execute(&mut insert, rows, index))
}

/// The statement that writes a row whose key the table does not have.
fn insertion(table: &SharedTable) -> String {
    if table.name == LINKS {
        return "INSERT INTO link (object, target_type, target_id, source_ctd)
                SELECT ?1, value ->> 0, value ->> 1, value ->> 2 FROM json_each(?2)"
            .to_owned();
    }
    let parameters = vec!["?"; table.columns.len()].join(", ");
    format!("REPLACE INTO \"{}\" ({}) VALUES ({parameters})", table.name, table.column_list())
}

fn execute(insert: &mut CachedStatement<'_>, rows: &Rows, index: usize) -> Result<()> {
    insert.raw_bind_parameter(1, rows.keys[index]).map_err(map)?;
    for (column, values) in (2..).zip(&rows.values) {
        insert.raw_bind_parameter(column, values.at(index)).map_err(map)?;
    }
    insert.raw_execute().map_err(map)?;
    Ok(())
}

/// Returns which columns differ from the row with this key, by their indexes after the key; none if
/// there is no such row.
fn different_columns(
    existing: &mut CachedStatement<'_>,
    key: i64,
    rows: &Rows,
    index: usize,
) -> Result<Option<Vec<usize>>> {
    let mut found = existing.query([key]).map_err(map)?;
    let Some(row) = found.next().map_err(map)? else { return Ok(None) };
    let mut columns = Vec::new();
    for (column, values) in rows.values.iter().enumerate() {
        if row.get_ref(column + 1).map_err(map)? != values.value(index) {
            columns.push(column);
        }
    }
    Ok(Some(columns))
}

fn update(
    reader: &Reader<'_>,
    table: &SharedTable,
    rows: &Rows,
    index: usize,
    columns: &[usize],
) -> Result<()> {
    let set = |column: &usize| format!("\"{}\" = ?", table.columns[column + 1].name);
    let sql = format!(
        "UPDATE OR REPLACE \"{}\" SET {} WHERE \"{}\" = ?",
        table.name,
        columns.iter().map(set).collect::<Vec<_>>().join(", "),
        table.key()
    );
    let mut statement = reader.statement(&sql)?;
    for (parameter, column) in (1..).zip(columns) {
        let value = rows.values[*column].at(index);
        statement.raw_bind_parameter(parameter, value).map_err(map)?;
    }
    statement.raw_bind_parameter(columns.len() + 1, rows.keys[index]).map_err(map)?;
    statement.raw_execute().map_err(map)?;
    Ok(())
}

/// Removes the rows with these keys.
pub(super) fn delete(reader: &Reader<'_>, table: &SharedTable, keys: &[i64]) -> Result<()> {
    let sql = format!("DELETE FROM \"{}\" WHERE \"{}\" = ?1", table.name, table.key());
    let mut statement = reader.statement(&sql)?;
    for key in keys {
        statement.execute([key]).map_err(map)?;
    }
    Ok(())
}

impl ColumnValues {
    pub(super) fn value(&self, index: usize) -> ValueRef<'_> {
        let value = match self {
            Self::Integer(values) => values[index].map(ValueRef::Integer),
            Self::Text(values) => {
                values[index].as_ref().map(|text| ValueRef::Text(text.as_bytes()))
            }
            Self::Blob(values) => values[index].as_deref().map(ValueRef::Blob),
        };
        value.unwrap_or(ValueRef::Null)
    }

    /// The value of a row, as a parameter of a statement.
    fn at(&self, index: usize) -> impl ToSql + '_ {
        ToSqlOutput::Borrowed(self.value(index))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    };

    use rusqlite::{Connection, functions::FunctionFlags};

    use super::*;
    use crate::cluster::database::{Column, ColumnKind};

    fn pages() -> SharedTable {
        let column = |name: &str, kind| Column { name: name.to_owned(), kind };
        let columns = vec![
            column("pk", ColumnKind::Integer),
            column("id", ColumnKind::Text),
            column("title", ColumnKind::Text),
        ];
        SharedTable { name: "page".to_owned(), columns }
    }

    fn rows(rows: &[(i64, &str, Option<&str>)]) -> Rows {
        Rows {
            keys: rows.iter().map(|row| row.0).collect(),
            values: vec![
                ColumnValues::Text(rows.iter().map(|row| Some(row.1.to_owned())).collect()),
                ColumnValues::Text(rows.iter().map(|row| row.2.map(ToOwned::to_owned)).collect()),
            ],
        }
    }

    fn connection() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        let sql = "CREATE TABLE page (pk INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, title TEXT) STRICT;
                   INSERT INTO page VALUES (1, 'a', 'A'), (2, 'b', NULL), (3, 'c', 'C')";
        connection.execute_batch(sql).unwrap();
        connection
    }

    #[test]
    fn rows_replace_those_with_the_same_keys_and_unique_values() {
        let connection = connection();
        let reader = Reader::new(&connection);
        // Rows 1 and 2 swap their unique ids; 1 loses and 2 gets a title; 3 is unchanged; 4 is new.
        let new = [(1, "b", None), (2, "a", Some("B")), (3, "c", Some("C")), (4, "d", Some("D"))];
        write(&reader, &pages(), &rows(&new)).unwrap();
        let found: Vec<(i64, String, Option<String>)> = reader
            .query_rows("SELECT pk, id, title FROM page ORDER BY pk", [], |row| row.try_into())
            .unwrap();
        let found: Vec<_> =
            found.iter().map(|(pk, id, title)| (*pk, &**id, title.as_deref())).collect();
        assert_eq!(found, new);
    }

    #[test]
    fn indexes_without_changed_columns_are_not_written() {
        let connection = connection();
        let calls = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&calls);
        let flags = FunctionFlags::SQLITE_DETERMINISTIC;
        connection
            .create_scalar_function("counted", 1, flags, move |context| {
                counter.fetch_add(1, Ordering::Relaxed);
                context.get::<String>(0)
            })
            .unwrap();
        connection.execute_batch("CREATE INDEX page_id ON page (counted(id))").unwrap();
        calls.store(0, Ordering::Relaxed);
        let reader = Reader::new(&connection);
        write(&reader, &pages(), &rows(&[(1, "a", Some("new")), (2, "b", None)])).unwrap();
        assert_eq!(calls.load(Ordering::Relaxed), 0);
        write(&reader, &pages(), &rows(&[(1, "z", Some("new"))])).unwrap();
        assert_ne!(calls.load(Ordering::Relaxed), 0);
    }
}
