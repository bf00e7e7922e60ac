//! The documents of one segment: which of the matches a request may see, and their final scores.

use tantivy::{
    COLLECT_BLOCK_BUFFER_LEN, DocId, SegmentReader, TERMINATED, columnar::Column,
    fastfield::AliveBitSet, query::Scorer,
};

use cms_model::search::{
    geo,
    query::{Circle, Search},
};

use super::{
    collect::SearchScope,
    rank,
    schema::{Flags, name},
};

/// Half-life of decaying scores, in seconds (see docs/reference/search.md#parameters).
const HALF_LIFE_SECONDS: f64 = 180.0 * 86_400.0;

/// [`SearchScope`], prepared for the check of each document.
pub(super) struct DocumentFilter {
    /// The bit of [`Flags`] that a document must have.
    edition: u64,
    /// Sorted.
    pub(super) ctds: Option<Vec<u64>>,
    /// Sorted.
    approved_only: Vec<u64>,
    boosts: Vec<(u64, f32)>,
    pub(super) highest_boost: f32,
    now: i64,
}

impl DocumentFilter {
    pub(super) fn new(scope: &SearchScope) -> Self {
        let sorted = |ctds: &[i64]| {
            let mut ctds: Vec<u64> = ctds.iter().map(|ctd| ctd.unsigned_abs()).collect();
            ctds.sort_unstable();
            ctds.dedup();
            ctds
        };
        let boosts = scope.boosts.iter().map(|(ctd, boost)| (ctd.unsigned_abs(), *boost));
        Self {
            edition: if scope.published { Flags::PUBLISHED } else { Flags::CURRENT },
            ctds: scope.ctds.as_deref().map(sorted),
            approved_only: sorted(&scope.approved_only),
            boosts: boosts.collect(),
            highest_boost: scope.boosts.iter().map(|(_, boost)| *boost).fold(1.0, f32::max),
            now: scope.now,
        }
    }

    #[inline]
    fn admits(&self, flags: u64) -> bool {
        let ctd = Flags::ctd(flags).unsigned_abs();
        flags & self.edition != 0
            && self.ctds.as_ref().is_none_or(|ctds| ctds.binary_search(&ctd).is_ok())
            && (flags & Flags::APPROVED != 0 || self.approved_only.binary_search(&ctd).is_err())
    }

    /// A quick check of a block: returns true only if all of these documents are of one type, as in most
    /// blocks, and all are admitted. After false, each document has to be checked.
    fn admits_all(&self, flags: &[u64]) -> bool {
        // All documents have the bits of `common`, and none has a bit outside of `any`.
        let (common, any) =
            flags.iter().fold((u64::MAX, 0), |(common, any), flags| (common & flags, any | flags));
        Flags::ctd(common) == Flags::ctd(any) && self.admits(common)
    }

    fn boost(&self, flags: u64) -> f32 {
        let ctd = Flags::ctd(flags).unsigned_abs();
        self.boosts.iter().find(|(boosted, _)| *boosted == ctd).map_or(1.0, |(_, boost)| *boost)
    }
}

/// The columns of one segment that filter documents.
pub(super) struct Segment<'a> {
    pub(super) reader: &'a SegmentReader,
    alive: Option<&'a AliveBitSet>,
    filter: &'a DocumentFilter,
    flags: Column<u64>,
    circles: Vec<(&'a Circle, Option<Column<i64>>)>,
    /// Creation dates, when scores decay.
    created: Option<Column<i64>>,
}

impl<'a> Segment<'a> {
    pub(super) fn open(
        reader: &'a SegmentReader,
        search: &'a Search,
        filter: &'a DocumentFilter,
    ) -> tantivy::Result<Self> {
        let columns = reader.fast_fields();
        let circles = search.circles.iter();
        let circles = circles.map(|circle| Ok((circle, rank::points(reader, &circle.path)?)));
        Ok(Self {
            reader,
            alive: reader.alive_bitset(),
            filter,
            flags: columns.u64(name::FLAGS)?,
            circles: circles.collect::<tantivy::Result<_>>()?,
            created: search.decay_old.then(|| columns.i64(name::CREATED)).transpose()?,
        })
    }

    /// Removes documents that are not visible or not in scope.
    pub(super) fn retain_visible(&self, block: &mut Block) {
        let Block { docs, flags, length, .. } = block;
        let flags = &mut flags[..*length];
        self.flags.values.get_vals(&docs[..*length], flags);
        if self.alive.is_none() && self.circles.is_empty() && self.filter.admits_all(flags) {
            return;
        }
        block.retain(|doc, flags| self.is_visible(doc, flags));
    }

    /// The flags of a document that is visible and in scope.
    pub(super) fn visible_flags(&self, doc: DocId) -> Option<u64> {
        Some(self.flags.values.get_val(doc)).filter(|flags| self.is_visible(doc, *flags))
    }

    /// Replaces the scores of the query by final scores.
    pub(super) fn finish_scores(&self, block: &mut Block) {
        if !block.has_scores && self.filter.boosts.is_empty() && self.created.is_none() {
            return;
        }
        for at in 0..block.length {
            block.scores[at] = self.final_score(block.docs[at], block.flags[at], block.scores[at]);
        }
    }

    #[inline]
    fn is_visible(&self, doc: DocId, flags: u64) -> bool {
        self.filter.admits(flags)
            && self.alive.is_none_or(|alive| alive.is_alive(doc))
            && self.circles.iter().all(|(circle, points)| {
                points.as_ref().is_some_and(|points| {
                    points.values_for_doc(doc).any(|point| is_within(point, circle))
                })
            })
    }

    pub(super) fn final_score(&self, doc: DocId, flags: u64, score: f32) -> f32 {
        let score =
            if self.filter.boosts.is_empty() { score } else { score * self.filter.boost(flags) };
        let score = match &self.created {
            Some(created) => score * decay(self.filter.now - created.values.get_val(doc)),
            None => score,
        };
        // The product of weights is unbounded.
        score.min(f32::MAX)
    }
}

/// Matches that are processed together, because a column is read faster for many documents than
/// for one.
pub(super) struct Block {
    docs: [DocId; COLLECT_BLOCK_BUFFER_LEN],
    flags: [u64; COLLECT_BLOCK_BUFFER_LEN],
    scores: [f32; COLLECT_BLOCK_BUFFER_LEN],
    has_scores: bool,
    length: usize,
}

impl Block {
    /// Without scores, every score of the query is 1.
    pub(super) fn new(has_scores: bool) -> Self {
        Self {
            docs: [0; COLLECT_BLOCK_BUFFER_LEN],
            flags: [0; COLLECT_BLOCK_BUFFER_LEN],
            scores: [0.0; COLLECT_BLOCK_BUFFER_LEN],
            has_scores,
            length: 0,
        }
    }

    /// Reads the next matches; returns false when there are none.
    pub(super) fn read(&mut self, matches: &mut dyn Scorer) -> bool {
        if self.has_scores {
            self.length = 0;
            let mut doc = matches.doc();
            while doc != TERMINATED && self.length < COLLECT_BLOCK_BUFFER_LEN {
                self.docs[self.length] = doc;
                self.scores[self.length] = matches.score();
                self.length += 1;
                doc = matches.advance();
            }
        } else {
            self.length = matches.fill_buffer(&mut self.docs);
            self.scores = [1.0; COLLECT_BLOCK_BUFFER_LEN];
        }
        self.length > 0
    }

    /// Removes the documents for which a function of document and flags returns false.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(DocId, u64) -> bool) {
        let mut kept = 0;
        for at in 0..self.length {
            let (doc, flags) = (self.docs[at], self.flags[at]);
            (self.docs[kept], self.flags[kept]) = (doc, flags);
            self.scores[kept] = self.scores[at];
            kept += usize::from(keep(doc, flags));
        }
        self.length = kept;
    }

    pub(super) fn docs(&self) -> &[DocId] {
        &self.docs[..self.length]
    }

    pub(super) fn scores(&self) -> &[f32] {
        &self.scores[..self.length]
    }
}

/// Whether a packed point is within a circle, including the border.
fn is_within(point: i64, circle: &Circle) -> bool {
    /// Minimum length of a degree of latitude, in metres.
    const METRES_PER_DEGREE: f64 = 111_000.0;
    /// Maximum rounding error of packed points, in metres.
    const ROUNDING_METRES: f64 = 0.01;
    let (point, radius) = (geo::unpack(point), circle.meters + ROUNDING_METRES);
    // Most points are far away, which the latitude alone often shows.
    (point.lat - circle.center.lat).abs() * METRES_PER_DEGREE <= radius
        && geo::distance(point, circle.center) <= radius
}

/// The score factor of an object of some age, in seconds.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a factor")]
fn decay(age: i64) -> f32 {
    (-(age.max(0) as f64) / HALF_LIFE_SECONDS).exp2() as f32
}
