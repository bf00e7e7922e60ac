//! Aggregations (see docs/reference/search.md#facets): the number of hits per value.

use std::{cmp::Ordering, collections::HashMap};

use cms_model::{
    query::value::Number,
    search::query::Facet,
    wire::search::{Aggregation, AggregationBucket},
};
use serde_json::Value;
use tantivy::{
    DocId, SegmentReader,
    columnar::{Cardinality, Column, RowId, StrColumn},
};

use super::column::{NumberColumn, ValueColumns, simplest};

/// Maximum number of buckets of one aggregation.
const MAX_BUCKETS: usize = 1000;

/// The counts of all segments. Duplicate aggregations are counted once.
pub(super) struct Facets<'a> {
    requested: &'a [Facet],
    counted: Vec<(&'a Facet, Counts)>,
}

#[derive(Default)]
struct Counts {
    texts: HashMap<String, u64>,
    numbers: SortedCounts<Number>,
}

impl<'a> Facets<'a> {
    pub(super) fn new(requested: &'a [Facet]) -> Self {
        let mut counted: Vec<(&Facet, Counts)> = Vec::new();
        for facet in requested {
            if !counted.iter().any(|(other, _)| is_same(facet, other)) {
                counted.push((facet, Counts::default()));
            }
        }
        Self { requested, counted }
    }

    /// Opens the columns of one segment.
    pub(super) fn open(&self, reader: &SegmentReader) -> tantivy::Result<SegmentFacets> {
        let counters = self.counted.iter().map(|(facet, _)| Counter::open(reader, facet));
        Ok(SegmentFacets(counters.collect::<tantivy::Result<_>>()?))
    }

    /// Adds the counts of one segment.
    pub(super) fn merge(&mut self, segment: SegmentFacets) -> tantivy::Result<()> {
        for ((_, counts), counter) in self.counted.iter_mut().zip(segment.0) {
            counter.add_to(counts)?;
        }
        Ok(())
    }

    pub(super) fn into_aggregations(self) -> Vec<Aggregation> {
        let counted: Vec<(&Facet, Aggregation)> = self
            .counted
            .into_iter()
            .map(|(facet, counts)| (facet, counts.into_aggregation(facet)))
            .collect();
        let aggregation_of = |facet: &Facet| {
            let (_, aggregation) = counted.iter().find(|(other, _)| is_same(facet, other))?;
            Some(Aggregation { field: facet.field.clone(), ..aggregation.clone() })
        };
        self.requested.iter().filter_map(aggregation_of).collect()
    }
}

fn is_same(a: &Facet, b: &Facet) -> bool {
    (&a.path, a.numeric) == (&b.path, b.numeric)
}

impl Counts {
    fn into_aggregation(self, facet: &Facet) -> Aggregation {
        if facet.numeric {
            aggregation(facet, self.numbers.into_sorted(), Ord::cmp, number_value)
        } else {
            aggregation(facet, self.texts, Ord::cmp, Value::from)
        }
    }
}

fn aggregation<K>(
    facet: &Facet,
    counts: impl IntoIterator<Item = (K, u64)>,
    compare: impl Fn(&K, &K) -> Ordering,
    value: impl Fn(K) -> Value,
) -> Aggregation {
    let mut buckets: Vec<(K, u64)> = counts.into_iter().collect();
    let order = |a: &(K, u64), b: &(K, u64)| b.1.cmp(&a.1).then_with(|| compare(&a.0, &b.0));
    let mut others = 0;
    if buckets.len() > MAX_BUCKETS {
        buckets.select_nth_unstable_by(MAX_BUCKETS, order);
        others = buckets.drain(MAX_BUCKETS..).map(|(_, count)| count).sum();
    }
    buckets.sort_unstable_by(order);
    let buckets = buckets.into_iter();
    Aggregation {
        field: facet.field.clone(),
        doc_count_error_upper_bound: 0,
        sum_other_doc_count: others,
        buckets: buckets
            .map(|(key, doc_count)| AggregationBucket { key: value(key), doc_count })
            .collect(),
    }
}

fn number_value(number: Number) -> Value {
    match simplest(number) {
        Number::Integer(integer) => integer.into(),
        Number::Real(real) => real.into(),
    }
}

/// The counts of one segment.
pub(super) struct SegmentFacets(Vec<Counter>);

enum Counter {
    /// No document of the segment has such a value.
    Nothing,
    /// Counts by ordinal.
    Texts(StrColumn, Vec<u32>, ValueReader<u64>),
    Integers(Column<i64>, SortedCounts<i64>, ValueReader<i64>),
    Reals(Column<f64>, SortedCounts<Number>, ValueReader<f64>),
}

impl SegmentFacets {
    /// Counts the values of documents.
    pub(super) fn count(&mut self, docs: &[DocId]) {
        for counter in &mut self.0 {
            counter.count(docs);
        }
    }
}

impl Counter {
    fn open(reader: &SegmentReader, facet: &Facet) -> tantivy::Result<Self> {
        let columns = ValueColumns::original(reader, &facet.path)?;
        Ok(match columns {
            ValueColumns { numbers: Some(NumberColumn::Integers(column)), .. } if facet.numeric => {
                Self::Integers(column, SortedCounts::default(), ValueReader::default())
            }
            ValueColumns { numbers: Some(NumberColumn::Reals(column)), .. } if facet.numeric => {
                Self::Reals(column, SortedCounts::default(), ValueReader::default())
            }
            ValueColumns { texts: Some(column), .. } if !facet.numeric => {
                let counts = vec![0; column.num_terms()];
                Self::Texts(column, counts, ValueReader::default())
            }
            _ => Self::Nothing,
        })
    }

    fn count(&mut self, docs: &[DocId]) {
        match self {
            Self::Nothing => {}
            Self::Texts(column, counts, reader) => {
                reader.each_once(column.ords(), docs, |ordinal| {
                    let count = usize::try_from(ordinal).ok().and_then(|i| counts.get_mut(i));
                    if let Some(count) = count {
                        *count += 1;
                    }
                });
            }
            Self::Integers(column, counts, reader) => {
                reader.each_once(column, docs, |value| counts.add(value, 1));
            }
            Self::Reals(column, counts, reader) => {
                reader.each_once(column, docs, |value| counts.add(Number::Real(value), 1));
            }
        }
    }

    fn add_to(self, counts: &mut Counts) -> tantivy::Result<()> {
        match self {
            Self::Nothing => {}
            Self::Texts(column, by_ordinal, _) => {
                let counted = (0..).zip(by_ordinal).filter(|(_, count)| *count > 0);
                let (ordinals, mut found): (Vec<u64>, Vec<u32>) = counted.unzip();
                found.reverse();
                column.dictionary().sorted_ords_to_term_cb(&ordinals, |key| {
                    let count = u64::from(found.pop().unwrap_or_default());
                    *counts.texts.entry(String::from_utf8_lossy(key).into_owned()).or_default() +=
                        count;
                })?;
            }
            Self::Integers(_, found, _) => {
                for (value, count) in found.into_sorted() {
                    counts.numbers.add(Number::Integer(value), count);
                }
            }
            Self::Reals(_, found, _) => {
                for (value, count) in found.into_sorted() {
                    counts.numbers.add(value, count);
                }
            }
        }
        Ok(())
    }
}

/// Counts of values. Equal values are added up whenever the list has doubled: faster than a hash table
/// when most values are different.
struct SortedCounts<T> {
    counts: Vec<(T, u64)>,
    /// Number of different values when equal ones were last added up.
    distinct: usize,
}

impl<T> Default for SortedCounts<T> {
    fn default() -> Self {
        Self { counts: Vec::new(), distinct: 0 }
    }
}

impl<T: Copy + Ord> SortedCounts<T> {
    /// Minimum length at which equal values are added up.
    const MIN_LENGTH: usize = 4096;

    fn add(&mut self, value: T, count: u64) {
        if self.counts.len() >= Self::MIN_LENGTH.max(2 * self.distinct) {
            self.add_up();
        }
        self.counts.push((value, count));
    }

    fn add_up(&mut self) {
        // The stable sort only merges the parts that are already sorted.
        self.counts.sort_by_key(|(value, _)| *value);
        self.counts.dedup_by(|next, first| {
            let is_equal = next.0 == first.0;
            if is_equal {
                first.1 += next.1;
            }
            is_equal
        });
        self.distinct = self.counts.len();
    }

    fn into_sorted(mut self) -> Vec<(T, u64)> {
        self.add_up();
        self.counts
    }
}

/// Buffers for the values of many documents.
#[derive(Default)]
struct ValueReader<T> {
    docs: Vec<DocId>,
    rows: Vec<RowId>,
    values: Vec<T>,
}

impl<T: Copy + Default + PartialOrd> ValueReader<T> {
    /// Calls a function with every distinct value of each document.
    fn each_once(&mut self, column: &Column<T>, docs: &[DocId], mut call: impl FnMut(T))
    where
        T: std::fmt::Debug + Send + Sync + 'static,
    {
        self.docs.clear();
        self.rows.clear();
        column.row_ids_for_docs(docs, &mut self.docs, &mut self.rows);
        self.values.resize(self.rows.len(), T::default());
        column.values.get_vals(&self.rows, &mut self.values);
        if column.get_cardinality() != Cardinality::Multivalued {
            return self.values.iter().copied().for_each(call);
        }
        let mut values = self.values.as_mut_slice();
        for docs in self.docs.chunk_by(PartialEq::eq) {
            let (of_document, rest) = values.split_at_mut(docs.len());
            values = rest;
            of_document.sort_unstable_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
            of_document
                .chunk_by(PartialEq::eq)
                .filter_map(|equal| equal.first())
                .for_each(|value| call(*value));
        }
    }
}
