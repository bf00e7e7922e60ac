//! Reads and writes rows of mirrored tables on one connection.

use cms_model::error::Result;
use rusqlite::{
    CachedStatement, ToSql,
    types::{ToSqlOutput, ValueRef},
};

use super::{
    database::{ColumnValues, MirroredTable, Rows},
    tables::LINKS,
};
use crate::{Reader, error::map};

/// Maximum rows, and bytes of text, that are in memory at once.
pub(super) const CHUNK_ROWS: usize = 2000;
const CHUNK_BYTES: usize = 4 * 1024 * 1024;

/// Passes the rows with these keys on, in chunks: the keys of a chunk, and those of its rows that
/// exist.
pub(super) fn read(
    reader: &Reader<'_>,
    table: &MirroredTable,
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

/// Passes all rows of a table on, in chunks, in the order of their keys.
pub(super) fn read_all(
    reader: &Reader<'_>,
    table: &MirroredTable,
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

/// The statement that reads rows in the order of their columns.
fn select(table: &MirroredTable, condition: &str) -> String {
    if table.name == LINKS {
        // A group without rows is no row.
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

/// Writes rows over those with the same keys. A row of another key with the same unique values is
/// removed: then that one is among the changed rows, too.
pub(super) fn write(reader: &Reader<'_>, table: &MirroredTable, rows: &Rows) -> Result<()> {
    if table.name == LINKS {
        delete(reader, table, &rows.keys)?;
    }
    write_new(reader, table, rows)
}

/// Like [`write`], of a table without rows of these keys: links need no index then.
pub(super) fn write_new(reader: &Reader<'_>, table: &MirroredTable, rows: &Rows) -> Result<()> {
    if table.name == LINKS {
        return insert_links(reader, rows);
    }
    let parameters = vec!["?"; table.columns.len()].join(", ");
    let mut statement = reader.statement(&format!(
        "REPLACE INTO \"{}\" ({}) VALUES ({parameters})",
        table.name,
        table.column_list()
    ))?;
    for (position, key) in rows.keys.iter().enumerate() {
        statement.raw_bind_parameter(1, key).map_err(map)?;
        for (column, values) in (2..).zip(&rows.values) {
            statement.raw_bind_parameter(column, values.at(position)).map_err(map)?;
        }
        statement.raw_execute().map_err(map)?;
    }
    Ok(())
}

fn insert_links(reader: &Reader<'_>, rows: &Rows) -> Result<()> {
    let mut insert = reader.statement(
        "INSERT INTO link (target_type, target_id, object, source_ctd)
         SELECT value ->> 0, value ->> 1, ?1, value ->> 2 FROM json_each(?2)",
    )?;
    for (position, key) in rows.keys.iter().enumerate() {
        for links in &rows.values {
            insert.execute(rusqlite::params![key, links.at(position)]).map_err(map)?;
        }
    }
    Ok(())
}

/// Removes the rows with these keys.
pub(super) fn delete(reader: &Reader<'_>, table: &MirroredTable, keys: &[i64]) -> Result<()> {
    let sql = format!("DELETE FROM \"{}\" WHERE \"{}\" = ?1", table.name, table.key());
    let mut statement = reader.statement(&sql)?;
    for key in keys {
        statement.execute([key]).map_err(map)?;
    }
    Ok(())
}

impl ColumnValues {
    /// The value of a row, as a parameter of a statement.
    fn at(&self, position: usize) -> impl ToSql + '_ {
        let value = match self {
            Self::Integer(values) => values[position].map(ValueRef::Integer),
            Self::Text(values) => {
                values[position].as_ref().map(|text| ValueRef::Text(text.as_bytes()))
            }
            Self::Blob(values) => values[position].as_deref().map(ValueRef::Blob),
        };
        ToSqlOutput::Borrowed(value.unwrap_or(ValueRef::Null))
    }
}
