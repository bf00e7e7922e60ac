//! Range queries on columns.

use std::{
    cmp::Ordering,
    ops::{Bound, RangeInclusive},
};

use cms_model::query::value::Number;
use tantivy::{
    BitSet, DocId, DocSet, Score, SegmentReader, TantivyError,
    columnar::{Column, StrColumn, TermOrdHit},
    query::{BitSetDocSet, ConstScorer, EnableScoring, Explanation, Query, Scorer, Weight},
};

use super::column::{NumberColumn, ValueColumns};

/// Matches objects with a value in a range.
#[derive(Clone, Debug)]
pub(super) struct RangeQuery {
    pub(super) path: String,
    /// None when a bound is not a number.
    pub(super) numbers: Option<(Bound<Number>, Bound<Number>)>,
    /// In lower case; none when only numbers match.
    pub(super) texts: Option<(Bound<String>, Bound<String>)>,
}

impl Query for RangeQuery {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for RangeQuery {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let columns = ValueColumns::folded(reader, &self.path)?;
        let mut found = BitSet::with_max_value(reader.max_doc());
        if let (Some(numbers), Some((from, to))) = (&columns.numbers, self.numbers) {
            match numbers {
                NumberColumn::Integers(column) => insert(column, integers(from, to), &mut found),
                NumberColumn::Reals(column) => insert(column, reals(from, to), &mut found),
            }
        }
        if let (Some(texts), Some(range)) = (&columns.texts, &self.texts) {
            insert(texts.ords(), ordinals(texts, range)?, &mut found);
        }
        Ok(Box::new(ConstScorer::new(BitSetDocSet::from(found), boost)))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        let mut scorer = self.scorer(reader, 1.0)?;
        if scorer.doc() > doc || scorer.seek(doc) != doc {
            return Err(TantivyError::InvalidArgument(format!("document {doc} does not match")));
        }
        Ok(Explanation::new("range", 1.0))
    }
}

/// The ordinals of the texts within bounds.
fn ordinals(
    texts: &StrColumn,
    (from, to): &(Bound<String>, Bound<String>),
) -> tantivy::Result<Option<RangeInclusive<u64>>> {
    let position = |text: &str, is_passed: bool| {
        texts.dictionary().term_ord_or_next(text).map(|hit| match hit {
            TermOrdHit::Exact(ordinal) => ordinal + u64::from(is_passed),
            TermOrdHit::Next(ordinal) => ordinal,
        })
    };
    let from = match from {
        Bound::Included(text) => position(text, false)?,
        Bound::Excluded(text) => position(text, true)?,
        Bound::Unbounded => 0,
    };
    let end = match to {
        Bound::Included(text) => position(text, true)?,
        Bound::Excluded(text) => position(text, false)?,
        Bound::Unbounded => u64::MAX,
    };
    Ok((from < end).then(|| from..=end - 1))
}

/// Adds the documents with a value in a range to a set.
fn insert<T>(column: &Column<T>, range: Option<RangeInclusive<T>>, found: &mut BitSet)
where
    T: PartialOrd + Copy + std::fmt::Debug + Send + Sync + 'static,
{
    // The engine treats values below the minimum of a column as the minimum.
    let Some(range) =
        range.filter(|it| *it.start() <= column.max_value() && *it.end() >= column.min_value())
    else {
        return;
    };
    let mut docs = Vec::new();
    column.get_docids_for_value_range(range, 0..column.num_docs(), &mut docs);
    for doc in docs {
        found.insert(doc);
    }
}

/// The integers within bounds.
fn integers(from: Bound<Number>, to: Bound<Number>) -> Option<RangeInclusive<i64>> {
    #[expect(clippy::cast_possible_truncation, reason = "saturates, and is corrected by one step")]
    let near = |number| match number {
        Number::Integer(integer) => integer,
        Number::Real(real) => real as i64,
    };
    let up = |integer: i64| integer.checked_add(1);
    let down = |integer: i64| integer.checked_sub(1);
    let from = first_within(from, Ordering::Greater, i64::MIN, near, up, Number::Integer)?;
    let to = first_within(to, Ordering::Less, i64::MAX, near, down, Number::Integer)?;
    (from <= to).then_some(from..=to)
}

/// The floats within bounds.
fn reals(from: Bound<Number>, to: Bound<Number>) -> Option<RangeInclusive<f64>> {
    #[expect(clippy::cast_precision_loss, reason = "corrected by one step")]
    let near = |number| match number {
        Number::Integer(integer) => integer as f64,
        Number::Real(real) => real,
    };
    let up = |real: f64| (real < f64::INFINITY).then(|| real.next_up());
    let down = |real: f64| (real > f64::NEG_INFINITY).then(|| real.next_down());
    let real = Number::Real;
    let from = first_within(from, Ordering::Greater, f64::NEG_INFINITY, near, up, real)?;
    let to = first_within(to, Ordering::Less, f64::INFINITY, near, down, real)?;
    // Columns distinguish zeros by their sign.
    let from = if from == 0.0 { -0.0 } else { from };
    let to = if to == 0.0 { 0.0 } else { to };
    (from <= to).then_some(from..=to)
}

/// The first value inside a bound, found by steps from the nearest value.
fn first_within<T: Copy>(
    bound: Bound<Number>,
    inner_side: Ordering,
    unbounded: T,
    near: impl Fn(Number) -> T,
    step: impl Fn(T) -> Option<T>,
    number: impl Fn(T) -> Number,
) -> Option<T> {
    let (limit, is_included) = match bound {
        Bound::Included(limit) => (limit, true),
        Bound::Excluded(limit) => (limit, false),
        Bound::Unbounded => return Some(unbounded),
    };
    let mut value = near(limit);
    loop {
        let side = number(value).cmp(&limit);
        if side == inner_side || (is_included && side.is_eq()) {
            return Some(value);
        }
        value = step(value)?;
    }
}
