//! Words as they stand in the index: the word itself, then the path where it was found.
//!
//! So one entry of the dictionary serves words with and without a field: `word` at a path is one
//! entry, `word` anywhere is all entries that begin with it. A text is handed to the engine with its
//! path before it; the tokenizer of cms-search puts the path behind every word.

/// Ends a word that is found without naming its path.
const ANYWHERE: char = '\0';
/// Ends a word that only a condition on its path finds.
const ONLY_THERE: char = '\u{1}';
/// Characters that no path and no word has.
pub const SEPARATORS: [char; 2] = [ANYWHERE, ONLY_THERE];

/// How the paths of what the server knows about objects begin.
pub const INTERNAL: &str = "internal.";

/// A text at a path, for the engine.
pub fn text(path: &str, text: &str) -> String {
    format!("{path}{ANYWHERE}{text}")
}

/// How a number or a boolean reads, for the engine. Its words have no path: conditions on one
/// compare the value.
pub fn scalar(text: &str) -> String {
    format!("{ANYWHERE}{text}")
}

/// Says that there is a text at a path, for the engine; it stands for texts that are too long to be
/// a whole value.
pub fn presence(path: &str) -> String {
    format!("{path}{ONLY_THERE}")
}

/// What the engine was handed: the ending of its words, and the text; none when only its presence
/// is told.
pub fn read(handed: &str) -> (String, Option<&str>) {
    match handed.split_once(SEPARATORS) {
        Some((path, text)) => {
            let is_text = handed[path.len()..].starts_with(ANYWHERE);
            (ending(path), is_text.then_some(text))
        }
        None => (ending(""), Some(handed)),
    }
}

/// What follows a word at a path.
pub fn ending(path: &str) -> String {
    let separator = if path.starts_with(INTERNAL) { ONLY_THERE } else { ANYWHERE };
    format!("{separator}{path}")
}

/// A word at a path, as it stands in the dictionary.
#[cfg(any(test, feature = "testing"))]
pub fn at(path: &str, word: &str) -> String {
    word.to_owned() + &ending(path)
}

/// The first and the last part of the dictionary between which a word stands, wherever it was found.
pub fn anywhere(word: &str) -> (String, String) {
    (format!("{word}{ANYWHERE}"), format!("{word}{ONLY_THERE}"))
}

/// The word of an entry of the dictionary, and the ending behind it.
pub fn split(entry: &str) -> (&str, &str) {
    entry.find(SEPARATORS).map_or((entry, ""), |at| entry.split_at(at))
}

/// Tells whether a byte of an entry ends its word, and whether it is then found anywhere.
pub fn ends_word(byte: u8) -> Option<bool> {
    match char::from(byte) {
        ANYWHERE => Some(true),
        ONLY_THERE => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_handed_over_is_read_back() {
        let table = [
            (text("title", "a b"), (ending("title"), Some("a b"))),
            (text("title", "a\0b\u{1}"), (ending("title"), Some("a\0b\u{1}"))),
            (text("internal.status", "x"), (ending("internal.status"), Some("x"))),
            (scalar("12"), (ending(""), Some("12"))),
            (presence("body"), (ending("body"), None)),
        ];
        for (handed, wanted) in table {
            assert_eq!(read(&handed), wanted, "{handed:?}");
        }
    }

    #[test]
    fn a_word_anywhere_is_all_of_its_paths_but_internal_ones() {
        let (first, last) = anywhere("word");
        let is_between = |entry: &str| *first <= *entry && *entry < *last;
        for path in ["", "title", "a.b"] {
            assert!(is_between(&at(path, "word")), "{path}");
            assert_eq!(split(&at(path, "word")), ("word", &*ending(path)));
        }
        assert!(!is_between(&at("internal.status", "word")));
        assert!(!is_between(&at("title", "words")));
        assert!(!is_between(&at("title", "wor")));
    }
}
