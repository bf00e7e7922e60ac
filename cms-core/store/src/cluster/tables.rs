//! The tables that all nodes share, read from the schema of the replica.

use cms_model::error::{Error, Result};

use super::database::{Column, ColumnKind, SharedTable};
use crate::Reader;

/// Tables that belong to one data directory.
const LOCAL: [&str; 5] = [
    // Which derived data and which commit of the cluster this directory has.
    "local",
    // When this node first saw each orphaned file. If the duty moves to another node, the file is only
    // kept longer.
    "orphan",
    // Folders on the disk of one node.
    "unfinished_import",
    // Tables of the migration tool and of SQLite.
    "refinery_schema_history",
    "sqlite_sequence",
];

/// The links of objects. The primary key of `link` is a covering index for filters, so the table gets
/// no integer key. A commit sends all links of an object as one row.
pub(super) const LINKS: &str = "link";

/// Returns the shared tables by name.
pub(super) fn shared(reader: &Reader<'_>) -> Result<Vec<SharedTable>> {
    let names: Vec<String> = reader.query_values(
        "SELECT name FROM sqlite_schema
         WHERE type = 'table' AND name NOT LIKE 'sqlite\\_stat%' ESCAPE '\\' ORDER BY name",
        [],
    )?;
    names
        .into_iter()
        .filter(|name| !LOCAL.contains(&&**name))
        .map(|name| table(reader, name))
        .collect()
}

fn table(reader: &Reader<'_>, name: String) -> Result<SharedTable> {
    if name == LINKS {
        let column = |name: &str, kind| Column { name: name.to_owned(), kind };
        let columns =
            vec![column("object", ColumnKind::Integer), column("links", ColumnKind::Text)];
        return Ok(SharedTable { name, columns });
    }
    // Generated columns are hidden.
    let columns: Vec<(String, String, i64)> = reader.query_rows(
        "SELECT name, type, pk FROM pragma_table_xinfo(?1) WHERE hidden = 0 ORDER BY pk DESC, cid",
        [&name],
        |row| row.try_into(),
    )?;
    let has_integer_key = matches!(
        &*columns,
        [(_, kind, 1), rest @ ..] if kind == "INTEGER" && rest.iter().all(|(.., key)| *key == 0)
    );
    if !has_integer_key {
        return Err(Error::internal(format!("table {name} has no integer key, and is not local")));
    }
    let columns = columns.into_iter().map(|(name, kind, _)| {
        let kind = match &*kind {
            "INTEGER" => ColumnKind::Integer,
            "TEXT" => ColumnKind::Text,
            "BLOB" => ColumnKind::Blob,
            other => return Err(Error::internal(format!("column {name} has the type {other}"))),
        };
        Ok(Column { name, kind })
    });
    Ok(SharedTable { columns: columns.collect::<Result<_>>()?, name })
}

impl SharedTable {
    /// The names of all columns, quoted.
    pub(super) fn column_list(&self) -> String {
        let names = self.columns.iter().map(|column| format!("\"{}\"", column.name));
        names.collect::<Vec<_>>().join(", ")
    }

    /// The name of the key.
    pub(super) fn key(&self) -> &str {
        &self.columns[0].name
    }
}
