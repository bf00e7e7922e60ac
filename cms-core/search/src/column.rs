//! The columns of one property in one segment.
//!
//! A path may hold values of several kinds. The engine keeps one column per kind, and one numeric
//! kind per segment: integers beside floats become floats there.

use cms_model::query::value::{Number, TWO_TO_63};
use tantivy::{
    DocId, SegmentReader,
    columnar::{Column, DynamicColumn, StrColumn},
};

use super::schema::name;

/// The values of the documents of a segment at a path.
#[derive(Default)]
pub(super) struct ValueColumns {
    pub(super) numbers: Option<NumberColumn>,
    pub(super) booleans: Option<Column<bool>>,
    pub(super) texts: Option<StrColumn>,
}

/// A column of numbers.
pub(super) enum NumberColumn {
    Integers(Column<i64>),
    Reals(Column<f64>),
}

impl ValueColumns {
    /// Opens the columns of a path, with original texts.
    pub(super) fn original(reader: &SegmentReader, path: &str) -> tantivy::Result<Self> {
        let mut columns = Self::default();
        let path = format!("{}.{path}", name::EXACT);
        for handle in reader.fast_fields().dynamic_column_handles(&path)? {
            match handle.open()? {
                DynamicColumn::I64(column) => {
                    columns.numbers = Some(NumberColumn::Integers(column));
                }
                DynamicColumn::F64(column) => columns.numbers = Some(NumberColumn::Reals(column)),
                DynamicColumn::Bool(column) => columns.booleans = Some(column),
                DynamicColumn::Str(column) => columns.texts = Some(column),
                // No document has such values.
                DynamicColumn::U64(_)
                | DynamicColumn::IpAddr(_)
                | DynamicColumn::DateTime(_)
                | DynamicColumn::Bytes(_) => {}
            }
        }
        Ok(columns)
    }

    /// Opens the columns of a path, with texts in lower case.
    pub(super) fn folded(reader: &SegmentReader, path: &str) -> tantivy::Result<Self> {
        let texts = reader.fast_fields().str(&format!("{}.{path}", name::FOLDED))?;
        Ok(Self { texts, ..Self::original(reader, path)? })
    }
}

impl NumberColumn {
    pub(super) fn first(&self, doc: DocId) -> Option<Number> {
        match self {
            Self::Integers(column) => column.first(doc).map(Number::Integer),
            Self::Reals(column) => column.first(doc).map(Number::Real),
        }
    }
}

/// The same number, as an integer if it is one.
pub(super) fn simplest(number: Number) -> Number {
    match number {
        #[expect(clippy::cast_possible_truncation, reason = "an integer within the range")]
        Number::Real(real) if real.fract() == 0.0 && (-TWO_TO_63..TWO_TO_63).contains(&real) => {
            Number::Integer(real as i64)
        }
        other => other,
    }
}
