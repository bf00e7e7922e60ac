//! The encoding of words in the term dictionary of the index: the word, a separator, and the path.
//!
//! So one dictionary serves searches with and without a field: a word at a path is one entry, a
//! word at any path is a range of entries. A text is passed to the engine with its path as prefix;
//! the tokenizer appends the path to every word.

/// Separator of word and path for text that a search without a field finds.
const SEARCHABLE: char = '\0';
/// Separator of word and path for text that only a condition on the path finds.
const FIELD_ONLY: char = '\u{1}';
/// Characters that neither paths nor words contain. The engine uses the same ones in its paths: U+0001
/// between segments, U+0000 at the end.
pub const SEPARATORS: [char; 2] = [SEARCHABLE, FIELD_ONLY];

/// Prefix of the paths of `internal`.
pub const INTERNAL: &str = "internal.";

/// Encodes a text at a path for the engine.
pub fn text(path: &str, text: &str) -> String {
    format!("{path}{SEARCHABLE}{text}")
}

/// Encodes the text of a number or a boolean for the engine. Its words have no path: conditions
/// compare the value.
pub fn scalar(text: &str) -> String {
    format!("{SEARCHABLE}{text}")
}

/// Encodes a marker for the engine: the path has a text that is too long to index as one value.
pub fn long_text(path: &str) -> String {
    format!("{path}{FIELD_ONLY}")
}

/// Decodes an encoded text: the suffix of its words, and the text; none for [`long_text`].
pub fn decode(encoded: &str) -> (String, Option<&str>) {
    match encoded.split_once(SEPARATORS) {
        Some((path, text)) => {
            let is_text = encoded[path.len()..].starts_with(SEARCHABLE);
            (suffix(path), is_text.then_some(text))
        }
        None => (suffix(""), Some(encoded)),
    }
}

/// The part of an entry after the word: a separator and the path.
pub fn suffix(path: &str) -> String {
    let separator = if path.starts_with(INTERNAL) { FIELD_ONLY } else { SEARCHABLE };
    format!("{separator}{path}")
}

/// The entry of a word at a path.
#[cfg(any(test, feature = "testing"))]
pub fn entry(path: &str, word: &str) -> String {
    word.to_owned() + &suffix(path)
}

/// The range of entries of a word at any path.
pub fn entry_range(word: &str) -> (String, String) {
    (format!("{word}{SEARCHABLE}"), format!("{word}{FIELD_ONLY}"))
}

/// Splits an entry into the word and its suffix.
pub fn split(entry: &str) -> (&str, &str) {
    entry.find(SEPARATORS).map_or((entry, ""), |at| entry.split_at(at))
}

/// Returns whether searches without a field find entries with this separator; none if the byte is no
/// separator.
pub fn separator_is_searchable(byte: u8) -> Option<bool> {
    match char::from(byte) {
        SEARCHABLE => Some(true),
        FIELD_ONLY => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_texts_are_decoded() {
        let table = [
            (text("title", "a b"), (suffix("title"), Some("a b"))),
            (text("title", "a\0b\u{1}"), (suffix("title"), Some("a\0b\u{1}"))),
            (text("internal.status", "x"), (suffix("internal.status"), Some("x"))),
            (scalar("12"), (suffix(""), Some("12"))),
            (long_text("body"), (suffix("body"), None)),
        ];
        for (encoded, wanted) in table {
            assert_eq!(decode(&encoded), wanted, "{encoded:?}");
        }
    }

    #[test]
    fn entry_range_contains_all_paths_except_internal_ones() {
        let (first, last) = entry_range("word");
        let is_between = |entry: &str| *first <= *entry && *entry < *last;
        for path in ["", "title", "a.b"] {
            assert!(is_between(&entry(path, "word")), "{path}");
            assert_eq!(split(&entry(path, "word")), ("word", &*suffix(path)));
        }
        assert!(!is_between(&entry("internal.status", "word")));
        assert!(!is_between(&entry("title", "words")));
        assert!(!is_between(&entry("title", "wor")));
    }
}
