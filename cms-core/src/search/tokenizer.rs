//! The words of [`super::analysis`] as the engine takes them.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::analysis;

/// Cuts texts into words.
#[derive(Clone, Default)]
pub(super) struct WordTokenizer {
    token: Token,
}

/// The words of one text.
pub(super) struct Words<'a> {
    text: &'a str,
    token: &'a mut Token,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = Words<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Words<'a> {
        self.token.reset();
        Words { text, token: &mut self.token }
    }
}

impl TokenStream for Words<'_> {
    fn advance(&mut self) -> bool {
        // A new token has no position yet: the first word becomes number 0.
        let Some(place) =
            analysis::next_word(self.text, self.token.offset_to, &mut self.token.text)
        else {
            return false;
        };
        self.token.offset_from = place.start;
        self.token.offset_to = place.end;
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
    fn every_text_starts_anew() {
        let mut tokenizer = WordTokenizer::default();
        for text in ["Hello, 日本!", "Hello, 日本!"] {
            let mut words = tokenizer.token_stream(text);
            let mut found = Vec::new();
            words.process(&mut |token| {
                let place = &text[token.offset_from..token.offset_to];
                found.push((token.position, token.text.clone(), place.to_owned()));
            });
            let expected = [(0, "hello", "Hello"), (1, "日", "日"), (2, "本", "本")];
            let owned =
                |(at, text, place): (usize, &str, &str)| (at, text.to_owned(), place.to_owned());
            assert_eq!(found, expected.map(owned));
        }
    }
}
