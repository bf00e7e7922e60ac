//! Operands of the query language: words, phrases, wildcards, ranges.

use std::ops::Bound;

use super::{
    cursor::{Parsed, QueryCursor, SyntaxError, unescape},
    grammar::{ParsedText, all_of, any_of, boosted},
};
use crate::{
    clock::Timestamp,
    dates, limits,
    object::link,
    search::{
        analysis::{self, Markup},
        query::{FieldCondition, PatternToken, ScalarValue, SearchQuery, Value, WildcardPattern},
    },
};

/// How words without operators and modifiers match.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TermOptions {
    /// All words are required instead of any.
    pub(super) all_required: bool,
    pub(super) fuzziness: Fuzziness,
}

/// The number of typing errors that a word may have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Fuzziness {
    #[default]
    Exact,
    /// No error in words of up to 2 characters, 1 in words of up to 5, 2 in longer words.
    Auto,
    Edits(u8),
}

/// Fields that hold seconds since the epoch; conditions on them are dates (see
/// docs/reference/http.md#dates).
const DATES: [&str; 5] = [
    "internal.createdAt",
    "internal.updatedAt",
    "internal.publishedAt",
    "internal.workflowPublishedAt",
    "internal.scheduledAt",
];

const DATE_WITHOUT_TIME_BYTES: usize = "2024-01-05".len();

impl QueryCursor<'_> {
    pub(super) fn into_parsed(self, query: Option<SearchQuery>) -> ParsedText {
        ParsedText { query, words: self.words, expansions: self.expansions }
    }

    /// Reads the text as one value: a link, or a date or scalar of a field.
    pub(super) fn single_value(&mut self, path: Option<&str>) -> Option<SearchQuery> {
        let text = self.text.trim();
        let is_value = path.is_some_and(|path| date(path, text).is_some())
            || path.is_some() && is_value(text)
            || link::parse(text).is_some();
        is_value.then(|| self.value(text, path, Fuzziness::Exact)).flatten()
    }

    /// Reads only the words of the text, without operators.
    pub(super) fn all_words(&mut self, path: Option<&str>) -> Option<SearchQuery> {
        let words = self.words(self.text, path, self.options.fuzziness);
        self.combine(words)
    }

    /// Consumes a word as written, which analysis may split.
    pub(super) fn term(&mut self, path: Option<&str>) -> Option<SearchQuery> {
        let raw = self.raw_term();
        let fuzziness = raw.fuzziness.unwrap_or(self.options.fuzziness);
        let query = if matches_all(&raw.tokens) && !raw.tokens.is_empty() {
            self.words += 1;
            Some(path.map_or(SearchQuery::All, |path| field(Some(path), FieldCondition::Exists)))
        } else if has_wildcards(&raw.tokens) && raw.tokens.len() <= limits::MAX_WILDCARD_WORD_CHARS
        {
            self.patterns(&raw.tokens, path, fuzziness)
        } else {
            self.value(&literal_text(&raw.tokens), path, fuzziness)
        };
        query.map(|query| boosted(query, raw.boost))
    }

    /// Consumes a phrase in quotes.
    pub(super) fn phrase(&mut self, path: Option<&str>) -> Parsed<Option<SearchQuery>> {
        let text = self.quoted()?;
        Ok(match path.and_then(|path| date(path, &text)) {
            Some(seconds) => Some(self.equals(path, seconds)),
            None if path.is_some() && is_value(&text) => self.value(&text, path, Fuzziness::Exact),
            None => self.phrase_of(&text, path),
        })
    }

    /// The words of a text as a phrase.
    pub(super) fn phrase_of(&mut self, text: &str, path: Option<&str>) -> Option<SearchQuery> {
        let text = analysis::plain_text(text, Markup::Plain);
        let sequence: Vec<_> = analysis::words(&text).map(|(_, word)| word).collect();
        let is_one_word = sequence.len() == 1;
        let phrase =
            (!sequence.is_empty()).then(|| self.sequence(sequence, path, Fuzziness::Exact));
        if is_one_word || path.is_some() { phrase } else { or_number(phrase, &text, path) }
    }

    /// Consumes `[from TO to]`; `{` and `}` exclude the bound.
    pub(super) fn range(&mut self, path: &str) -> Parsed<SearchQuery> {
        let is_open = self.peek() == Some('{');
        let (inside, close) = self.bracketed()?;
        let (from, to) = inside.split_once(" TO ").ok_or(SyntaxError)?;
        let (from, to) =
            (bound(path, from, true, !is_open)?, bound(path, to, false, close == ']')?);
        self.words += 1;
        let is_any = matches!((&from, &to), (Bound::Unbounded, Bound::Unbounded));
        let condition =
            if is_any { FieldCondition::Exists } else { FieldCondition::Range { from, to } };
        Ok(field(Some(path), condition))
    }

    /// Consumes `>10`, `>=10`, `<10` or `<=10`.
    pub(super) fn comparison(&mut self, path: &str) -> Parsed<SearchQuery> {
        let is_lower = self.bump() == Some('>');
        let is_inclusive = self.peek() == Some('=');
        if is_inclusive {
            self.bump();
        }
        self.skip_blanks();
        let rest = self.rest().trim_end();
        let (text, boost) = if date(path, rest).is_some() {
            self.skip_rest();
            (rest.to_owned(), None)
        } else if self.peek() == Some('"') {
            (self.quoted()?, None)
        } else {
            let raw = self.raw_term();
            (literal_text(&raw.tokens), raw.boost)
        };
        if text.is_empty() {
            return Err(SyntaxError);
        }
        self.words += 1;
        let value = bound_value(path, &text, is_lower == is_inclusive);
        let bound = if is_inclusive { Bound::Included(value) } else { Bound::Excluded(value) };
        let (from, to) =
            if is_lower { (bound, Bound::Unbounded) } else { (Bound::Unbounded, bound) };
        Ok(boosted(field(Some(path), FieldCondition::Range { from, to }), boost))
    }

    /// Converts one operand: a date, number or boolean of a field, a link, or words.
    fn value(
        &mut self,
        text: &str,
        path: Option<&str>,
        fuzziness: Fuzziness,
    ) -> Option<SearchQuery> {
        if let Some(seconds) = path.and_then(|path| date(path, text)) {
            return Some(self.equals(path, seconds));
        }
        if let Some(target) = link::parse(text) {
            return match path {
                Some(path) if link::needs_no_encoding(&target.id) => Some(self.link(path, text)),
                _ => self.phrase_of(text, path),
            };
        }
        if path.is_some() && is_date(text) {
            // As a phrase: other dates may have the same words in another order.
            let phrase = self.phrase_of(text, path);
            return any_of(phrase.into_iter().chain(on_day(text, path)).collect());
        }
        let Some(scalar_value) = path.and_then(|_| ScalarValue::parse(text)) else {
            let words = self.words(text, path, fuzziness);
            let is_one_word = words.len() == 1;
            let words = self.combine(words);
            return if is_one_word { words } else { or_number(words, text, path) };
        };
        // Words have no sign: `-5` must not match the number 5.
        let without_sign = text.strip_prefix('-').and_then(ScalarValue::parse);
        let not = without_sign.map(|scalar| field(path, FieldCondition::Equals(scalar)));
        let words = self
            .phrase_of(text, path)
            .and_then(|words| all_of(vec![words], not.into_iter().collect()));
        any_of(
            words.into_iter().chain([field(path, FieldCondition::Equals(scalar_value))]).collect(),
        )
    }

    /// Matches the complete address, because links to other objects may contain the same words.
    fn link(&mut self, path: &str, address: &str) -> SearchQuery {
        self.words += 1;
        let bound = || Bound::Included(Value { text: address.to_lowercase(), number: None });
        field(Some(path), FieldCondition::Range { from: bound(), to: bound() })
    }

    fn words(&mut self, text: &str, path: Option<&str>, fuzziness: Fuzziness) -> Vec<SearchQuery> {
        let words: Vec<_> = analysis::words(text).collect();
        // Adjacent words form a phrase.
        let sequences = words.chunk_by(|(before, _), (after, _)| before.end == after.start);
        sequences
            .map(|sequence| sequence.iter().map(|(_, word)| word.clone()).collect())
            .map(|sequence| self.sequence(sequence, path, fuzziness))
            .collect()
    }

    fn sequence(
        &mut self,
        mut sequence: Vec<String>,
        path: Option<&str>,
        fuzziness: Fuzziness,
    ) -> SearchQuery {
        self.words += sequence.len();
        if sequence.len() > 1 {
            return field(path, FieldCondition::Phrase(sequence));
        }
        let word = sequence.pop().unwrap_or_default();
        let edits = match (fuzziness, word.chars().count()) {
            (_, limits::MIN_EXACT_WORD_CHARS..)
            | (Fuzziness::Exact, _)
            | (Fuzziness::Auto, 0..=2) => 0,
            (Fuzziness::Edits(edits), _) => edits,
            (Fuzziness::Auto, 3..=5) => 1,
            (Fuzziness::Auto, _) => 2,
        };
        if edits == 0 {
            return field(path, FieldCondition::Word(word));
        }
        self.expansions += 1;
        field(path, FieldCondition::Fuzzy { word, edits })
    }

    /// Applies wildcards to each word. Wildcards next to characters that are words by themselves, such
    /// as Chinese ones, have no effect.
    fn patterns(
        &mut self,
        tokens: &[PatternToken],
        path: Option<&str>,
        fuzziness: Fuzziness,
    ) -> Option<SearchQuery> {
        let splits = |token: &PatternToken| matches!(token, PatternToken::Char(c) if !analysis::is_word_character(*c));
        let mut queries = Vec::new();
        for word in tokens.split(splits) {
            let is_single_character = word.iter().any(
                |p| matches!(p, PatternToken::Char(c) if analysis::is_single_character_word(*c)),
            );
            if has_wildcards(word) && !is_single_character {
                let pattern = pattern(word);
                if !matches_all(&pattern) {
                    self.words += 1;
                    self.expansions += 1;
                    queries.push(field(path, FieldCondition::Wildcard(WildcardPattern(pattern))));
                }
            } else {
                queries.extend(self.words(&literal_text(word), path, fuzziness));
            }
        }
        self.combine(queries)
    }

    fn equals(&mut self, path: Option<&str>, scalar: ScalarValue) -> SearchQuery {
        self.words += 1;
        field(path, FieldCondition::Equals(scalar))
    }

    fn combine(&self, queries: Vec<SearchQuery>) -> Option<SearchQuery> {
        if self.options.all_required { all_of(queries, Vec::new()) } else { any_of(queries) }
    }
}

fn field(path: Option<&str>, condition: FieldCondition) -> SearchQuery {
    SearchQuery::Field { path: path.map(str::to_owned), condition }
}

/// Returns whether all tokens are `*`.
fn matches_all(tokens: &[PatternToken]) -> bool {
    tokens.iter().all(|token| *token == PatternToken::AnyChars)
}

fn has_wildcards(tokens: &[PatternToken]) -> bool {
    tokens.iter().any(|token| !matches!(token, PatternToken::Char(_)))
}

fn literal_text(tokens: &[PatternToken]) -> String {
    let character = |token: &PatternToken| match token {
        PatternToken::Char(c) => *c,
        PatternToken::AnyChar => '?',
        PatternToken::AnyChars => '*',
    };
    tokens.iter().map(character).collect()
}

/// Normalizes the parts of a word between wildcards; `**` becomes `*`.
fn pattern(word: &[PatternToken]) -> Vec<PatternToken> {
    let mut tokens = Vec::with_capacity(word.len());
    for part in
        word.chunk_by(|a, b| matches!((a, b), (PatternToken::Char(_), PatternToken::Char(_))))
    {
        match part {
            [PatternToken::AnyChars] if tokens.last() == Some(&PatternToken::AnyChars) => {}
            [wildcard @ (PatternToken::AnyChar | PatternToken::AnyChars)] => tokens.push(*wildcard),
            _ => {
                let mut folded = String::new();
                analysis::fold(&literal_text(part), &mut folded);
                tokens.extend(folded.chars().map(PatternToken::Char));
            }
        }
    }
    tokens
}

fn bound(path: &str, text: &str, is_lower: bool, is_inclusive: bool) -> Parsed<Bound<Value>> {
    let text = text.trim();
    let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let bound = unescape(quoted.unwrap_or(text));
    let value = || bound_value(path, &bound, is_lower == is_inclusive);
    match text {
        "*" => Ok(Bound::Unbounded),
        "" => Err(SyntaxError),
        _ if is_inclusive => Ok(Bound::Included(value())),
        _ => Ok(Bound::Excluded(value())),
    }
}

/// The value of a bound. Dates of objects are whole seconds, so a date with a fraction is rounded up for
/// `>=` and `<`, and down for `>` and `<=`.
fn bound_value(path: &str, text: &str, rounds_up: bool) -> Value {
    let number = ScalarValue::parse(text).filter(|scalar| !matches!(scalar, ScalarValue::Bool(_)));
    let seconds = |at: Timestamp| if rounds_up { at.seconds_rounded_up() } else { at.seconds() };
    let date = timestamp(path, text).map(|at| ScalarValue::Integer(seconds(at)));
    Value { text: text.to_lowercase(), number: date.or(number) }
}

/// Returns whether a text has the form of a date, as properties store it.
fn is_date(text: &str) -> bool {
    dates::parse_date(text).is_some()
}

/// Matches date-times on a day. In their text, the day and the hour form one word (`22t10`), so the phrase of the
/// date does not match them.
fn on_day(text: &str, path: Option<&str>) -> Option<SearchQuery> {
    let bound = |next: char| Value { text: format!("{text}{next}"), number: None };
    let condition = || FieldCondition::Range {
        from: Bound::Included(bound('t')),
        to: Bound::Excluded(bound('u')),
    };
    (text.len() == DATE_WITHOUT_TIME_BYTES).then(|| field(path, condition()))
}

/// Returns whether a text is the complete value of a field rather than words of it.
fn is_value(text: &str) -> bool {
    ScalarValue::parse(text).is_some() || is_date(text) || link::parse(text).is_some()
}

/// Adds a condition on the number if a text of several words is one, such as `12.5`: a search with `fields` compares
/// it with the values of these fields. A condition on a single word already covers numbers.
fn or_number(words: Option<SearchQuery>, text: &str, path: Option<&str>) -> Option<SearchQuery> {
    let equal = ScalarValue::parse(text).map(|scalar| field(path, FieldCondition::Equals(scalar)));
    any_of(words.into_iter().chain(equal).collect())
}

/// Parses the date of a field that holds seconds.
fn date(path: &str, text: &str) -> Option<ScalarValue> {
    timestamp(path, text).map(|at| ScalarValue::Integer(at.seconds()))
}

fn timestamp(path: &str, text: &str) -> Option<Timestamp> {
    DATES.contains(&path).then(|| dates::parse_lenient(text)).flatten()
}
