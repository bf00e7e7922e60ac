//! What operators stand between: words, phrases, wildcards, ranges.

use std::ops::Bound;

use super::{
    cursor::{Cursor, Read, Unreadable, unescaped},
    grammar::{Reading, all_of, any_of, boosted},
};
use crate::{
    dates, limits,
    object::link,
    search::{
        analysis::{self, Markup},
        query::{Pattern, Piece, Query, Scalar, Test, Value},
    },
};

/// How words are taken that say nothing themselves.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Terms {
    /// All are needed, not any.
    pub(super) needs_all: bool,
    pub(super) typing: Typing,
}

/// How many typing errors a word may have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Typing {
    #[default]
    Exact,
    /// 0, 1 or 2 for lengths up to 2, 5 and above.
    ByLength,
    Edits(u8),
}

/// Fields that hold seconds since the epoch, and are asked for by dates (contract 1.6).
const DATES: [&str; 5] = [
    "internal.createdAt",
    "internal.updatedAt",
    "internal.publishedAt",
    "internal.workflowPublishedAt",
    "internal.scheduledAt",
];

impl Cursor<'_> {
    pub(super) fn reading(self, query: Option<Query>) -> Reading {
        Reading { query, words: self.words, expansions: self.expansions }
    }

    /// Reads the whole text if it is one value, although it may look like several words.
    pub(super) fn whole(&mut self, path: Option<&str>) -> Option<Query> {
        let text = self.text.trim();
        let is_value = path.is_some_and(|path| date(path, text).is_some())
            || path.is_some() && scalar(text).is_some()
            || link::parse(text).is_some();
        is_value.then(|| self.value(text, path, Typing::Exact)).flatten()
    }

    /// All words of the text, whatever else stands there.
    pub(super) fn literally(&mut self, path: Option<&str>) -> Option<Query> {
        let words = self.words(self.text, path, self.terms.typing);
        self.together(words)
    }

    /// Takes one word as it is written, which may be several.
    pub(super) fn term(&mut self, path: Option<&str>) -> Option<Query> {
        let raw = self.raw();
        let typing = raw.typing.unwrap_or(self.terms.typing);
        let query = if is_anything(&raw.pieces) && !raw.pieces.is_empty() {
            self.words += 1;
            Some(path.map_or(Query::All, |path| field(Some(path), Test::Exists)))
        } else if has_wildcards(&raw.pieces) && raw.pieces.len() <= limits::MAX_WILDCARD_WORD_CHARS
        {
            self.patterns(&raw.pieces, path, typing)
        } else {
            self.value(&written(&raw.pieces), path, typing)
        };
        query.map(|query| boosted(query, raw.boost))
    }

    /// Takes a phrase in quotes.
    pub(super) fn phrase(&mut self, path: Option<&str>) -> Read<Option<Query>> {
        let text = self.quoted()?;
        Ok(match path.and_then(|path| date(path, &text)) {
            Some(seconds) => Some(self.equals(path, seconds)),
            None if path.is_some() && scalar(&text).is_some() => {
                self.value(&text, path, Typing::Exact)
            }
            None => self.phrase_of(&text, path),
        })
    }

    /// The words of a text in a row.
    pub(super) fn phrase_of(&mut self, text: &str, path: Option<&str>) -> Option<Query> {
        let text = analysis::plain_text(text, Markup::Plain);
        let (mut row, mut word, mut from) = (Vec::new(), String::new(), 0);
        while let Some(place) = analysis::next_word(&text, from, &mut word) {
            row.push(word.clone());
            from = place.end;
        }
        (!row.is_empty()).then(|| self.row(row, path, Typing::Exact))
    }

    /// Takes `[from TO to]`, where `{` and `}` leave the bound out.
    pub(super) fn range(&mut self, path: &str) -> Read<Query> {
        let is_open = self.peek() == Some('{');
        let (inside, close) = self.bracketed()?;
        let (from, to) = inside.split_once(" TO ").ok_or(Unreadable)?;
        let (from, to) = (bound(path, from, !is_open)?, bound(path, to, close == ']')?);
        self.words += 1;
        let is_any = matches!((&from, &to), (Bound::Unbounded, Bound::Unbounded));
        let test = if is_any { Test::Exists } else { Test::Range { from, to } };
        Ok(field(Some(path), test))
    }

    /// Takes `>10`, `>=10`, `<10` or `<=10`.
    pub(super) fn comparison(&mut self, path: &str) -> Read<Query> {
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
            let raw = self.raw();
            (written(&raw.pieces), raw.boost)
        };
        if text.is_empty() {
            return Err(Unreadable);
        }
        self.words += 1;
        let value = value_of(path, &text);
        let bound = if is_inclusive { Bound::Included(value) } else { Bound::Excluded(value) };
        let (from, to) =
            if is_lower { (bound, Bound::Unbounded) } else { (Bound::Unbounded, bound) };
        Ok(boosted(field(Some(path), Test::Range { from, to }), boost))
    }

    /// The words of a text that was written as one; on a field it may be a value that is no text.
    fn value(&mut self, text: &str, path: Option<&str>, typing: Typing) -> Option<Query> {
        if let Some(seconds) = path.and_then(|path| date(path, text)) {
            return Some(self.equals(path, seconds));
        }
        if link::parse(text).is_some() {
            return self.phrase_of(text, path);
        }
        let Some(scalar_value) = path.and_then(|_| scalar(text)) else {
            let words = self.words(text, path, typing);
            return self.together(words);
        };
        // In a text the sign is no part of the word, but as a number the word is another one.
        let without_sign = text.strip_prefix('-').and_then(scalar);
        let not = without_sign.map(|scalar| field(path, Test::Equals(scalar)));
        let words = self
            .phrase_of(text, path)
            .and_then(|words| all_of(vec![words], not.into_iter().collect()));
        any_of(words.into_iter().chain([field(path, Test::Equals(scalar_value))]).collect())
    }

    fn words(&mut self, text: &str, path: Option<&str>, typing: Typing) -> Vec<Query> {
        let (mut queries, mut row, mut word, mut from) = (Vec::new(), Vec::new(), String::new(), 0);
        while let Some(place) = analysis::next_word(text, from, &mut word) {
            // Words without anything between them are found as they stand.
            if !row.is_empty() && place.start > from {
                queries.push(self.row(std::mem::take(&mut row), path, typing));
            }
            row.push(word.clone());
            from = place.end;
        }
        if !row.is_empty() {
            queries.push(self.row(row, path, typing));
        }
        queries
    }

    fn row(&mut self, mut row: Vec<String>, path: Option<&str>, typing: Typing) -> Query {
        self.words += row.len();
        if row.len() > 1 {
            return field(path, Test::Phrase(row));
        }
        let word = row.pop().unwrap_or_default();
        let edits = match (typing, word.chars().count()) {
            (_, limits::MAX_FUZZY_WORD_CHARS..)
            | (Typing::Exact, _)
            | (Typing::ByLength, 0..=2) => 0,
            (Typing::Edits(edits), _) => edits,
            (Typing::ByLength, 3..=5) => 1,
            (Typing::ByLength, _) => 2,
        };
        if edits == 0 {
            return field(path, Test::Word(word));
        }
        self.expansions += 1;
        field(path, Test::Fuzzy { word, edits })
    }

    /// Wildcards belong to one word. Where every character is a word they mean nothing.
    fn patterns(&mut self, pieces: &[Piece], path: Option<&str>, typing: Typing) -> Option<Query> {
        let splits =
            |piece: &Piece| matches!(piece, Piece::Char(c) if !analysis::is_word_character(*c));
        let mut queries = Vec::new();
        for word in pieces.split(splits) {
            let is_syllabic =
                word.iter().any(|p| matches!(p, Piece::Char(c) if analysis::stands_alone(*c)));
            if has_wildcards(word) && !is_syllabic {
                let pattern = pattern(word);
                if !is_anything(&pattern) {
                    self.words += 1;
                    self.expansions += 1;
                    queries.push(field(path, Test::Wildcard(Pattern(pattern))));
                }
            } else {
                queries.extend(self.words(&written(word), path, typing));
            }
        }
        self.together(queries)
    }

    fn equals(&mut self, path: Option<&str>, scalar: Scalar) -> Query {
        self.words += 1;
        field(path, Test::Equals(scalar))
    }

    fn together(&self, queries: Vec<Query>) -> Option<Query> {
        if self.terms.needs_all { all_of(queries, Vec::new()) } else { any_of(queries) }
    }
}

fn field(path: Option<&str>, test: Test) -> Query {
    Query::Field { path: path.map(str::to_owned), test }
}

/// Tells whether there is nothing but stars, or nothing at all.
fn is_anything(pieces: &[Piece]) -> bool {
    pieces.iter().all(|piece| *piece == Piece::Many)
}

fn has_wildcards(pieces: &[Piece]) -> bool {
    pieces.iter().any(|piece| !matches!(piece, Piece::Char(_)))
}

fn written(pieces: &[Piece]) -> String {
    let character = |piece: &Piece| match piece {
        Piece::Char(c) => *c,
        Piece::One => '?',
        Piece::Many => '*',
    };
    pieces.iter().map(character).collect()
}

/// Brings the parts of a word between wildcards into the form of words; `**` is `*`.
fn pattern(word: &[Piece]) -> Vec<Piece> {
    let mut pieces = Vec::with_capacity(word.len());
    for part in word.chunk_by(|a, b| matches!((a, b), (Piece::Char(_), Piece::Char(_)))) {
        match part {
            [Piece::Many] if pieces.last() == Some(&Piece::Many) => {}
            [wildcard @ (Piece::One | Piece::Many)] => pieces.push(*wildcard),
            _ => {
                let mut folded = String::new();
                analysis::fold(&written(part), &mut folded);
                pieces.extend(folded.chars().map(Piece::Char));
            }
        }
    }
    pieces
}

fn bound(path: &str, text: &str, is_inclusive: bool) -> Read<Bound<Value>> {
    let text = text.trim();
    let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let bound = unescaped(quoted.unwrap_or(text));
    match text {
        "*" => Ok(Bound::Unbounded),
        "" => Err(Unreadable),
        _ if is_inclusive => Ok(Bound::Included(value_of(path, &bound))),
        _ => Ok(Bound::Excluded(value_of(path, &bound))),
    }
}

fn value_of(path: &str, text: &str) -> Value {
    let number = scalar(text).filter(|scalar| !matches!(scalar, Scalar::Bool(_)));
    Value { text: text.to_lowercase(), number: date(path, text).or(number) }
}

/// Reads a date on a field that holds seconds.
fn date(path: &str, text: &str) -> Option<Scalar> {
    let date = DATES.contains(&path).then(|| dates::parse_lenient(text)).flatten()?;
    Some(Scalar::Integer(date.seconds()))
}

/// Reads a number or a boolean.
fn scalar(text: &str) -> Option<Scalar> {
    match text {
        "true" => return Some(Scalar::Bool(true)),
        "false" => return Some(Scalar::Bool(false)),
        _ => {}
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_decimal = |byte: u8| byte.is_ascii_digit() || b".eE+-".contains(&byte);
    if !digits.starts_with(|c: char| c.is_ascii_digit()) || !digits.bytes().all(is_decimal) {
        return None;
    }
    match text.parse() {
        Ok(integer) => Some(Scalar::Integer(integer)),
        Err(_) => text.parse().ok().filter(|number: &f64| number.is_finite()).map(Scalar::Number),
    }
}
