//! Splits texts into words: lower case, letters and digits, accents kept (see
//! docs/reference/search.md#words).
//!
//! The tokenizer of the search engine calls this module; `markup` extracts the visible text first.

mod markup;
#[cfg(test)]
mod tests;

use unicode_normalization::{
    IsNormalized, UnicodeNormalization, char::is_combining_mark, is_nfc_quick,
};

pub use markup::{Markup, plain_text};

/// The byte range of a word in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

/// Finds the next word of a text at or after a byte position, and writes it to `word`.
///
/// A word is a sequence of letters and digits. In scripts without blanks between words, every
/// character is a word; the spans of such words are adjacent.
pub fn next_word(text: &str, from: usize, word: &mut String) -> Option<Span> {
    word.clear();
    let start = from + text[from..].find(|c: char| c.is_alphanumeric() && !is_mark(c))?;
    let rest = &text[start..];
    // Fast path: most words are ASCII.
    let bytes = rest.as_bytes();
    let length = bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let length =
        if bytes.get(length).is_none_or(u8::is_ascii) { length } else { word_length(rest) };
    fold(&rest[..length], word);
    Some(Span { start, end: start + length })
}

/// Returns the words of a text.
pub fn words(text: &str) -> impl Iterator<Item = (Span, String)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let mut word = String::new();
        let span = next_word(text, from, &mut word)?;
        from = span.end;
        Some((span, word))
    })
}

/// Returns the length of the word that a text starts with.
fn word_length(text: &str) -> usize {
    let is_single = text.starts_with(is_single_character_word);
    let mut others = text.char_indices().skip(1);
    let end = others.find(|(_, c)| {
        !is_mark(*c) && (is_single || is_single_character_word(*c) || !c.is_alphanumeric())
    });
    end.map_or(text.len(), |(at, _)| at)
}

/// Appends a text in normalized form: lower case, composed, without invisible characters.
pub fn fold(text: &str, out: &mut String) {
    let from = out.len();
    if text.is_ascii() {
        out.push_str(text);
        out[from..].make_ascii_lowercase();
        return;
    }
    for c in text.chars().filter(|c| !is_invisible(*c)) {
        out.extend(c.to_lowercase().map(|c| if c == 'ς' { 'σ' } else { c }));
    }
    if is_nfc_quick(out[from..].chars()) != IsNormalized::Yes {
        let composed: String = out[from..].nfc().collect();
        out.truncate(from);
        out.push_str(&composed);
    }
}

/// Whether a character can be part of a word.
pub fn is_word_character(c: char) -> bool {
    c.is_alphanumeric() || is_mark(c)
}

/// Whether a character always belongs to the word before it.
fn is_mark(c: char) -> bool {
    !c.is_ascii() && (is_combining_mark(c) || is_invisible(c))
}

/// Soft hyphens, joiners and variation selectors: inside words, but not part of their spelling.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{fe00}'..='\u{fe0f}')
}

/// Whether a character is a word of its own, because its script has no blanks between words:
/// Thai, Lao, Myanmar, Khmer, the Japanese syllabaries, Bopomofo, and Chinese characters.
pub fn is_single_character_word(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{312f}'
        | '\u{31a0}'..='\u{31bf}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}'
        | '\u{20000}'..='\u{3ffff}')
}
