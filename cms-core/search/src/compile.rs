//! Compiles the tree of a search to a query of the engine.
//!
//! The leaves match words in the dictionary, or values in columns. Scores are BM25 for words, and 1
//! for everything else. [`super::collect`] filters the matches.

use std::{
    collections::{BTreeSet, HashMap},
    ops::Bound,
};

use cms_model::{
    query::value::{Number, TWO_TO_63},
    search::{
        query::{FieldCondition, ScalarValue, SearchQuery, Value, WeightedField, WildcardPattern},
        word,
    },
};
use indexmap::IndexMap;
use tantivy::{
    Searcher, Term,
    columnar::NumericalValue,
    query::{
        AllQuery, Bm25StatisticsProvider, BooleanQuery, BoostQuery, ConstScoreQuery, EmptyQuery,
        ExistsQuery, Occur, Query as EngineQuery, TermQuery, TermSetQuery,
    },
    schema::{Field, IndexRecordOption},
};

use super::{
    deadline::Deadline,
    expand::{self, WildcardQuery},
    phrase::TimedPhraseQuery,
    range::RangeQuery,
    schema::{Fields, name},
};

/// Compiles the trees of one search.
pub(super) struct QueryCompiler<'a> {
    fields: &'a Fields,
    /// Default fields of conditions without a field; `None` searches all text.
    default_fields: Option<&'a [WeightedField]>,
    pub(super) statistics: ScoreStatistics<'a>,
    deadline: Deadline,
    /// Number of terms looked up so far.
    pub(super) terms: usize,
}

/// Score of the words that a fuzzy word matches in addition to the best ones.
const OTHER_TERMS_SCORE: f32 = 0.1;

/// Alternative queries, of which one must match.
#[derive(Default)]
struct Alternatives {
    /// Terms, each with the sum of its boosts: a repeated term counts twice, but is read once.
    terms: IndexMap<Term, f32>,
    others: Vec<Box<dyn EngineQuery>>,
}

impl Alternatives {
    fn add(&mut self, query: Box<dyn EngineQuery>, boost: f32) {
        self.others.push(boosted(query, boost));
    }

    fn add_term(&mut self, term: Term, boost: f32) {
        *self.terms.entry(term).or_default() += boost;
    }
}

impl<'a> QueryCompiler<'a> {
    pub(super) fn new(
        searcher: &'a Searcher,
        fields: &'a Fields,
        default_fields: Option<&'a [WeightedField]>,
        deadline: Deadline,
    ) -> Self {
        let statistics = ScoreStatistics { searcher, frequencies: HashMap::new() };
        Self { fields, default_fields, statistics, deadline, terms: 0 }
    }

    fn any_of(&mut self, alternatives: Alternatives) -> Box<dyn EngineQuery> {
        let mut queries = self.queries(alternatives);
        match (queries.pop(), queries.is_empty()) {
            (None, _) => Box::new(EmptyQuery),
            (Some(only), true) => only,
            (Some(last), false) => {
                queries.push(last);
                Box::new(BooleanQuery::union(queries))
            }
        }
    }

    fn queries(&mut self, alternatives: Alternatives) -> Vec<Box<dyn EngineQuery>> {
        let Alternatives { terms, others: mut queries } = alternatives;
        self.terms += terms.len();
        queries.extend(terms.into_iter().map(|(term, boost)| boosted(term_query(term), boost)));
        queries
    }

    pub(super) fn query(&mut self, query: &SearchQuery) -> tantivy::Result<Box<dyn EngineQuery>> {
        Ok(match query {
            SearchQuery::All => Box::new(AllQuery),
            SearchQuery::None => Box::new(EmptyQuery),
            SearchQuery::Boolean { must, should, must_not }
                if !must.is_empty() || should.is_empty() || !must_not.is_empty() =>
            {
                self.boolean(must, should, must_not)?
            }
            SearchQuery::Field { .. } | SearchQuery::Boolean { .. } | SearchQuery::Boost(..) => {
                let mut alternatives = Alternatives::default();
                self.alternatives(query, 1.0, &mut alternatives)?;
                self.any_of(alternatives)
            }
        })
    }

    fn boolean(
        &mut self,
        must: &[SearchQuery],
        should: &[SearchQuery],
        must_not: &[SearchQuery],
    ) -> tantivy::Result<Box<dyn EngineQuery>> {
        let mut clauses: Vec<(Occur, Box<dyn EngineQuery>)> = Vec::new();
        for query in must {
            clauses.push((Occur::Must, self.query(query)?));
        }
        let mut alternatives = Alternatives::default();
        for query in should {
            self.alternatives(query, 1.0, &mut alternatives)?;
        }
        if must.is_empty() {
            let some: Box<dyn EngineQuery> =
                if should.is_empty() { Box::new(AllQuery) } else { self.any_of(alternatives) };
            clauses.push((Occur::Must, some));
        } else {
            let alternatives = self.queries(alternatives).into_iter();
            clauses.extend(alternatives.map(|query| (Occur::Should, query)));
        }
        for query in must_not {
            clauses.push((Occur::MustNot, self.query(query)?));
        }
        Ok(match clauses.pop() {
            Some((Occur::Must, only)) if clauses.is_empty() => only,
            last => {
                clauses.extend(last);
                Box::new(BooleanQuery::new(clauses))
            }
        })
    }

    /// Adds alternative queries. Nested alternatives give one flat list: the engine skips through a
    /// union of words, but not through a union of unions.
    fn alternatives(
        &mut self,
        query: &SearchQuery,
        boost: f32,
        into: &mut Alternatives,
    ) -> tantivy::Result<()> {
        match query {
            SearchQuery::Field { path: Some(path), condition } => {
                self.condition(Some(path), condition, boost, into)
            }
            SearchQuery::Field { path: None, condition } => match self.default_fields {
                None => self.condition(None, condition, boost, into),
                Some(fields) => fields.iter().try_for_each(|field| {
                    self.condition(Some(&field.path), condition, boost * field.weight, into)
                }),
            },
            SearchQuery::Boolean { must, should, must_not }
                if must.is_empty() && must_not.is_empty() && !should.is_empty() =>
            {
                should.iter().try_for_each(|query| self.alternatives(query, boost, into))
            }
            SearchQuery::Boost(query, factor) => self.alternatives(query, boost * factor, into),
            SearchQuery::All | SearchQuery::None | SearchQuery::Boolean { .. } => {
                into.add(self.query(query)?, boost);
                Ok(())
            }
        }
    }

    /// Adds the queries of a condition at a path; without one, in all text.
    fn condition(
        &mut self,
        path: Option<&str>,
        condition: &FieldCondition,
        boost: f32,
        into: &mut Alternatives,
    ) -> tantivy::Result<()> {
        // No property name has these characters. In the paths of the engine they separate segments and
        // end the path.
        if path.is_some_and(|path| path.is_empty() || path.contains(word::SEPARATORS)) {
            return Ok(());
        }
        match (condition, path) {
            (FieldCondition::Word(word), _) => {
                for suffix in self.suffixes(path, word)? {
                    into.add_term(self.term(word, &suffix), boost);
                }
                self.number(path, word, boost, into);
            }
            (FieldCondition::Fuzzy { word, edits }, _) => {
                self.fuzzy(path, (word, *edits), boost, into)?;
                self.number(path, word, boost, into);
            }
            (FieldCondition::Phrase(words), _) => {
                let [first, rest @ ..] = words.as_slice() else { return Ok(()) };
                // The words of a phrase are in one text, so they have the same suffix.
                let mut suffixes = self.suffixes(path, first)?;
                for word in rest {
                    let others = self.suffixes(path, word)?;
                    suffixes.retain(|suffix| others.contains(suffix));
                }
                for suffix in suffixes {
                    let term = |word: &String| self.term(word, &suffix);
                    if rest.is_empty() {
                        into.add_term(term(first), boost);
                    } else {
                        let words = words.iter().map(term).collect();
                        into.add(Box::new(TimedPhraseQuery::new(words, self.deadline)), boost);
                    }
                }
            }
            (FieldCondition::Wildcard(pattern), _) => {
                into.add(Box::new(self.wildcard(path, pattern)), boost);
            }
            (FieldCondition::Equals(scalar), Some(path)) => {
                self.scalar(path, *scalar, boost, into);
            }
            (FieldCondition::Range { from, to }, Some(path)) => {
                if matches!((from, to), (Bound::Unbounded, Bound::Unbounded)) {
                    self.condition(Some(path), &FieldCondition::Exists, boost, into)?;
                } else {
                    into.add(Box::new(range(path, from, to)), boost);
                }
            }
            (FieldCondition::Exists, Some(path)) => {
                into.add(
                    Box::new(ExistsQuery::new(format!("{}.{path}", name::EXACT), true)),
                    boost,
                );
                // Texts that are too long for a column have a marker instead: the term of an empty word with the
                // suffix of the path.
                into.add_term(self.term("", &word::suffix(path)), boost);
            }
            (FieldCondition::Exists, None) => into.add(Box::new(AllQuery), boost),
            // Without a path there are only words, so equality and ranges match nothing.
            (FieldCondition::Equals(_) | FieldCondition::Range { .. }, None) => {}
        }
        Ok(())
    }

    fn term(&self, word: &str, suffix: &str) -> Term {
        Term::from_field_text(self.fields.words, &format!("{word}{suffix}"))
    }

    /// The suffixes (separator and path, see [`word::suffix`]) with which a word is indexed.
    fn suffixes(&self, path: Option<&str>, word: &str) -> tantivy::Result<BTreeSet<String>> {
        if let Some(path) = path {
            return Ok(BTreeSet::from([word::suffix(path)]));
        }
        let (first, last) = word::entry_range(word);
        let mut suffixes = BTreeSet::new();
        for reader in self.statistics.searcher.segment_readers() {
            let index = reader.inverted_index(self.fields.words)?;
            let entries = index.terms().range().ge(&first).lt(&last);
            let mut entries = entries.into_stream()?;
            while entries.advance() && !self.deadline.is_over() {
                let suffix = std::str::from_utf8(&entries.key()[word.len()..]);
                suffixes.extend(suffix.ok().map(str::to_owned));
            }
        }
        Ok(suffixes)
    }

    /// If a word is a number or a boolean, adds the query for this value at the path. Without a path, adds nothing: the
    /// text of the value is indexed as a word.
    fn number(&self, path: Option<&str>, word: &str, boost: f32, into: &mut Alternatives) {
        if let Some(path) = path
            && let Some(scalar) = ScalarValue::parse(word)
        {
            self.scalar(path, scalar, boost, into);
        }
    }

    /// Adds the query of a number or a boolean.
    fn scalar(&self, path: &str, scalar: ScalarValue, boost: f32, into: &mut Alternatives) {
        let mut term = Term::from_field_json_path(self.fields.scalars, path, true);
        match scalar {
            ScalarValue::Bool(value) => term.append_type_and_fast_value(value),
            ScalarValue::Integer(value) => term.append_type_and_fast_value(value),
            // The term of the engine for 2^63 is that of `i64::MAX`. Columns distinguish them.
            ScalarValue::Number(TWO_TO_63) => {
                let only = Bound::Included(Number::Real(TWO_TO_63));
                return into.add(
                    Box::new(RangeQuery {
                        path: path.to_owned(),
                        numbers: Some((only, only)),
                        texts: None,
                    }),
                    boost,
                );
            }
            // With the type that the engine uses in the index.
            ScalarValue::Number(value) => match NumericalValue::F64(value).normalize() {
                NumericalValue::I64(value) => term.append_type_and_fast_value(value),
                NumericalValue::U64(value) => term.append_type_and_fast_value(value),
                NumericalValue::F64(value) => term.append_type_and_fast_value(value),
            },
        }
        into.add_term(term, boost);
    }

    fn wildcard(&self, path: Option<&str>, pattern: &WildcardPattern) -> WildcardQuery {
        WildcardQuery::new(self.fields.words, path, pattern, self.deadline)
    }

    /// Adds the terms that a fuzzy word matches. The score of the best terms depends on their similarity. All of them use
    /// the document frequency of the most frequent one, so that a rare misspelling does not score higher than the word
    /// itself. The score of an object is the sum over the terms that it contains.
    fn fuzzy(
        &mut self,
        path: Option<&str>,
        (word, edits): (&str, u8),
        boost: f32,
        into: &mut Alternatives,
    ) -> tantivy::Result<()> {
        let (searcher, field) = (self.statistics.searcher, self.fields.words);
        let found = expand::fuzzy_matches(searcher, field, path, word, edits, self.deadline)?;
        let term = |entry: &str| Term::from_field_text(field, entry);
        let highest = found.best.iter().map(|fuzzy_match| fuzzy_match.frequency).max().unwrap_or(0);
        for fuzzy_match in found.best {
            let term = term(&fuzzy_match.entry);
            self.statistics.frequencies.insert(term.clone(), highest);
            into.add_term(term, boost * fuzzy_match.similarity);
        }
        if !found.others.is_empty() {
            let others = TermSetQuery::new(found.others.iter().map(|entry| term(entry)));
            into.add(Box::new(ConstScoreQuery::new(Box::new(others), OTHER_TERMS_SCORE)), boost);
        }
        Ok(())
    }
}

fn range(path: &str, from: &Bound<Value>, to: &Bound<Value>) -> RangeQuery {
    let number = |bound: &Bound<Value>| {
        Some(match bound {
            Bound::Included(value) => Bound::Included(number(value)?),
            Bound::Excluded(value) => Bound::Excluded(number(value)?),
            Bound::Unbounded => Bound::Unbounded,
        })
    };
    let text = |bound: &Bound<Value>| bound.as_ref().map(|value| value.text.clone());
    RangeQuery {
        path: path.to_owned(),
        numbers: number(from).zip(number(to)),
        texts: Some((text(from), text(to))),
    }
}

fn number(value: &Value) -> Option<Number> {
    match value.number? {
        ScalarValue::Integer(integer) => Some(Number::Integer(integer)),
        ScalarValue::Number(real) => Some(Number::Real(real)),
        ScalarValue::Bool(_) => None,
    }
}

fn term_query(term: Term) -> Box<dyn EngineQuery> {
    Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
}

#[expect(clippy::float_cmp, reason = "exactly 1 changes nothing")]
fn boosted(query: Box<dyn EngineQuery>, boost: f32) -> Box<dyn EngineQuery> {
    if boost == 1.0 { query } else { Box::new(BoostQuery::new(query, boost)) }
}

/// The statistics of scores.
pub(super) struct ScoreStatistics<'a> {
    searcher: &'a Searcher,
    /// Document frequencies that differ from those of the index.
    frequencies: HashMap<Term, u64>,
}

impl Bm25StatisticsProvider for ScoreStatistics<'_> {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        self.searcher.total_num_tokens(field)
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        self.searcher.total_num_docs()
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        match self.frequencies.get(term) {
            Some(frequency) => Ok(*frequency),
            None => self.searcher.doc_freq(term),
        }
    }
}
