//! A cursor over a text of the query language, and the tokens that it reads.
//!
//! `\` escapes the character after it. [`super::grammar`] and [`super::term`] interpret the tokens.

use super::term::{Fuzziness, TermOptions};
use crate::search::query::PatternToken;

/// The text is not a valid query: its words are searched literally.
#[derive(Debug)]
pub(super) struct SyntaxError;

pub(super) type Parsed<T> = Result<T, SyntaxError>;

/// The text, the current position, and the cost so far.
pub(super) struct QueryCursor<'a> {
    pub(super) text: &'a str,
    at: usize,
    pub(super) options: TermOptions,
    pub(super) words: usize,
    pub(super) expansions: usize,
}

/// A word as written, with its modifiers.
pub(super) struct RawTerm {
    pub(super) tokens: Vec<PatternToken>,
    /// The modifier `~`.
    pub(super) fuzziness: Option<Fuzziness>,
    pub(super) boost: Option<f32>,
}

impl<'a> QueryCursor<'a> {
    pub(super) fn new(text: &'a str, options: TermOptions) -> Self {
        Self { text, at: 0, options, words: 0, expansions: 0 }
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn is_done(&self) -> bool {
        self.at == self.text.len()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn peek_second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    pub(super) fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    pub(super) fn skip_rest(&mut self) {
        self.at = self.text.len();
    }

    /// Consumes a keyword if it is a complete word.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let Some(after) = self.rest().strip_prefix(word) else { return false };
        let is_complete = after.chars().next().is_none_or(ends_word);
        if is_complete {
            self.at += word.len();
        }
        is_complete
    }

    /// Consumes `name:` if a condition on the field follows.
    pub(super) fn field_name(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_').then_some(())?;
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_.-[]*".contains(c);
        let (name, after) = rest.split_at(rest.find(|c| !is_part(c))?);
        let condition = after.strip_prefix(':')?;
        let is_condition = condition.starts_with(|c: char| !c.is_whitespace() && c != '/');
        // `path_of` has removed indexes; other brackets and stars are no part of a name.
        let is_name = super::path_of(name).bytes().all(|byte| !b"[]*".contains(&byte));
        (is_condition && is_name).then(|| {
            self.at += name.len() + 1;
            name
        })
    }

    /// Consumes a boost such as `^2`, if nothing but the number follows up to the end of the word.
    pub(super) fn boost(&mut self) -> Option<f32> {
        let number = self.rest().strip_prefix('^')?;
        let length = number.find(ends_word).unwrap_or(number.len());
        let boost = factor(&number[..length])?;
        self.at += 1 + length;
        Some(boost)
    }

    /// Consumes a text in double quotes.
    pub(super) fn quoted(&mut self) -> Parsed<String> {
        self.bump();
        let mut text = String::new();
        loop {
            match self.bump().ok_or(SyntaxError)? {
                '"' => return Ok(text),
                '\\' => text.extend(self.bump()),
                c => text.push(c),
            }
        }
    }

    /// Consumes a text in brackets and returns it as written, with the closing bracket.
    pub(super) fn bracketed(&mut self) -> Parsed<(&'a str, char)> {
        self.bump();
        let start = self.at;
        let mut is_quoted = false;
        loop {
            match self.bump().ok_or(SyntaxError)? {
                '"' => is_quoted = !is_quoted,
                '\\' => drop(self.bump()),
                c @ (']' | '}') if !is_quoted => return Ok((&self.text[start..self.at - 1], c)),
                _ => {}
            }
        }
    }

    /// Consumes a word up to the next blank, parenthesis or quote.
    pub(super) fn raw_term(&mut self) -> RawTerm {
        let mut tokens = Vec::new();
        // Positions of the last `~` and `^` in the text and among the tokens.
        let (mut tilde, mut caret) = (None, None);
        while let Some(c) = self.peek().filter(|c| !ends_word(*c)) {
            match c {
                '~' => tilde = Some((self.at, tokens.len())),
                '^' => caret = Some((self.at, tokens.len())),
                _ => {}
            }
            self.bump();
            tokens.push(match c {
                '*' => PatternToken::AnyChars,
                '?' => PatternToken::AnyChar,
                '\\' => PatternToken::Char(self.bump().unwrap_or('\\')),
                c => PatternToken::Char(c),
            });
        }
        let mut end = self.at;
        let mut boost = None;
        if let Some((at, count)) = caret {
            boost = factor(&self.text[at + 1..end]);
            if boost.is_some() {
                tokens.truncate(count);
                end = at;
            }
        }
        let mut fuzziness = None;
        if let Some((at, count)) = tilde.filter(|(at, _)| *at < end) {
            fuzziness = match &self.text[at + 1..end] {
                "" => Some(Fuzziness::Auto),
                edits @ ("0" | "1" | "2") => edits.parse().ok().map(Fuzziness::Edits),
                _ => None,
            };
            if fuzziness.is_some() {
                tokens.truncate(count);
            }
        }
        RawTerm { tokens, fuzziness, boost }
    }
}

/// Returns a text without the `\` of its escapes.
pub(super) fn unescape(text: &str) -> String {
    let mut chars = text.chars();
    let mut out = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        out.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    out
}

fn ends_word(c: char) -> bool {
    c.is_whitespace() || matches!(c, '(' | ')' | '"')
}

fn factor(text: &str) -> Option<f32> {
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|factor: &f32| is_decimal && *factor > 0.0 && factor.is_finite())
}
