//! How texts become words (contract 6.2): lower case, letters and digits, accents kept.
//!
//! Knows no engine; [`super::tokenizer`] hands the words to it.

/// Where a word stands in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Finds the next word at or after a place in a text, and writes it into `word`, which is emptied
/// first.
pub(crate) fn next_word(text: &str, from: usize, word: &mut String) -> Option<Place> {
    word.clear();
    let start = from + text[from..].find(char::is_alphanumeric)?;
    let rest = &text[start..];
    let length = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
    word.extend(rest[..length].chars().flat_map(char::to_lowercase));
    Some(Place { start, end: start + length })
}

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Markup {
    /// As it is, but for tags that somebody put into it.
    Plain,
    Html,
    Markdown,
}

/// Returns what a reader of the text would see.
pub(crate) fn plain_text(text: &str, _markup: Markup) -> std::borrow::Cow<'_, str> {
    text.into()
}
