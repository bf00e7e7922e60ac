//! Compares a replica with the shared database.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use cms_model::error::Result;

use super::{
    apply,
    database::{ColumnValues, Rows, SharedSnapshot, SharedTable},
    rows, tables,
};
use crate::Reader;

/// A row that differs, or is missing on one side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub table: String,
    pub key: i64,
}

/// Compares all shared tables.
pub fn compare_all(
    reader: &Reader<'_>,
    snapshot: &mut dyn SharedSnapshot,
) -> Result<Vec<Difference>> {
    compare(reader, &tables::shared(reader)?, snapshot)
}

/// Returns the rows that differ, by table and key. A difference of `sqlite_sequence` has the key 0.
pub(super) fn compare(
    reader: &Reader<'_>,
    tables: &[SharedTable],
    snapshot: &mut dyn SharedSnapshot,
) -> Result<Vec<Difference>> {
    let mut differences = Vec::new();
    for table in tables {
        let mut shared = HashMap::new();
        snapshot.all_rows(table, &mut |rows| {
            shared.extend(hashes(&rows));
            Ok(())
        })?;
        let mut keys = Vec::new();
        rows::read_all(reader, table, |rows| {
            let differing = hashes(&rows).filter(|(key, hash)| shared.remove(key) != Some(*hash));
            keys.extend(differing.map(|(key, _)| key));
            Ok(())
        })?;
        keys.extend(shared.into_keys());
        keys.sort_unstable();
        differences
            .extend(keys.into_iter().map(|key| Difference { table: table.name.clone(), key }));
    }
    if apply::sequences(reader)? != snapshot.head().sequences {
        differences.push(Difference { table: "sqlite_sequence".to_owned(), key: 0 });
    }
    Ok(differences)
}

/// The keys of rows, each with a hash of its values.
fn hashes(rows: &Rows) -> impl Iterator<Item = (i64, u64)> + '_ {
    rows.keys.iter().enumerate().map(|(at, key)| {
        let mut hasher = DefaultHasher::new();
        for values in &rows.values {
            match values {
                ColumnValues::Integer(values) => values[at].hash(&mut hasher),
                ColumnValues::Text(values) => values[at].hash(&mut hasher),
                ColumnValues::Blob(values) => values[at].hash(&mut hasher),
            }
        }
        (*key, hasher.finish())
    })
}
