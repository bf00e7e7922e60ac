//! Words that expand to many terms: wildcards, and fuzzy words.
//!
//! Both scan the dictionary with an automaton for the word, and one for the path behind it.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use cms_model::search::{
    query::{PatternToken, WildcardPattern},
    word,
};
use tantivy::{
    DocId, Score, Searcher, SegmentReader, Term,
    query::{
        AutomatonWeight, EmptyScorer, EnableScoring, Explanation, FuzzyTermQuery, Query, Scorer,
        Weight,
    },
    schema::Field,
};
use tantivy_fst::Automaton;

use super::deadline::Deadline;

/// Maximum number of words that a fuzzy word expands to and that are scored by their similarity.
const MAX_WEIGHTED_TERMS: usize = 50;

/// Maximum edit distance that the engine supports.
const MAX_EDIT_DISTANCE: u8 = 2;

/// Matches objects with a word that matches a pattern; all scores are 1.
#[derive(Clone)]
pub(super) struct WildcardQuery {
    field: Field,
    words: Arc<Entries<Wildcard>>,
    deadline: Deadline,
}

impl WildcardQuery {
    /// Without a path, the query finds words in all text.
    pub(super) fn new(
        field: Field,
        path: Option<&str>,
        pattern: &WildcardPattern,
        deadline: Deadline,
    ) -> Self {
        Self { field, words: Arc::new(Entries::new(Wildcard::new(pattern), path)), deadline }
    }
}

impl std::fmt::Debug for WildcardQuery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WildcardQuery").field("field", &self.field).finish_non_exhaustive()
    }
}

impl Query for WildcardQuery {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let words = AutomatonWeight::new(self.field, Arc::clone(&self.words));
        Ok(Box::new(WildcardWeight { words, deadline: self.deadline }))
    }
}

/// Scans the dictionaries of segments until the deadline.
struct WildcardWeight {
    words: AutomatonWeight<Entries<Wildcard>>,
    deadline: Deadline,
}

impl Weight for WildcardWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        if self.deadline.is_over() {
            return Ok(Box::new(EmptyScorer));
        }
        self.words.scorer(reader, boost)
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        self.words.explain(reader, doc)
    }
}

/// A dictionary entry that a fuzzy word matches.
#[derive(Debug, PartialEq)]
pub(super) struct FuzzyMatch {
    /// The word with its suffix.
    pub(super) entry: String,
    /// Similarity of the word: 1 for the word itself.
    pub(super) similarity: f32,
    /// Number of documents that contain it.
    pub(super) frequency: u64,
}

/// The expansion of a fuzzy word.
pub(super) struct FuzzyMatches {
    /// The closest and most frequent words.
    pub(super) best: Vec<FuzzyMatch>,
    /// Entries of all other words.
    pub(super) others: Vec<String>,
}

/// Finds the words within an edit distance of `word`; without a path, in any text.
///
/// A transposition of two adjacent characters is one edit.
pub(super) fn fuzzy_matches(
    searcher: &Searcher,
    field: Field,
    path: Option<&str>,
    word: &str,
    edits: u8,
    deadline: Deadline,
) -> tantivy::Result<FuzzyMatches> {
    let query =
        FuzzyTermQuery::new(Term::from_field_text(field, word), edits.min(MAX_EDIT_DISTANCE), true);
    let entries = Entries::new(query.automaton()?, path);
    // By word: its entries, and the frequency of each.
    let mut words: HashMap<String, BTreeMap<String, u64>> = HashMap::new();
    for reader in searcher.segment_readers() {
        if deadline.is_over() {
            break;
        }
        let index = reader.inverted_index(field)?;
        let mut stream = index.terms().search(&entries).into_stream()?;
        while let Some((entry, info)) = stream.next() {
            let Ok(entry) = std::str::from_utf8(entry) else { continue };
            let found = words.entry(word::split(entry).0.to_owned()).or_default();
            *found.entry(entry.to_owned()).or_default() += u64::from(info.doc_freq);
        }
    }
    let mut found: Vec<_> = words
        .into_iter()
        .map(|(found, entries)| {
            let frequency: u64 = entries.values().sum();
            (strsim::osa_distance(word, &found), Reverse(frequency), entries)
        })
        .collect();
    found.sort_unstable();
    let others = found.split_off(found.len().min(MAX_WEIGHTED_TERMS));
    let length = word.chars().count().max(1);
    #[expect(clippy::cast_precision_loss, reason = "lengths of words")]
    let similarity = |distance: usize| 1.0 - distance.min(length - 1) as f32 / length as f32;
    let best = found.into_iter().flat_map(|(distance, _, entries)| {
        let similarity = similarity(distance);
        let fuzzy_match = move |(entry, frequency)| FuzzyMatch { entry, similarity, frequency };
        entries.into_iter().map(fuzzy_match)
    });
    let others = others.into_iter().flat_map(|(_, _, entries)| entries.into_keys());
    Ok(FuzzyMatches { best: best.collect(), others: others.collect() })
}

/// Dictionary entries whose word an automaton matches.
struct Entries<A> {
    word: A,
    /// The suffix that must follow the word: separator and path. None accepts all paths at which
    /// conditions without a path find words.
    suffix: Option<Vec<u8>>,
}

impl<A> Entries<A> {
    fn new(word: A, path: Option<&str>) -> Self {
        Self { word, suffix: path.map(|path| word::suffix(path).into_bytes()) }
    }
}

#[derive(Clone)]
enum EntryState<S> {
    Word(S),
    /// Number of matched bytes of the suffix.
    Suffix(usize),
    /// Any suffix matches.
    Anywhere,
    /// No continuation matches.
    Dead,
}

impl<A: Automaton> Automaton for Entries<A> {
    type State = EntryState<A::State>;

    fn start(&self) -> Self::State {
        EntryState::Word(self.word.start())
    }

    fn is_match(&self, state: &Self::State) -> bool {
        match state {
            EntryState::Suffix(matched) => {
                self.suffix.as_ref().is_some_and(|suffix| suffix.len() == *matched)
            }
            EntryState::Anywhere => true,
            EntryState::Word(_) | EntryState::Dead => false,
        }
    }

    fn can_match(&self, state: &Self::State) -> bool {
        match state {
            EntryState::Word(state) => self.word.can_match(state),
            EntryState::Suffix(_) | EntryState::Anywhere => true,
            EntryState::Dead => false,
        }
    }

    fn will_always_match(&self, state: &Self::State) -> bool {
        matches!(state, EntryState::Anywhere)
    }

    fn accept(&self, state: &Self::State, byte: u8) -> Self::State {
        let follows = |at: usize| {
            let suffix = self.suffix.as_ref()?;
            (suffix.get(at) == Some(&byte)).then_some(EntryState::Suffix(at + 1))
        };
        match (state, word::separator_is_searchable(byte)) {
            (EntryState::Word(state), None) => EntryState::Word(self.word.accept(state, byte)),
            (EntryState::Word(state), Some(is_searchable)) if self.word.is_match(state) => {
                let anywhere =
                    (self.suffix.is_none() && is_searchable).then_some(EntryState::Anywhere);
                anywhere.or_else(|| follows(0)).unwrap_or(EntryState::Dead)
            }
            (EntryState::Suffix(matched), _) => follows(*matched).unwrap_or(EntryState::Dead),
            (EntryState::Anywhere, _) => EntryState::Anywhere,
            (EntryState::Word(_), Some(_)) | (EntryState::Dead, _) => EntryState::Dead,
        }
    }
}

/// A pattern as a nondeterministic automaton, with one bit per state: bit `n` is set when the first
/// `n` characters of the pattern are matched. So the number of states is linear in the pattern.
struct Wildcard {
    /// By character of the pattern: the bits of the states with a transition on it.
    chars: HashMap<char, u128>,
    /// The states with a transition on any character (`?`).
    any: u128,
    /// The states that loop on any character (`*`).
    stays: u128,
    accepting: u128,
}

impl Wildcard {
    /// Longer patterns match nothing: words are rarely that long.
    const MAX_CHARS: u32 = 127;

    fn new(pattern: &WildcardPattern) -> Self {
        let mut automaton = Self { chars: HashMap::new(), any: 0, stays: 0, accepting: 0 };
        let mut length = 0;
        for piece in &pattern.0 {
            let state = 1_u128.checked_shl(length).unwrap_or(0);
            match piece {
                PatternToken::Char(char) => *automaton.chars.entry(*char).or_default() |= state,
                PatternToken::AnyChar => automaton.any |= state,
                PatternToken::AnyChars => automaton.stays |= state,
            }
            if *piece != PatternToken::AnyChars {
                length += 1;
            }
        }
        if length <= Self::MAX_CHARS {
            automaton.accepting = 1 << length;
        }
        automaton
    }
}

/// The states after some characters, and the bytes of an incomplete character.
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

    fn is_like(pieces: &[PatternToken], text: &[char]) -> bool {
        match (pieces, text) {
            ([], []) => true,
            ([PatternToken::AnyChars, rest @ ..], _) => {
                (0..=text.len()).any(|skipped| is_like(rest, &text[skipped..]))
            }
            ([PatternToken::AnyChar, rest @ ..], [_, text @ ..]) => is_like(rest, text),
            ([PatternToken::Char(a), rest @ ..], [b, text @ ..]) => a == b && is_like(rest, text),
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
        fn wildcards_agree_with_a_plain_matcher(
            pieces in prop::collection::vec(
                select(vec![
                    PatternToken::Char('a'), PatternToken::Char('é'), PatternToken::Char('😀'), PatternToken::AnyChar, PatternToken::AnyChars,
                ]),
                0..8,
            ),
            text in "[aé😀b]{0,7}",
        ) {
            let chars: Vec<char> = text.chars().collect();
            let expected = is_like(&pieces, &chars);
            let like = |path| Entries::new(Wildcard::new(&WildcardPattern(pieces.clone())), path);
            let entry = |path| word::entry(path, &text).into_bytes();
            for path in ["title", "internal.status"] {
                prop_assert_eq!(accepts(&like(Some(path)), &entry(path)), expected);
                prop_assert!(!accepts(&like(Some("other")), &entry(path)));
                prop_assert!(!accepts(&like(Some("titles")), &entry(path)));
            }
            prop_assert_eq!(accepts(&like(None), &entry("title")), expected);
            prop_assert!(!accepts(&like(None), &entry("internal.status")));
            prop_assert!(!accepts(&like(None), text.as_bytes()));
        }
    }

    #[test]
    fn patterns_match_up_to_127_characters() {
        for length in [126, 127, 128, 129, 1000] {
            let pattern = WildcardPattern(vec![PatternToken::AnyChar; length]);
            let text = vec![b'a'; length];
            assert_eq!(accepts(&Wildcard::new(&pattern), &text), length <= 127, "{length}");
        }
    }
}
