//! Tables and rows of the tests.

use crate::cluster::database::{Column, ColumnKind, ColumnValues, Rows, SharedTable};

/// A table with a column of each kind.
pub fn object_table() -> SharedTable {
    let column = |name: &str, kind| Column { name: name.to_owned(), kind };
    SharedTable {
        name: "object".to_owned(),
        columns: vec![
            column("pk", ColumnKind::Integer),
            column("id", ColumnKind::Text),
            column("order", ColumnKind::Integer),
            column("slots", ColumnKind::Blob),
        ],
    }
}

/// A table with a key only.
pub(super) fn mark_table() -> SharedTable {
    let columns = vec![Column { name: "pk".to_owned(), kind: ColumnKind::Integer }];
    SharedTable { name: "mark".to_owned(), columns }
}

/// Rows of [`object_table`] with these keys and texts.
pub fn objects(rows: &[(i64, &str)]) -> Rows {
    Rows {
        keys: rows.iter().map(|(key, _)| *key).collect(),
        values: vec![
            ColumnValues::Text(rows.iter().map(|(_, text)| Some((*text).to_owned())).collect()),
            ColumnValues::Integer(rows.iter().map(|(key, _)| Some(key * 2)).collect()),
            ColumnValues::Blob(rows.iter().map(|(_, text)| Some(text.as_bytes().into())).collect()),
        ],
    }
}

/// Rows of [`mark_table`].
pub(super) fn marks(keys: Vec<i64>) -> Rows {
    Rows { keys, values: Vec::new() }
}

/// Appends rows of the same table.
pub(super) fn append(all: &mut Rows, more: Rows) {
    all.keys.extend(more.keys);
    for (values, more) in all.values.iter_mut().zip(more.values) {
        match (values, more) {
            (ColumnValues::Integer(values), ColumnValues::Integer(more)) => values.extend(more),
            (ColumnValues::Text(values), ColumnValues::Text(more)) => values.extend(more),
            (ColumnValues::Blob(values), ColumnValues::Blob(more)) => values.extend(more),
            (values, more) => panic!("{values:?} and {more:?} are of different kinds"),
        }
    }
}

/// Orders rows by their keys.
pub(super) fn sorted(rows: &Rows) -> Rows {
    fn pick<T: Clone>(values: &[T], order: &[usize]) -> Vec<T> {
        order.iter().map(|index| values[*index].clone()).collect()
    }
    let mut order: Vec<usize> = (0..rows.keys.len()).collect();
    order.sort_by_key(|index| rows.keys[*index]);
    let values = rows.values.iter().map(|values| match values {
        ColumnValues::Integer(values) => ColumnValues::Integer(pick(values, &order)),
        ColumnValues::Text(values) => ColumnValues::Text(pick(values, &order)),
        ColumnValues::Blob(values) => ColumnValues::Blob(pick(values, &order)),
    });
    Rows { keys: pick(&rows.keys, &order), values: values.collect() }
}
