//! Converts values and names to the form that PostgreSQL expects.

use std::{error::Error as StdError, fmt, iter::Peekable, vec::IntoIter};

use bytes::BytesMut;
use cms_store::cluster::database::{Column, ColumnKind, ColumnValues, Rows, SharedTable};
use tokio_postgres::{
    Row,
    types::{Format, IsNull, ToSql, Type, to_sql_checked},
};

use crate::escape::{escape, unescape};

/// Maximum number of rows in one statement.
pub(crate) const CHUNK_ROWS: usize = 2_000;
/// Bytes of values in one statement, unless a single row has more.
pub(crate) const CHUNK_BYTES: usize = 4 * 1024 * 1024;

/// A parameter of a statement.
pub(crate) type Parameter = Box<dyn ToSql + Sync + Send>;

/// Boxes a parameter.
pub(crate) fn parameter(value: impl ToSql + Sync + Send + 'static) -> Parameter {
    Box::new(Hidden(value))
}

/// A value that `Debug` does not show: the library writes parameters to the log at level debug.
struct Hidden<T>(T);

impl<T> fmt::Debug for Hidden<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

impl<T: ToSql> ToSql for Hidden<T> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        self.0.to_sql(kind, out)
    }

    fn accepts(kind: &Type) -> bool {
        T::accepts(kind)
    }

    fn encode_format(&self, kind: &Type) -> Format {
        self.0.encode_format(kind)
    }

    to_sql_checked!();
}

/// Quotes an identifier.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The quoted name of a table, with its schema.
pub(crate) fn table_name(table: &SharedTable) -> String {
    format!("\"cms\".{}", quoted(&table.name))
}

/// The quoted names of all columns, separated by commas.
pub(crate) fn column_names(table: &SharedTable) -> String {
    let names: Vec<_> = table.columns.iter().map(|column| quoted(&column.name)).collect();
    names.join(", ")
}

/// The quoted name of the key.
pub(crate) fn key_name(table: &SharedTable) -> String {
    table.columns.first().map(|column| quoted(&column.name)).unwrap_or_default()
}

pub(crate) fn type_name(column: &Column) -> &'static str {
    match column.kind {
        ColumnKind::Integer => "bigint",
        ColumnKind::Text => "text",
        ColumnKind::Blob => "bytea",
    }
}

pub(crate) fn value_type(column: &Column) -> Type {
    match column.kind {
        ColumnKind::Integer => Type::INT8,
        ColumnKind::Text => Type::TEXT,
        ColumnKind::Blob => Type::BYTEA,
    }
}

/// Appends a row that has the columns of the table.
pub(crate) fn append(row: &Row, rows: &mut Rows) -> Result<(), tokio_postgres::Error> {
    rows.keys.push(row.try_get(0)?);
    for (index, values) in rows.values.iter_mut().enumerate() {
        match values {
            ColumnValues::Integer(values) => values.push(row.try_get(index + 1)?),
            ColumnValues::Text(values) => {
                values.push(row.try_get::<_, Option<&str>>(index + 1)?.map(unescape));
            }
            ColumnValues::Blob(values) => values.push(row.try_get(index + 1)?),
        }
    }
    Ok(())
}

/// Returns the parameters of an upsert: an array for each column.
pub(crate) fn arrays(rows: Rows) -> Vec<Parameter> {
    let others = rows.values.into_iter().map(|values| match values {
        ColumnValues::Integer(values) => parameter(values),
        ColumnValues::Text(values) => {
            let escaped = values.into_iter().map(|text| text.map(escape));
            parameter(escaped.collect::<Vec<_>>())
        }
        ColumnValues::Blob(values) => parameter(values),
    });
    std::iter::once(parameter(rows.keys)).chain(others).collect()
}

/// Splits rows into chunks for one statement each, with their sizes in bytes.
pub(crate) fn chunks(rows: Rows) -> Chunks {
    let mut bytes = vec![size_of::<i64>(); rows.keys.len()];
    for values in &rows.values {
        match values {
            ColumnValues::Integer(_) => bytes.iter_mut().for_each(|sum| *sum += 8),
            ColumnValues::Text(values) => add(&mut bytes, values, String::len),
            ColumnValues::Blob(values) => add(&mut bytes, values, Vec::len),
        }
    }
    Chunks { bytes: bytes.into_iter().peekable(), rows }
}

fn add<T>(bytes: &mut [usize], values: &[Option<T>], len: fn(&T) -> usize) {
    for (sum, value) in bytes.iter_mut().zip(values) {
        *sum += value.as_ref().map_or(0, len);
    }
}

pub(crate) struct Chunks {
    /// Sizes of the remaining rows.
    bytes: Peekable<IntoIter<usize>>,
    /// The remaining rows.
    rows: Rows,
}

impl Iterator for Chunks {
    type Item = (usize, Rows);

    fn next(&mut self) -> Option<Self::Item> {
        let mut count = 0;
        let mut total = 0;
        while let Some(bytes) = self
            .bytes
            .next_if(|bytes| count == 0 || (count < CHUNK_ROWS && total + bytes <= CHUNK_BYTES))
        {
            count += 1;
            total += bytes;
        }
        if count == 0 {
            return None;
        }
        let values = self.rows.values.iter_mut().map(|values| match values {
            ColumnValues::Integer(values) => ColumnValues::Integer(take(values, count)),
            ColumnValues::Text(values) => ColumnValues::Text(take(values, count)),
            ColumnValues::Blob(values) => ColumnValues::Blob(take(values, count)),
        });
        let values = values.collect();
        Some((total, Rows { keys: take(&mut self.rows.keys, count), values }))
    }
}

/// Removes the first values, and returns them.
fn take<T>(values: &mut Vec<T>, count: usize) -> Vec<T> {
    values.drain(..count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(sizes: &[usize]) -> Rows {
        Rows {
            keys: (0..).take(sizes.len()).collect(),
            values: vec![ColumnValues::Text(
                sizes.iter().map(|size| Some("x".repeat(*size))).collect(),
            )],
        }
    }

    #[test]
    fn chunks_are_limited_by_rows_and_bytes() {
        let lens = |rows| chunks(rows).map(|(_, rows)| rows.keys.len()).collect::<Vec<_>>();
        assert_eq!(lens(rows(&[])), [0; 0]);
        assert_eq!(lens(rows(&vec![1; 4_500])), [2_000, 2_000, 500]);
        assert_eq!(lens(rows(&[CHUNK_BYTES, 1, 1, CHUNK_BYTES * 2, 1])), [1, 2, 1, 1]);
        let all: Vec<_> = chunks(rows(&vec![3; 4_500])).flat_map(|(_, rows)| rows.keys).collect();
        assert_eq!(all, (0..4_500).collect::<Vec<_>>());
    }

    #[test]
    fn parameters_do_not_show() {
        assert_eq!(format!("{:?}", parameter("secret".to_owned())), "..");
    }
}
