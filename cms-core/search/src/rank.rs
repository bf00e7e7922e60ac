//! The order of hits (see docs/reference/search.md#order), and the best hits.
//!
//! Within a segment, texts are compared by their ordinals, which are cheap to read. Ordinals of
//! different segments cannot be compared, so the best hits of each segment get their texts before they
//! are merged.

use std::cmp::Reverse;

use cms_model::{
    query::value::Number,
    search::{
        geo,
        query::{Circle, HitOrder, Point, PropertyOrder, Search, SortBy},
    },
};
use tantivy::{
    COLLECT_BLOCK_BUFFER_LEN, DocId, SegmentReader,
    columnar::{Column, StrColumn},
};

use super::{
    column::{ValueColumns, simplest},
    schema::name,
};

/// The sort key of a hit; the smallest is the first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct HitSortKey {
    rank: i64,
    key: PropertySortKey,
    created: i64,
    pk: u64,
}

/// The part of [`HitSortKey`] that comes from a property or a distance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PropertySortKey {
    /// Hits without a value, if the order puts these hits first.
    First,
    Ascending(Value),
    Descending(Reverse<Value>),
    Last,
}

/// Kinds of values in the order of lists (see docs/reference/filters.md#order).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Value {
    Number(Number),
    Boolean(bool),
    /// A text, by its ordinal in the dictionary of the segment.
    Ordinal(u64),
    /// A text in lower case.
    Text(String),
}

/// A document of a segment that may be among the hits of the page.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    sort_key: HitSortKey,
    pub(super) doc: DocId,
    pub(super) score: f32,
    /// Number of the segment.
    pub(super) segment: usize,
}

/// The best candidates of all segments so far.
pub(super) struct Best {
    limit: usize,
    candidates: Vec<Candidate>,
}

impl Best {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, candidates: Vec::new() }
    }

    /// Adds the candidates of one more segment.
    pub(super) fn merge(&mut self, best: SegmentBest<'_>) -> tantivy::Result<()> {
        let SegmentBest { order, mut candidates, .. } = best;
        keep_first(&mut candidates, self.limit);
        for mut candidate in candidates {
            candidate.sort_key.key = order.keys.resolve(candidate.sort_key.key)?;
            self.candidates.push(candidate);
        }
        keep_first(&mut self.candidates, self.limit);
        Ok(())
    }

    /// The maximum rank of the candidates; `i64::MAX` while there are fewer candidates than the limit.
    pub(super) fn worst_rank(&self) -> i64 {
        if self.candidates.len() < self.limit {
            return i64::MAX;
        }
        let ranks = self.candidates.iter().map(|candidate| candidate.sort_key.rank);
        ranks.max().unwrap_or(i64::MAX)
    }

    pub(super) fn into_sorted(mut self) -> Vec<Candidate> {
        self.candidates.sort_unstable_by(|a, b| a.sort_key.cmp(&b.sort_key));
        self.candidates
    }
}

/// Keeps the first `limit` candidates, in any order, and removes the others.
fn keep_first(candidates: &mut Vec<Candidate>, limit: usize) {
    if candidates.len() > limit {
        candidates.select_nth_unstable_by(limit, |a, b| a.sort_key.cmp(&b.sort_key));
        candidates.truncate(limit);
    }
}

/// The best candidates of one segment.
pub(super) struct SegmentBest<'a> {
    order: SegmentOrder<'a>,
    segment: usize,
    limit: usize,
    /// Up to twice the limit, so that removing the worse half takes constant time per candidate.
    candidates: Vec<Candidate>,
    /// Candidates that rank after this one are not needed.
    worst_rank: i64,
    /// The sort key of the last of the best candidates, once there are `limit` of them.
    worst: Option<HitSortKey>,
}

impl<'a> SegmentBest<'a> {
    pub(super) fn new(order: SegmentOrder<'a>, segment: usize, best: &Best) -> Self {
        Self {
            order,
            segment,
            limit: best.limit,
            candidates: Vec::new(),
            worst_rank: best.worst_rank(),
            worst: None,
        }
    }

    /// Adds a document with its final score, if it is among the best.
    pub(super) fn offer(&mut self, doc: DocId, score: f32) {
        self.offer_created(doc, score, self.order.created.values.get_val(doc));
    }

    /// As [`Self::offer`], for at most [`COLLECT_BLOCK_BUFFER_LEN`] documents.
    pub(super) fn offer_all(&mut self, docs: &[DocId], scores: &[f32]) {
        // If there are many matches, most blocks have only documents worse than the best so far: they are skipped.
        let min_score = self.min_competitive_score();
        if matches!(self.order.order, HitOrder::Score { .. })
            && scores.iter().fold(f32::MIN, |best, score| best.max(*score)) <= min_score
        {
            return;
        }
        let mut created = [0; COLLECT_BLOCK_BUFFER_LEN];
        let created = &mut created[..docs.len()];
        self.order.created.values.get_vals(docs, created);
        for ((doc, score), created) in docs.iter().zip(scores).zip(created) {
            self.offer_created(*doc, *score, *created);
        }
    }

    fn offer_created(&mut self, doc: DocId, score: f32, created: i64) {
        let Self { order, .. } = self;
        let rank = order.rank(doc, score);
        if rank > self.worst_rank {
            return;
        }
        let key = order.keys.key(doc);
        if let Some(worst) = &self.worst
            && (rank, &key, created) > (worst.rank, &worst.key, worst.created)
        {
            return;
        }
        let pk = order.pk.values.get_val(doc);
        let sort_key = HitSortKey { rank, key, created, pk };
        self.candidates.push(Candidate { sort_key, doc, score, segment: self.segment });
        if self.candidates.len() >= 2 * self.limit {
            keep_first(&mut self.candidates, self.limit);
            let sort_keys = self.candidates.iter().map(|candidate| &candidate.sort_key);
            if let Some(worst) = sort_keys.max() {
                self.worst_rank = worst.rank;
                self.worst = Some(worst.clone());
            }
        }
    }

    /// The score that a document must exceed to be added, when the order is by score.
    pub(super) fn min_competitive_score(&self) -> f32 {
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "rounds")]
        match self.worst_rank {
            i64::MAX => f32::MIN,
            rank => {
                // Higher scores have lower ranks. The lowest score with this rank is half a rounding step below the
                // rounded one. A margin covers the inaccuracy of floats.
                let rounded_score = -rank as f64 / SCORE_STEPS;
                ((rounded_score - 0.5 / SCORE_STEPS) * (1.0 - 1e-6)) as f32
            }
        }
    }
}

/// Scores are compared with 6 decimals.
const SCORE_STEPS: f64 = 1e6;

/// The sort values of the documents of one segment.
pub(super) struct SegmentOrder<'a> {
    order: &'a HitOrder,
    keys: PropertySortKeys,
    created: Column<i64>,
    pk: Column<u64>,
}

impl<'a> SegmentOrder<'a> {
    pub(super) fn open(reader: &SegmentReader, search: &'a Search) -> tantivy::Result<Self> {
        let keys = match &search.order {
            HitOrder::Score { then: Some(then) } => {
                PropertySortKeys::open(reader, then, &search.circles)?
            }
            HitOrder::Score { then: None } | HitOrder::ScoreAscending | HitOrder::Random(_) => {
                PropertySortKeys::none()
            }
        };
        Ok(Self {
            order: &search.order,
            keys,
            created: reader.fast_fields().i64(name::CREATED)?,
            pk: reader.fast_fields().u64(name::PK)?,
        })
    }

    fn rank(&self, doc: DocId, score: f32) -> i64 {
        #[expect(clippy::cast_possible_truncation, reason = "saturates")]
        // `round` is a function call on processors without SSE 4.1; scores are not negative.
        let rounded = (f64::from(score) * SCORE_STEPS + 0.5) as i64;
        match self.order {
            HitOrder::Score { .. } => -rounded,
            HitOrder::ScoreAscending => rounded,
            HitOrder::Random(seed) => seeded_hash(*seed, self.pk.values.get_val(doc)).cast_signed(),
        }
    }
}

/// A pseudo-random number derived from a seed and a primary key by the finalizer of `MurmurHash3`.
fn seeded_hash(seed: u64, pk: u64) -> u64 {
    let finalized = |mut bits: u64| {
        bits = (bits ^ bits >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
        bits = (bits ^ bits >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        bits ^ bits >> 33
    };
    finalized(finalized(seed).wrapping_add(pk))
}

/// The source of the sort keys of one segment.
struct PropertySortKeys {
    source: Source,
    /// The ordinal of the empty text, which counts as no value (see
    /// docs/reference/filters.md#order).
    empty: Option<u64>,
    descending: bool,
    missing_first: bool,
}

enum Source {
    /// No value to sort by.
    None,
    Values(ValueColumns),
    /// Values of every kind as texts.
    Texts(ValueColumns),
    Distances(Option<Column<i64>>, Point),
}

impl PropertySortKeys {
    fn none() -> Self {
        Self { source: Source::None, empty: None, descending: false, missing_first: false }
    }

    fn open(
        reader: &SegmentReader,
        then: &PropertyOrder,
        circles: &[Circle],
    ) -> tantivy::Result<Self> {
        let source = match (&then.by, circles.first()) {
            (SortBy::Path { path, as_text }, _) => {
                let columns = ValueColumns::folded(reader, path)?;
                if *as_text && (columns.numbers.is_some() || columns.booleans.is_some()) {
                    Source::Texts(columns)
                } else {
                    Source::Values(columns)
                }
            }
            (SortBy::Distance, Some(circle)) => {
                Source::Distances(points(reader, &circle.path)?, circle.center)
            }
            (SortBy::Distance, None) => Source::None,
        };
        let empty = match &source {
            Source::Values(ValueColumns { texts: Some(texts), .. })
            | Source::Texts(ValueColumns { texts: Some(texts), .. }) => {
                texts.dictionary().term_ord("")?
            }
            _ => None,
        };
        let PropertyOrder { descending, missing_first, .. } = *then;
        Ok(Self { source, empty, descending, missing_first })
    }

    fn key(&self, doc: DocId) -> PropertySortKey {
        match self.source.value(doc, self.empty) {
            Some(value) if self.descending => PropertySortKey::Descending(Reverse(value)),
            Some(value) => PropertySortKey::Ascending(value),
            None if self.missing_first => PropertySortKey::First,
            None => PropertySortKey::Last,
        }
    }

    /// Makes a key comparable with those of other segments.
    fn resolve(&self, key: PropertySortKey) -> tantivy::Result<PropertySortKey> {
        Ok(match key {
            PropertySortKey::Ascending(value) => {
                PropertySortKey::Ascending(self.source.resolve(value)?)
            }
            PropertySortKey::Descending(Reverse(value)) => {
                PropertySortKey::Descending(Reverse(self.source.resolve(value)?))
            }
            other @ (PropertySortKey::First | PropertySortKey::Last) => other,
        })
    }
}

impl Source {
    fn value(&self, doc: DocId, empty: Option<u64>) -> Option<Value> {
        let first_text =
            |texts: &StrColumn| texts.ords().first(doc).filter(|ordinal| Some(*ordinal) != empty);
        match self {
            Self::None => None,
            Self::Values(columns) => {
                let number = || columns.numbers.as_ref()?.first(doc).map(Value::Number);
                let boolean = || columns.booleans.as_ref()?.first(doc).map(Value::Boolean);
                let text = || first_text(columns.texts.as_ref()?).map(Value::Ordinal);
                number().or_else(boolean).or_else(text)
            }
            Self::Texts(columns) => {
                let number = || columns.numbers.as_ref()?.first(doc).map(number_text);
                let boolean = || columns.booleans.as_ref()?.first(doc).map(|it| it.to_string());
                let text = || {
                    let texts = columns.texts.as_ref()?;
                    key_of(texts, first_text(texts)?).ok()
                };
                number().or_else(boolean).or_else(text).map(Value::Text)
            }
            Self::Distances(points, center) => {
                let points = points.as_ref()?.values_for_doc(doc);
                let distances = points.map(|point| geo::distance(geo::unpack(point), *center));
                distances.min_by(f64::total_cmp).map(|meters| Value::Number(Number::Real(meters)))
            }
        }
    }

    fn resolve(&self, value: Value) -> tantivy::Result<Value> {
        match (value, self) {
            (Value::Ordinal(ordinal), Self::Values(ValueColumns { texts: Some(texts), .. })) => {
                Ok(Value::Text(key_of(texts, ordinal)?))
            }
            (value, _) => Ok(value),
        }
    }
}

/// The column of the points at a path.
pub(super) fn points(reader: &SegmentReader, path: &str) -> tantivy::Result<Option<Column<i64>>> {
    reader.fast_fields().column_opt(&format!("{}.{path}", name::GEO))
}

fn key_of(texts: &StrColumn, ordinal: u64) -> std::io::Result<String> {
    let mut key = String::new();
    texts.ord_to_str(ordinal, &mut key)?;
    Ok(key)
}

fn number_text(number: Number) -> String {
    match simplest(number) {
        Number::Integer(integer) => integer.to_string(),
        Number::Real(real) => {
            serde_json::Number::from_f64(real).map_or_else(String::new, |number| number.to_string())
        }
    }
}
