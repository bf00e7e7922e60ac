//! Collects the matches of a search: visibility, count, best hits, and aggregations.
//!
//! One pass visits every match. When only the best of many matches are needed, one pass counts the matches
//! up to the cap, and in a second one the engine skips documents that cannot be among the best.

#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod tests;

use tantivy::{
    DocId, DocSet, Searcher, Term,
    query::{
        BooleanQuery, ConstScoreQuery, EnableScoring, Occur, Query as EngineQuery, Scorer,
        TermSetQuery, Weight,
    },
};

use cms_model::{
    limits,
    search::query::{FieldCondition, HitOrder, Search, SearchQuery},
    wire::search::Aggregation,
};

use super::{
    compile::QueryCompiler,
    deadline::{Deadline, DeadlineClock},
    facet::Facets,
    hit::{Hit, HitColumns},
    rank::{Best, SegmentBest, SegmentOrder},
    schema::Fields,
    segment::{Block, DocumentFilter, Segment},
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
pub struct SearchResults {
    /// At most [`limits::MAX_SEARCH_RESULTS`].
    pub total: u64,
    /// The hits of one page.
    pub hits: Vec<Hit>,
    pub aggregations: Vec<Aggregation>,
}

/// Searches; returns none when the deadline has passed. A page beyond the maximum is empty, as with a
/// `limit` of 0.
pub(super) fn run(
    searcher: &Searcher,
    fields: &Fields,
    search: &Search,
    scope: &SearchScope,
    offset: usize,
    limit: usize,
) -> tantivy::Result<Option<SearchResults>> {
    let page = Page { offset, limit };
    SearchRun::new(searcher, fields, search, scope, page)?.run(MIN_MATCHES_FOR_SKIPPING)
}

/// With this number of matches in a segment, skipping and a separate count are faster than visiting
/// all of them.
const MIN_MATCHES_FOR_SKIPPING: u32 = 16_384;

/// Maximum number of terms of a query that skips documents. With more, finding documents to skip
/// costs more than visiting all of them.
const MAX_TERMS_FOR_SKIPPING: usize = 24;

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
        let is_short = compiler.terms <= MAX_TERMS_FOR_SKIPPING;
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
        if let Some(types) = type_filter_if_cheaper(searcher, fields, &filter)? {
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
        let enabled =
            EnableScoring::Enabled { searcher, statistics_provider: &compiler.statistics };
        let scored = has_scores.then(|| query.weight(enabled)).transpose()?;
        let plain = query.weight(EnableScoring::disabled_from_searcher(searcher))?;
        let clock = DeadlineClock::new(deadline);
        Ok(Self { searcher, search, filter, page, scored, plain, post_filter, can_skip, clock })
    }

    /// Returns none when the deadline has passed.
    fn run(self, min_matches_for_skipping: u32) -> tantivy::Result<Option<SearchResults>> {
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
                if matches.size_hint() < min_matches_for_skipping {
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
        Ok(Some(SearchResults {
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
        let mut block = Block::new(false);
        while before + count < limits::MAX_SEARCH_RESULTS
            && !self.clock.is_over_sampled()
            && block.read(matches.as_mut())
        {
            segment.retain_visible(&mut block);
            count += block.docs().len() as u64;
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
            if self.clock.is_over_sampled() {
                return f32::INFINITY;
            }
            if let Some(flags) = segment.visible_flags(doc) {
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
        let post_filter = self.post_filter.as_ref();
        let mut post_filter =
            post_filter.map(|weight| weight.scorer(segment.reader, 1.0)).transpose()?;
        let weight = self.scored.as_ref().unwrap_or(&self.plain);
        let mut matches = weight.scorer(segment.reader, 1.0)?;
        let mut block = Block::new(self.scored.is_some());
        let mut total = 0;
        while !self.clock.is_over() && block.read(matches.as_mut()) {
            segment.retain_visible(&mut block);
            counts.count(block.docs());
            if let Some(filter) = &mut post_filter {
                block.retain(|doc, _| contains(filter.as_mut(), doc));
            }
            total += block.docs().len() as u64;
            if let Some(ranking) = &mut ranking {
                segment.finish_scores(&mut block);
                ranking.offer_all(block.docs(), block.scores());
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

/// A filter on the types of a request; none if it would cost more than it saves.
fn type_filter_if_cheaper(
    searcher: &Searcher,
    fields: &Fields,
    filter: &DocumentFilter,
) -> tantivy::Result<Option<Box<dyn EngineQuery>>> {
    let Some(ctds) = &filter.ctds else { return Ok(None) };
    let terms: Vec<Term> = ctds.iter().map(|ctd| Term::from_field_u64(fields.ctd, *ctd)).collect();
    let documents = terms.iter().map(|term| searcher.doc_freq(term));
    let documents: u64 = documents.sum::<tantivy::Result<_>>()?;
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
