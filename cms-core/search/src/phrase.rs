//! Phrases, searched until the deadline.
//!
//! The engine goes to the next match in one call, which may read the positions of the words in all
//! documents of a segment. The scorer here asks the engine for one document at a
//! time, and checks the deadline in between.

use tantivy::{
    DocId, DocSet, Score, SeekDangerResult, SegmentReader, TERMINATED, Term,
    query::{EnableScoring, Explanation, PhraseQuery, Query, Scorer, Weight},
};

use super::deadline::{Deadline, DeadlineClock};

/// A phrase of the engine; after the deadline, no document matches.
#[derive(Clone, Debug)]
pub(super) struct TimedPhraseQuery {
    phrase: PhraseQuery,
    deadline: Deadline,
}

impl TimedPhraseQuery {
    pub(super) fn new(words: Vec<Term>, deadline: Deadline) -> Self {
        Self { phrase: PhraseQuery::new(words), deadline }
    }
}

impl Query for TimedPhraseQuery {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let phrase = self.phrase.weight(scoring)?;
        Ok(Box::new(TimedPhraseWeight { phrase, deadline: self.deadline }))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.phrase.query_terms(visitor);
    }
}

struct TimedPhraseWeight {
    phrase: Box<dyn Weight>,
    deadline: Deadline,
}

impl TimedPhraseWeight {
    /// Returns a scorer at `target`, and whether this document matches.
    fn scorer_at(
        &self,
        reader: &SegmentReader,
        target: DocId,
        boost: Score,
    ) -> tantivy::Result<(SeekDangerResult, TimedPhraseScorer)> {
        let (result, phrase) = self.phrase.scorer_danger(reader, target, boost)?;
        let clock = DeadlineClock::new(self.deadline);
        Ok((result, TimedPhraseScorer { phrase, doc: target, clock }))
    }
}

impl Weight for TimedPhraseWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let (first, mut scorer) = self.scorer_at(reader, 0, boost)?;
        if let SeekDangerResult::SeekLowerBound(next) = first {
            scorer.find(next);
        }
        Ok(Box::new(scorer))
    }

    fn scorer_danger(
        &self,
        reader: &SegmentReader,
        target: DocId,
        boost: Score,
    ) -> tantivy::Result<(SeekDangerResult, Box<dyn Scorer>)> {
        let (result, scorer) = self.scorer_at(reader, target, boost)?;
        Ok((result, Box::new(scorer)))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        self.phrase.explain(reader, doc)
    }
}

struct TimedPhraseScorer {
    phrase: Box<dyn Scorer>,
    /// The current match.
    doc: DocId,
    clock: DeadlineClock,
}

impl TimedPhraseScorer {
    /// Goes to the first match from `target` on.
    fn find(&mut self, mut target: DocId) -> DocId {
        while target < TERMINATED {
            match self.seek_danger(target) {
                SeekDangerResult::Found => return target,
                SeekDangerResult::SeekLowerBound(next) => target = next,
            }
        }
        self.doc = TERMINATED;
        TERMINATED
    }
}

impl DocSet for TimedPhraseScorer {
    fn advance(&mut self) -> DocId {
        if self.doc == TERMINATED { TERMINATED } else { self.find(self.doc + 1) }
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if self.doc >= target { self.doc } else { self.find(target) }
    }

    fn seek_danger(&mut self, target: DocId) -> SeekDangerResult {
        if self.clock.is_over_sampled() {
            return SeekDangerResult::SeekLowerBound(TERMINATED);
        }
        let result = self.phrase.seek_danger(target);
        if result == SeekDangerResult::Found {
            self.doc = target;
        }
        result
    }

    fn doc(&self) -> DocId {
        self.doc
    }

    fn size_hint(&self) -> u32 {
        self.phrase.size_hint()
    }

    fn cost(&self) -> u64 {
        self.phrase.cost()
    }
}

impl Scorer for TimedPhraseScorer {
    fn score(&mut self) -> Score {
        self.phrase.score()
    }
}

#[cfg(test)]
mod tests {
    use tantivy::{
        Index,
        schema::{Schema, TEXT},
    };

    use super::*;

    #[test]
    fn phrase_search_ends_at_the_deadline() {
        let mut schema = Schema::builder();
        let text = schema.add_text_field("text", TEXT);
        let index = Index::create_in_ram(schema.build());
        let mut writer = index.writer_with_num_threads(1, 15_000_000).unwrap();
        // Documents with both words, but few with the phrase.
        let matches = [0, 7, 8, 9_998];
        for number in 0..10_000 {
            let content = if matches.contains(&number) { "a b" } else { "b a" };
            writer.add_document(tantivy::doc!(text => content)).unwrap();
        }
        writer.commit().unwrap();
        let searcher = index.reader().unwrap().searcher();
        let reader = searcher.segment_reader(0);
        let words = || ["a", "b"].map(|word| Term::from_field_text(text, word)).to_vec();
        let found = |query: &dyn Query| {
            let scoring = EnableScoring::enabled_from_searcher(&searcher);
            let mut scorer = query.weight(scoring).unwrap().scorer(reader, 2.0).unwrap();
            let mut found = Vec::new();
            while scorer.doc() != TERMINATED {
                found.push((scorer.doc(), scorer.score()));
                scorer.advance();
            }
            found
        };
        let timed = |deadline| found(&TimedPhraseQuery::new(words(), deadline));
        let all = found(&PhraseQuery::new(words()));
        assert_eq!(all.iter().map(|(doc, _)| *doc).collect::<Vec<_>>(), matches);
        assert_eq!(timed(Deadline::from_now()), all);
        assert_eq!(timed(Deadline::passed()), all[..3]);

        let weight = TimedPhraseQuery::new(words(), Deadline::from_now())
            .weight(EnableScoring::disabled_from_searcher(&searcher))
            .unwrap();
        let mut scorer = weight.scorer(reader, 1.0).unwrap();
        assert_eq!(
            [0, 1, 7, 9, 9_999].map(|target| scorer.seek(target)),
            [0, 7, 7, 9_998, TERMINATED]
        );
        let (result, mut scorer) = weight.scorer_danger(reader, 7, 1.0).unwrap();
        assert_eq!((result, scorer.doc(), scorer.advance()), (SeekDangerResult::Found, 7, 8));
    }
}
