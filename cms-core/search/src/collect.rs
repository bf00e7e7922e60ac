//! Collects the matches of a search in one pass: visibility, count, best hits, and aggregations.
//!
//! When only the best of many matches are needed, the engine skips documents that cannot be among
//! them, and the matches are counted separately up to the cap. Otherwise every match is visited.

#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod tests;

use tantivy::{
    COLLECT_BLOCK_BUFFER_LEN, DocId, DocSet, Searcher, SegmentReader, TERMINATED, Term,
    columnar::Column,
    fastfield::AliveBitSet,
    query::{
        BooleanQuery, ConstScoreQuery, EnableScoring, Occur, Query as EngineQuery, Scorer,
        TermSetQuery, Weight,
    },
};

use cms_model::{
    error::{Error, Result},
    limits,
    search::{
        geo,
        query::{Circle, FieldCondition, HitOrder, Search, SearchQuery},
    },
    wire::search::Aggregation,
};

use super::{
    deadline::{Deadline, DeadlineClock},
    facet::Facets,
    hit::{Hit, HitColumns},
    index::failed,
    lower::QueryCompiler,
    rank::{self, Best, SegmentBest, SegmentOrder},
    schema::{Fields, Flags, name},
};

/// The visibility and the type filters of a request.
#[derive(Clone, Debug, Default)]
pub struct SearchScope {
    /// Search published versions instead of current ones.
    pub published: bool,
    /// Primary keys of the types; none means all.
    pub ctds: Option<Vec<i64>>,
    /// Types of which only approved objects are visible.
    pub approved_only: Vec<i64>,
    /// Score factors by type.
    pub boosts: Vec<(i64, f32)>,
    /// Seconds since the epoch.
    pub now: i64,
}

/// The results of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// At most [`limits::MAX_SEARCH_RESULTS`].
    pub total: u64,
    /// The hits of one page.
    pub hits: Vec<Hit>,
    pub aggregations: Vec<Aggregation>,
}

/// Searches. A page beyond the maximum is empty, as with a `limit` of 0.
pub(super) fn run(
    searcher: &Searcher,
    fields: &Fields,
    search: &Search,
    scope: &SearchScope,
    offset: usize,
    limit: usize,
) -> Result<Found> {
    let page = Page { offset, limit };
    let found = SearchRun::new(searcher, fields, search, scope, page)
        .and_then(|pass| pass.run(SKIP_FROM_MATCHES))
        .map_err(failed)?;
    found.ok_or_else(|| Error::Busy("the search took too long; make it narrower".to_owned()))
}

/// With this number of matches in a segment, skipping and a separate count are faster than visiting
/// all of them.
const SKIP_FROM_MATCHES: u32 = 16_384;

/// Maximum number of terms of a query that skips documents. With more, finding documents to skip
/// costs more than visiting all of them.
const MAX_TERMS_FOR_PRUNING: usize = 24;

/// Half-life of decaying scores, in seconds (see docs/reference/search.md#parameters).
const HALF_LIFE_SECONDS: f64 = 180.0 * 86_400.0;

#[derive(Clone, Copy)]
struct Page {
    offset: usize,
    limit: usize,
}

/// A running search.
struct SearchRun<'a> {
    searcher: &'a Searcher,
    search: &'a Search,
    filter: DocumentFilter,
    page: Page,
    /// The query with scores.
    scored: Option<Box<dyn Weight>>,
    /// The query without scores.
    plain: Box<dyn Weight>,
    /// Filters hits, but not aggregations.
    post_filter: Option<Box<dyn Weight>>,
    can_skip: bool,
    clock: DeadlineClock,
}

impl<'a> SearchRun<'a> {
    fn new(
        searcher: &'a Searcher,
        fields: &'a Fields,
        search: &'a Search,
        scope: &SearchScope,
        page: Page,
    ) -> tantivy::Result<Self> {
        let (deadline, filter) = (Deadline::from_now(), DocumentFilter::new(scope));
        let mut compiler = QueryCompiler::new(searcher, fields, search.fields.as_deref(), deadline);
        let scoring = compiler.query(&search.query)?;
        let is_short = compiler.terms <= MAX_TERMS_FOR_PRUNING;
        let mut restrictions: Vec<Box<dyn EngineQuery>> = Vec::new();
        if search.filter != SearchQuery::All {
            restrictions.push(compiler.query(&search.filter)?);
        }
        let mut post_filter = None;
        if search.post_filter != SearchQuery::All {
            let query = compiler.query(&search.post_filter)?;
            if search.facets.is_empty() {
                restrictions.push(query);
            } else {
                post_filter = Some(query.weight(EnableScoring::disabled_from_searcher(searcher))?);
            }
        }
        if let Some(types) = types_worth_a_filter(searcher, fields, &filter)? {
            restrictions.push(types);
        }
        let can_skip = search.facets.is_empty()
            && restrictions.is_empty()
            && matches!(search.order, HitOrder::Score { .. })
            && is_short
            && has_words_only(&search.query);
        // Without words every score is 1: nothing to compute.
        let has_scores = page.limit > 0 && search.query != SearchQuery::All;
        let query = restricted(scoring, restrictions);
        let scored = if has_scores {
            Some(query.weight(EnableScoring::Enabled {
                searcher,
                statistics_provider: &compiler.statistics,
            })?)
        } else {
            None
        };
        let plain = query.weight(EnableScoring::disabled_from_searcher(searcher))?;
        let clock = DeadlineClock::new(deadline);
        Ok(Self { searcher, search, filter, page, scored, plain, post_filter, can_skip, clock })
    }

    /// Returns none when the deadline has passed.
    fn run(self, skip_from_matches: u32) -> tantivy::Result<Option<Found>> {
        let limit = if self.page.limit == 0 { 0 } else { self.page.offset + self.page.limit };
        let mut best = Best::new(limit);
        let mut facets = Facets::new(&self.search.facets);
        let mut total = 0;
        let searcher = self.searcher;
        if self.clock.is_over() {
            return Ok(None);
        }
        for (number, reader) in searcher.segment_readers().iter().enumerate() {
            let segment = Segment::open(reader, self.search, &self.filter)?;
            let ranking = if limit == 0 {
                None
            } else {
                let order = SegmentOrder::open(reader, self.search)?;
                Some(SegmentBest::new(order, number, &best))
            };
            let (count, ranking) = if self.search.facets.is_empty() && ranking.is_none() {
                (self.count(&segment, self.plain.scorer(reader, 1.0)?, total), None)
            } else if self.can_skip {
                let matches = self.plain.scorer(reader, 1.0)?;
                if matches.size_hint() < skip_from_matches {
                    self.visit_all(&segment, ranking, &mut facets)?
                } else {
                    let count = self.count(&segment, matches, total);
                    (count, self.skip_to_best(&segment, ranking)?)
                }
            } else {
                self.visit_all(&segment, ranking, &mut facets)?
            };
            total += count;
            if let Some(ranking) = ranking {
                best.merge(ranking)?;
            }
            if self.clock.is_over() {
                return Ok(None);
            }
        }
        let candidates = best.into_sorted();
        let mut columns = HitColumns::new(searcher);
        Ok(Some(Found {
            total: total.min(limits::MAX_SEARCH_RESULTS),
            hits: candidates
                .iter()
                .skip(self.page.offset)
                .map(|candidate| columns.hit(candidate))
                .collect::<tantivy::Result<_>>()?,
            aggregations: facets.into_aggregations(),
        }))
    }

    /// Counts the matches of a segment, up to the cap of the total.
    fn count(&self, segment: &Segment<'_>, mut matches: Box<dyn Scorer>, before: u64) -> u64 {
        let mut count = 0;
        let mut docs = [0; COLLECT_BLOCK_BUFFER_LEN];
        let mut flags = [0; COLLECT_BLOCK_BUFFER_LEN];
        while before + count < limits::MAX_SEARCH_RESULTS && !self.clock.deadline_passed() {
            let length = matches.fill_buffer(&mut docs);
            segment.flags.values.get_vals(&docs[..length], &mut flags[..length]);
            let seen = docs[..length]
                .iter()
                .zip(&flags[..length])
                .filter(|(doc, flags)| segment.is_visible(**doc, **flags));
            count += seen.count() as u64;
            if length < docs.len() {
                break;
            }
        }
        count
    }

    /// Finds the best hits of a segment without visiting documents that cannot be among them.
    fn skip_to_best<'s>(
        &self,
        segment: &Segment<'_>,
        ranking: Option<SegmentBest<'s>>,
    ) -> tantivy::Result<Option<SegmentBest<'s>>> {
        let (Some(mut ranking), Some(weight)) = (ranking, &self.scored) else { return Ok(None) };
        let min_score =
            |ranking: &SegmentBest<'_>| ranking.min_competitive_score() / self.filter.highest_boost;
        let threshold = min_score(&ranking);
        weight.for_each_pruning(threshold, segment.reader, &mut |doc, score| {
            if self.clock.deadline_passed() {
                return f32::INFINITY;
            }
            let flags = segment.flags.values.get_val(doc);
            if segment.is_visible(doc, flags) {
                ranking.offer(doc, segment.final_score(doc, flags, score));
            }
            min_score(&ranking)
        })?;
        Ok(Some(ranking))
    }

    /// Visits every match of a segment.
    fn visit_all<'s>(
        &self,
        segment: &Segment<'_>,
        mut ranking: Option<SegmentBest<'s>>,
        facets: &mut Facets<'_>,
    ) -> tantivy::Result<(u64, Option<SegmentBest<'s>>)> {
        let mut counts = facets.open(segment.reader)?;
        let mut post_filter = match &self.post_filter {
            Some(weight) => Some(weight.scorer(segment.reader, 1.0)?),
            None => None,
        };
        let mut total = 0;
        let mut visit = |doc: DocId, score: f32| {
            let flags = segment.flags.values.get_val(doc);
            if !segment.is_visible(doc, flags) {
                return;
            }
            counts.count(doc);
            if let Some(filter) = &mut post_filter
                && !contains(filter.as_mut(), doc)
            {
                return;
            }
            total += 1;
            if let Some(ranking) = &mut ranking {
                ranking.offer(doc, segment.final_score(doc, flags, score));
            }
        };
        if let Some(weight) = &self.scored {
            // Not the loop of the engine, which cannot be interrupted.
            let mut matches = weight.scorer(segment.reader, 1.0)?;
            let mut doc = matches.doc();
            while doc != TERMINATED && !self.clock.deadline_passed() {
                visit(doc, matches.score());
                doc = matches.advance();
            }
        } else {
            let mut matches = self.plain.scorer(segment.reader, 1.0)?;
            let mut docs = [0; COLLECT_BLOCK_BUFFER_LEN];
            let mut length = docs.len();
            while length == docs.len() && !self.clock.is_over() {
                length = matches.fill_buffer(&mut docs);
                for doc in &docs[..length] {
                    visit(*doc, 1.0);
                }
            }
        }
        facets.merge(counts)?;
        Ok((total, ranking))
    }
}

/// Documents must be requested in ascending order.
fn contains(docs: &mut dyn Scorer, doc: DocId) -> bool {
    let at = docs.doc();
    at == doc || (at < doc && docs.seek(doc) == doc)
}

/// Adds conditions that do not affect scores.
fn restricted(
    query: Box<dyn EngineQuery>,
    restrictions: Vec<Box<dyn EngineQuery>>,
) -> Box<dyn EngineQuery> {
    if restrictions.is_empty() {
        return query;
    }
    let mut clauses = vec![(Occur::Must, query)];
    for restriction in restrictions {
        clauses.push((Occur::Must, Box::new(ConstScoreQuery::new(restriction, 0.0))));
    }
    Box::new(BooleanQuery::new(clauses))
}

/// The documents of the types of a request, when the filter saves more than it costs.
fn types_worth_a_filter(
    searcher: &Searcher,
    fields: &Fields,
    filter: &DocumentFilter,
) -> tantivy::Result<Option<Box<dyn EngineQuery>>> {
    let Some(ctds) = &filter.ctds else { return Ok(None) };
    let terms: Vec<Term> = ctds.iter().map(|ctd| Term::from_field_u64(fields.ctd, *ctd)).collect();
    let mut documents = 0;
    for term in &terms {
        documents += searcher.doc_freq(term)?;
    }
    let is_worth_it = documents < searcher.num_docs() / 4;
    Ok(is_worth_it.then(|| Box::new(TermSetQuery::new(terms)) as Box<dyn EngineQuery>))
}

/// Whether the engine can skip documents with a low score: the query has words only, for which it
/// knows the maximum score of each block of documents. A fuzzy word expands to so many terms that
/// finding blocks to skip costs more than visiting all documents.
fn has_words_only(query: &SearchQuery) -> bool {
    match query {
        SearchQuery::Field { condition: test, .. } => matches!(test, FieldCondition::Word(_)),
        SearchQuery::Boolean { must, should, must_not } => {
            must_not.is_empty()
                && (must.is_empty() || should.is_empty())
                && must.iter().chain(should).all(has_words_only)
        }
        SearchQuery::Boost(query, _) => has_words_only(query),
        SearchQuery::All | SearchQuery::None => false,
    }
}

/// [`SearchScope`], prepared for the check of each document.
struct DocumentFilter {
    /// The bit of [`Flags`] that a document must have.
    edition: u64,
    /// Sorted.
    ctds: Option<Vec<u64>>,
    /// Sorted.
    approved_only: Vec<u64>,
    boosts: Vec<(u64, f32)>,
    highest_boost: f32,
    now: i64,
}

impl DocumentFilter {
    fn new(scope: &SearchScope) -> Self {
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

    fn admits(&self, flags: u64) -> bool {
        let ctd = Flags::ctd(flags).unsigned_abs();
        flags & self.edition != 0
            && self.ctds.as_ref().is_none_or(|ctds| ctds.binary_search(&ctd).is_ok())
            && (flags & Flags::APPROVED != 0 || self.approved_only.binary_search(&ctd).is_err())
    }

    fn boost(&self, flags: u64) -> f32 {
        let ctd = Flags::ctd(flags).unsigned_abs();
        self.boosts.iter().find(|(boosted, _)| *boosted == ctd).map_or(1.0, |(_, boost)| *boost)
    }
}

/// The columns of one segment that filter documents.
struct Segment<'a> {
    reader: &'a SegmentReader,
    alive: Option<&'a AliveBitSet>,
    filter: &'a DocumentFilter,
    flags: Column<u64>,
    circles: Vec<(&'a Circle, Option<Column<i64>>)>,
    /// Creation dates, when scores decay.
    created: Option<Column<i64>>,
}

impl<'a> Segment<'a> {
    fn open(
        reader: &'a SegmentReader,
        search: &'a Search,
        filter: &'a DocumentFilter,
    ) -> tantivy::Result<Self> {
        let mut circles = Vec::with_capacity(search.circles.len());
        for circle in &search.circles {
            circles.push((circle, rank::points(reader, &circle.path)?));
        }
        let created =
            if search.decay_old { Some(reader.fast_fields().i64(name::CREATED)?) } else { None };
        let flags = reader.fast_fields().u64(name::FLAGS)?;
        Ok(Self { reader, alive: reader.alive_bitset(), filter, flags, circles, created })
    }

    /// Whether a matching document is visible and in scope.
    fn is_visible(&self, doc: DocId, flags: u64) -> bool {
        self.filter.admits(flags)
            && self.alive.is_none_or(|alive| alive.is_alive(doc))
            && self.circles.iter().all(|(circle, points)| {
                points.as_ref().is_some_and(|points| {
                    points.values_for_doc(doc).any(|point| is_within(point, circle))
                })
            })
    }

    fn final_score(&self, doc: DocId, flags: u64, score: f32) -> f32 {
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
