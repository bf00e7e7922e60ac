//! Aggregations (see docs/reference/search.md#facets): the number of hits per value.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, HashMap},
    hash::Hash,
};

use cms_model::{
    query::value::Number,
    search::query::Facet,
    wire::search::{Aggregation, AggregationBucket},
};
use serde_json::Value;
use tantivy::{
    DocId, SegmentReader,
    columnar::{Column, StrColumn},
};

use super::column::{NumberColumn, ValueColumns, simplest};

/// Maximum buckets of one aggregation.
const MAX_BUCKETS: usize = 1000;

/// The counts of all segments. Duplicate aggregations are counted once.
pub(super) struct Facets<'a> {
    asked: &'a [Facet],
    counted: Vec<(&'a Facet, Counts)>,
}

#[derive(Default)]
struct Counts {
    texts: HashMap<String, u64>,
    numbers: BTreeMap<Number, u64>,
}

impl<'a> Facets<'a> {
    pub(super) fn new(asked: &'a [Facet]) -> Self {
        let mut counted: Vec<(&Facet, Counts)> = Vec::new();
        for facet in asked {
            if !counted.iter().any(|(other, _)| is_same(facet, other)) {
                counted.push((facet, Counts::default()));
            }
        }
        Self { asked, counted }
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
        let of = |facet: &Facet| {
            let (_, aggregation) = counted.iter().find(|(other, _)| is_same(facet, other))?;
            Some(Aggregation { field: facet.field.clone(), ..aggregation.clone() })
        };
        self.asked.iter().filter_map(of).collect()
    }
}

fn is_same(a: &Facet, b: &Facet) -> bool {
    (&a.path, a.numeric) == (&b.path, b.numeric)
}

impl Counts {
    fn into_aggregation(self, facet: &Facet) -> Aggregation {
        if facet.numeric {
            aggregation(facet, self.numbers, Ord::cmp, number_value)
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
    Texts(StrColumn, Vec<u32>, Vec<u64>),
    Integers(Column<i64>, HashMap<i64, u64>, Vec<i64>),
    /// Floats by their bits.
    Reals(Column<f64>, HashMap<u64, u64>, Vec<u64>),
}

impl SegmentFacets {
    /// Counts the values of one document.
    pub(super) fn count(&mut self, doc: DocId) {
        for counter in &mut self.0 {
            counter.count(doc);
        }
    }
}

impl Counter {
    fn open(reader: &SegmentReader, facet: &Facet) -> tantivy::Result<Self> {
        let columns = ValueColumns::original(reader, &facet.path)?;
        Ok(match columns {
            ValueColumns { numbers: Some(NumberColumn::Integers(column)), .. } if facet.numeric => {
                Self::Integers(column, HashMap::new(), Vec::new())
            }
            ValueColumns { numbers: Some(NumberColumn::Reals(column)), .. } if facet.numeric => {
                Self::Reals(column, HashMap::new(), Vec::new())
            }
            ValueColumns { texts: Some(column), .. } if !facet.numeric => {
                let counts = vec![0; column.num_terms()];
                Self::Texts(column, counts, Vec::new())
            }
            _ => Self::Nothing,
        })
    }

    fn count(&mut self, doc: DocId) {
        match self {
            Self::Nothing => {}
            Self::Texts(column, counts, room) => {
                each_once(column.ords().values_for_doc(doc), room, |ordinal| {
                    if let Some(count) =
                        usize::try_from(ordinal).ok().and_then(|i| counts.get_mut(i))
                    {
                        *count += 1;
                    }
                });
            }
            Self::Integers(column, counts, room) => {
                each_once(column.values_for_doc(doc), room, |value| add(counts, value));
            }
            Self::Reals(column, counts, room) => {
                let bits = column.values_for_doc(doc).map(|value| (value + 0.0).to_bits());
                each_once(bits, room, |value| add(counts, value));
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
                for (value, count) in found {
                    *counts.numbers.entry(Number::Integer(value)).or_default() += count;
                }
            }
            Self::Reals(_, found, _) => {
                for (bits, count) in found {
                    let value = Number::Real(f64::from_bits(bits));
                    *counts.numbers.entry(value).or_default() += count;
                }
            }
        }
        Ok(())
    }
}

fn add<K: Eq + Hash>(counts: &mut HashMap<K, u64>, value: K) {
    *counts.entry(value).or_default() += 1;
}

/// Calls a function with every distinct value; `room` is a buffer for sorting them.
fn each_once<T: Copy + Ord>(
    mut values: impl Iterator<Item = T>,
    room: &mut Vec<T>,
    mut call: impl FnMut(T),
) {
    let (Some(first), second) = (values.next(), values.next()) else { return };
    let Some(second) = second else { return call(first) };
    room.clear();
    room.extend([first, second]);
    room.extend(values);
    room.sort_unstable();
    room.dedup();
    room.iter().copied().for_each(call);
}
