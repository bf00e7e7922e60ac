//! Words that stand for many: wildcards, and words with typing errors.
//!
//! Both walk the dictionary of words with an automaton. Words of a property follow the path of the
//! property there, so the automaton first walks through that.

use std::{cmp::Reverse, collections::HashMap, sync::Arc};

use tantivy::{
    Searcher, Term,
    query::{AutomatonWeight, EnableScoring, FuzzyTermQuery, Query, Weight},
    schema::Field,
};
use tantivy_fst::Automaton;

use super::query::{Pattern, Piece};

/// Most words that one word with typing errors stands for.
const SPELLINGS: usize = 50;

/// Most typing errors, as the engine can count.
const EDITS: u8 = 2;

/// Objects with a word like a pattern; all score 1.
#[derive(Clone)]
pub(super) struct WildcardQuery {
    field: Field,
    words: Arc<After<Wildcard>>,
}

impl WildcardQuery {
    /// `before` is what stands before the words of the property in the dictionary.
    pub(super) fn new(field: Field, before: &[u8], pattern: &Pattern) -> Self {
        let words = After { before: before.to_vec(), rest: Wildcard::new(pattern) };
        Self { field, words: Arc::new(words) }
    }
}

impl std::fmt::Debug for WildcardQuery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WildcardQuery").field("field", &self.field).finish_non_exhaustive()
    }
}

impl Query for WildcardQuery {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(AutomatonWeight::<After<Wildcard>>::new(self.field, Arc::clone(&self.words))))
    }
}

/// A word of the index that a word with typing errors may mean.
#[derive(Debug, PartialEq)]
pub(super) struct Spelling {
    pub(super) word: String,
    /// How much of the word is right: 1 for the word itself.
    pub(super) closeness: f32,
}

/// Finds the words within some typing errors of `word`, the closest and most frequent of them.
///
/// Two neighbours that changed places are one error.
pub(super) fn spellings(
    searcher: &Searcher,
    field: Field,
    before: &[u8],
    word: &str,
    edits: u8,
) -> tantivy::Result<Vec<Spelling>> {
    let query = FuzzyTermQuery::new(Term::from_field_text(field, word), edits.min(EDITS), true);
    let words = After { before: before.to_vec(), rest: query.automaton()? };
    let mut frequencies: HashMap<String, u64> = HashMap::new();
    for reader in searcher.segment_readers() {
        let index = reader.inverted_index(field)?;
        let mut stream = index.terms().search(&words).into_stream()?;
        while let Some((key, info)) = stream.next() {
            if let Ok(found) = std::str::from_utf8(&key[before.len()..]) {
                *frequencies.entry(found.to_owned()).or_default() += u64::from(info.doc_freq);
            }
        }
    }
    let mut found: Vec<(usize, Reverse<u64>, String)> = frequencies
        .into_iter()
        .map(|(found, frequency)| (strsim::osa_distance(word, &found), Reverse(frequency), found))
        .collect();
    found.sort_unstable();
    found.truncate(SPELLINGS);
    let length = word.chars().count().max(1);
    #[expect(clippy::cast_precision_loss, reason = "lengths of words")]
    let closeness = |distance: usize| 1.0 - distance.min(length - 1) as f32 / length as f32;
    Ok(found
        .into_iter()
        .map(|(distance, _, word)| Spelling { closeness: closeness(distance), word })
        .collect())
}

/// What an automaton matches, after a fixed beginning.
struct After<A> {
    before: Vec<u8>,
    rest: A,
}

#[derive(Clone)]
enum Place<S> {
    /// So many bytes of the beginning are there.
    Before(usize),
    Rest(S),
    /// Another beginning.
    Elsewhere,
}

impl<A: Automaton> After<A> {
    fn place(&self, matched: usize) -> Place<A::State> {
        if matched == self.before.len() {
            Place::Rest(self.rest.start())
        } else {
            Place::Before(matched)
        }
    }
}

impl<A: Automaton> Automaton for After<A> {
    type State = Place<A::State>;

    fn start(&self) -> Self::State {
        self.place(0)
    }

    fn is_match(&self, state: &Self::State) -> bool {
        matches!(state, Place::Rest(state) if self.rest.is_match(state))
    }

    fn can_match(&self, state: &Self::State) -> bool {
        match state {
            Place::Before(_) => true,
            Place::Rest(state) => self.rest.can_match(state),
            Place::Elsewhere => false,
        }
    }

    fn accept(&self, state: &Self::State, byte: u8) -> Self::State {
        match state {
            Place::Before(matched) if self.before[*matched] == byte => self.place(matched + 1),
            Place::Rest(state) => Place::Rest(self.rest.accept(state, byte)),
            Place::Before(_) | Place::Elsewhere => Place::Elsewhere,
        }
    }
}

/// A pattern as an automaton that is in several states at once, one bit each: bit `n` is set when
/// the first `n` characters of the pattern are matched. The number of its states thus never
/// explodes, whatever the pattern.
struct Wildcard {
    /// By character of the pattern: the bits of the states that it leads out of.
    chars: HashMap<char, u128>,
    /// The states that any character leads out of (`?`).
    any: u128,
    /// The states that stay while any characters pass (`*`).
    stays: u128,
    accepting: u128,
}

impl Wildcard {
    /// Longer patterns match nothing: hardly a word is as long.
    const MAX_CHARS: u32 = 127;

    fn new(pattern: &Pattern) -> Self {
        let mut automaton = Self { chars: HashMap::new(), any: 0, stays: 0, accepting: 0 };
        let mut length = 0;
        for piece in &pattern.0 {
            let state = 1_u128.checked_shl(length).unwrap_or(0);
            match piece {
                Piece::Char(char) => *automaton.chars.entry(*char).or_default() |= state,
                Piece::One => automaton.any |= state,
                Piece::Many => automaton.stays |= state,
            }
            if *piece != Piece::Many {
                length += 1;
            }
        }
        if length <= Self::MAX_CHARS {
            automaton.accepting = 1 << length;
        }
        automaton
    }
}

/// The states after some characters, and the bytes of one that is not complete.
#[derive(Clone, Copy)]
struct States {
    bits: u128,
    bytes: [u8; 4],
    length: usize,
}

impl Automaton for Wildcard {
    type State = States;

    fn start(&self) -> States {
        States { bits: 1, bytes: [0; 4], length: 0 }
    }

    fn is_match(&self, states: &States) -> bool {
        states.length == 0 && states.bits & self.accepting != 0
    }

    fn can_match(&self, states: &States) -> bool {
        states.bits != 0
    }

    fn accept(&self, states: &States, byte: u8) -> States {
        let mut next = *states;
        if next.length == next.bytes.len() {
            return States { bits: 0, ..next };
        }
        next.bytes[next.length] = byte;
        next.length += 1;
        let text = std::str::from_utf8(&next.bytes[..next.length]);
        if let Some(char) = text.ok().and_then(|text| text.chars().next()) {
            let leads_out = self.any | self.chars.get(&char).copied().unwrap_or(0);
            next.bits = (next.bits & self.stays) | (next.bits & leads_out) << 1;
            next.length = 0;
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, sample::select};

    use super::*;

    fn is_like(pieces: &[Piece], text: &[char]) -> bool {
        match (pieces, text) {
            ([], []) => true,
            ([Piece::Many, rest @ ..], _) => {
                (0..=text.len()).any(|skipped| is_like(rest, &text[skipped..]))
            }
            ([Piece::One, rest @ ..], [_, text @ ..]) => is_like(rest, text),
            ([Piece::Char(a), rest @ ..], [b, text @ ..]) => a == b && is_like(rest, text),
            _ => false,
        }
    }

    fn accepts<A: Automaton>(automaton: &A, bytes: &[u8]) -> bool {
        let mut state = automaton.start();
        for byte in bytes {
            let could_match = automaton.can_match(&state);
            state = automaton.accept(&state, *byte);
            assert!(could_match || !automaton.can_match(&state), "no way back");
        }
        automaton.is_match(&state)
    }

    proptest! {
        #[test]
        fn wildcards_match_what_they_say(
            pieces in prop::collection::vec(
                select(vec![
                    Piece::Char('a'), Piece::Char('é'), Piece::Char('😀'), Piece::One, Piece::Many,
                ]),
                0..8,
            ),
            text in "[aé😀b]{0,7}",
        ) {
            let chars: Vec<char> = text.chars().collect();
            let expected = is_like(&pieces, &chars);
            let words = After { before: b"path\0s".to_vec(), rest: Wildcard::new(&Pattern(pieces)) };
            prop_assert_eq!(accepts(&words, format!("path\0s{text}").as_bytes()), expected);
            let elsewhere = format!("pa\0s{text}");
            prop_assert!(!accepts(&words, elsewhere.as_bytes()));
            prop_assert!(!accepts(&words, b"path"));
        }
    }

    #[test]
    fn no_pattern_is_too_long_to_be_asked() {
        for length in [126, 127, 128, 129, 1000] {
            let pattern = Pattern(vec![Piece::One; length]);
            let text = vec![b'a'; length];
            assert_eq!(accepts(&Wildcard::new(&pattern), &text), length <= 127, "{length}");
        }
    }
}
