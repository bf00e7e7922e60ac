//! A place in a text of the query language, and the signs that can be read there.
//!
//! `\` takes its meaning from the character after it. What signs mean is for [`super::grammar`]
//! and [`super::term`].

use super::term::{Terms, Typing};
use crate::search::query::Piece;

/// Why a text is taken literally.
#[derive(Debug)]
pub(super) struct Unreadable;

pub(super) type Read<T> = Result<T, Unreadable>;

/// What is read, how far, and what it costs so far.
pub(super) struct Cursor<'a> {
    pub(super) text: &'a str,
    at: usize,
    pub(super) terms: Terms,
    pub(super) words: usize,
    pub(super) expansions: usize,
}

/// A word as it is written, with what stands at its end.
pub(super) struct Raw {
    pub(super) pieces: Vec<Piece>,
    /// What `~` says.
    pub(super) typing: Option<Typing>,
    pub(super) boost: Option<f32>,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, terms: Terms) -> Self {
        Self { text, at: 0, terms, words: 0, expansions: 0 }
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

    /// Takes an operator if it stands here as a whole word.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let Some(after) = self.rest().strip_prefix(word) else { return false };
        let is_whole = after.chars().next().is_none_or(ends_word);
        if is_whole {
            self.at += word.len();
        }
        is_whole
    }

    /// Takes `name:` if it is the name of a field and a condition on it follows.
    pub(super) fn field_name(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_').then_some(())?;
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_.-[]*".contains(c);
        let (name, after) = rest.split_at(rest.find(|c| !is_part(c))?);
        let condition = after.strip_prefix(':')?;
        let is_condition = condition.starts_with(|c: char| !c.is_whitespace() && c != '/');
        // Brackets stand around indexes; a star elsewhere is a wildcard.
        let is_name = super::path_of(name).bytes().all(|byte| !b"[]*".contains(&byte));
        (is_condition && is_name).then(|| {
            self.at += name.len() + 1;
            name
        })
    }

    /// Takes `^2` if no word follows.
    pub(super) fn boost(&mut self) -> Option<f32> {
        let number = self.rest().strip_prefix('^')?;
        let length = number.find(ends_word).unwrap_or(number.len());
        let boost = factor(&number[..length])?;
        self.at += 1 + length;
        Some(boost)
    }

    /// Takes a text in double quotes.
    pub(super) fn quoted(&mut self) -> Read<String> {
        self.bump();
        let mut text = String::new();
        loop {
            match self.bump().ok_or(Unreadable)? {
                '"' => return Ok(text),
                '\\' => text.extend(self.bump()),
                c => text.push(c),
            }
        }
    }

    /// Takes the inside of brackets and returns it as written, with the bracket that closes it.
    pub(super) fn bracketed(&mut self) -> Read<(&'a str, char)> {
        self.bump();
        let start = self.at;
        let mut is_quoted = false;
        loop {
            match self.bump().ok_or(Unreadable)? {
                '"' => is_quoted = !is_quoted,
                '\\' => drop(self.bump()),
                c @ (']' | '}') if !is_quoted => return Ok((&self.text[start..self.at - 1], c)),
                _ => {}
            }
        }
    }

    /// Takes a word up to the next blank, parenthesis or quote.
    pub(super) fn raw(&mut self) -> Raw {
        let mut pieces = Vec::new();
        // Places of the last `~` and `^` in the text and among the pieces.
        let (mut tilde, mut caret) = (None, None);
        while let Some(c) = self.peek().filter(|c| !ends_word(*c)) {
            match c {
                '~' => tilde = Some((self.at, pieces.len())),
                '^' => caret = Some((self.at, pieces.len())),
                _ => {}
            }
            self.bump();
            pieces.push(match c {
                '*' => Piece::Many,
                '?' => Piece::One,
                '\\' => Piece::Char(self.bump().unwrap_or('\\')),
                c => Piece::Char(c),
            });
        }
        let mut end = self.at;
        let mut boost = None;
        if let Some((at, count)) = caret {
            boost = factor(&self.text[at + 1..end]);
            if boost.is_some() {
                pieces.truncate(count);
                end = at;
            }
        }
        let mut typing = None;
        if let Some((at, count)) = tilde.filter(|(at, _)| *at < end) {
            typing = match &self.text[at + 1..end] {
                "" => Some(Typing::ByLength),
                "0" => Some(Typing::Edits(0)),
                "1" => Some(Typing::Edits(1)),
                "2" => Some(Typing::Edits(2)),
                _ => None,
            };
            if typing.is_some() {
                pieces.truncate(count);
            }
        }
        Raw { pieces, typing, boost }
    }
}

/// Returns a text without the `\` of its escapes.
pub(super) fn unescaped(text: &str) -> String {
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
