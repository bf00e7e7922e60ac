//! Passes the words of [`cms_model::search::analysis`] to the engine, each with the suffix of
//! [`cms_model::search::word`].

use cms_model::search::{analysis, word};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// Splits texts into words.
#[derive(Clone, Default)]
pub(super) struct WordTokenizer {
    token: Token,
}

/// The words of one text.
pub(super) struct Words<'a> {
    /// None for [`word::long_text`], which has no words.
    text: Option<&'a str>,
    suffix: String,
    is_long_text: bool,
    token: &'a mut Token,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = Words<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Words<'a> {
        self.token.reset();
        let (suffix, text) = word::decode(text);
        Words { text, suffix, is_long_text: text.is_none(), token: &mut self.token }
    }
}

impl TokenStream for Words<'_> {
    fn advance(&mut self) -> bool {
        if let Some(text) = self.text {
            let Some(range) = analysis::next_word(text, self.token.offset_to, &mut self.token.text)
            else {
                return false;
            };
            self.token.offset_from = range.start;
            self.token.offset_to = range.end;
        } else if !std::mem::take(&mut self.is_long_text) {
            return false;
        }
        self.token.text.push_str(&self.suffix);
        // The position of a reset token is the greatest number: the first word wraps to 0.
        self.token.position = self.token.position.wrapping_add(1);
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokenizer_resets_for_every_text() {
        let mut tokenizer = WordTokenizer::default();
        let mut words = |encoded: &str| {
            let mut found = Vec::new();
            let mut words = tokenizer.token_stream(encoded);
            words.process(&mut |token| found.push((token.position, token.text.clone())));
            found
        };
        for _ in 0..2 {
            let found = words(&word::text("title", "Hello, 日本!"));
            let wanted = ["hello", "日", "本"].map(|text| word::entry("title", text));
            assert_eq!(found, wanted.into_iter().enumerate().collect::<Vec<_>>());
            assert_eq!(words(&word::long_text("body")), [(0, word::entry("body", ""))]);
        }
    }
}
