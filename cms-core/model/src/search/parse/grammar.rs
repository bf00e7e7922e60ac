//! The query language (contract 6.2): operators, groups and fields.
//!
//! ```text
//! list    := chain ((OR)? chain)*            a list of words is one of alternatives
//! chain   := clause (AND clause)*            AND may be left out where all words are needed
//! clause  := ('+' | '-' | NOT)* operand
//! operand := field ':' operand | '(' list ')' | what `term` reads, each with '^' number at its end
//! ```
//!
//! Reading is one pass without a way back. What cannot be read is no fault: the whole text counts
//! as words then, whatever operators it has.

use super::{
    cursor::{Cursor, Read, Unreadable},
    path_of,
    term::Terms,
};
use crate::{limits, search::query::Query};

/// A text that was read, and what it costs.
#[derive(Debug)]
pub(super) struct Reading {
    /// None when the text has no words.
    pub(super) query: Option<Query>,
    pub(super) words: usize,
    /// Wildcards and fuzzy words.
    pub(super) expansions: usize,
}

/// Reads a text; with a path, as a condition on that field alone.
pub(super) fn read(text: &str, path: Option<&str>, terms: Terms) -> Reading {
    let mut cursor = Cursor::new(text, terms);
    let query = match cursor.whole(path) {
        Some(query) => Some(query),
        None => match cursor.list(path, 0) {
            Ok(query) if cursor.is_done() => query,
            _ => {
                cursor = Cursor::new(text, terms);
                cursor.literally(path)
            }
        },
    };
    cursor.reading(query)
}

/// Reads a text as one phrase.
pub(super) fn exact(text: &str) -> Reading {
    let mut cursor = Cursor::new(text, Terms::default());
    let query = cursor.phrase_of(text, None);
    cursor.reading(query)
}

/// What stands between two clauses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    And,
    Or,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    None,
    Must,
    Not,
}

/// Clauses that are needed together.
struct Chain {
    clauses: Vec<(Sign, Query)>,
    /// An OR stands beside it.
    is_alternative: bool,
}

impl Cursor<'_> {
    /// Reads clauses up to the end of the text or of the group.
    fn list(&mut self, path: Option<&str>, depth: usize) -> Read<Option<Query>> {
        let mut chains: Vec<Chain> = Vec::new();
        let mut operator = None;
        loop {
            self.skip_blanks();
            if matches!(self.peek(), None | Some(')')) {
                break;
            }
            if let Some(found) = self.operator() {
                if operator.is_some() || chains.is_empty() {
                    return Err(Unreadable);
                }
                operator = Some(found);
                continue;
            }
            let (sign, query) = self.clause(path, depth)?;
            let is_or = operator == Some(Operator::Or);
            let goes_on = match operator {
                Some(found) => found == Operator::And,
                None => self.terms.needs_all,
            };
            operator = None;
            if !goes_on || chains.is_empty() {
                if let Some(last) = chains.last_mut() {
                    last.is_alternative |= is_or;
                }
                chains.push(Chain { clauses: Vec::new(), is_alternative: is_or });
            }
            if let (Some(chain), Some(query)) = (chains.last_mut(), query) {
                chain.clauses.push((sign, query));
            }
        }
        if operator.is_some() { Err(Unreadable) } else { Ok(self.joined(chains)) }
    }

    fn joined(&self, chains: Vec<Chain>) -> Option<Query> {
        let (mut must, mut should, mut must_not) = (Vec::new(), Vec::new(), Vec::new());
        for Chain { mut clauses, is_alternative } in chains {
            if clauses.len() == 1 && !self.terms.needs_all && !is_alternative {
                let (sign, query) = clauses.remove(0);
                match sign {
                    Sign::None => should.push(query),
                    Sign::Must => must.push(query),
                    Sign::Not => must_not.push(query),
                }
                continue;
            }
            let (not, positive): (Vec<_>, Vec<_>) =
                clauses.into_iter().partition(|(sign, _)| *sign == Sign::Not);
            let queries = |list: Vec<(Sign, Query)>| list.into_iter().map(|(_, query)| query);
            should.extend(all_of(queries(positive).collect(), queries(not).collect()));
        }
        boolean(must, should, must_not)
    }

    /// Takes `AND` or `OR`.
    fn operator(&mut self) -> Option<Operator> {
        if self.take_word("AND") {
            Some(Operator::And)
        } else if self.take_word("OR") {
            Some(Operator::Or)
        } else {
            None
        }
    }

    fn clause(&mut self, path: Option<&str>, depth: usize) -> Read<(Sign, Option<Query>)> {
        let mut sign = Sign::None;
        loop {
            let is_sign = self.peek_second().is_some_and(|c| !c.is_whitespace() && c != ')');
            match self.peek() {
                Some('+') if is_sign => {
                    self.bump();
                    sign = if sign == Sign::None { Sign::Must } else { sign };
                }
                Some('-') if is_sign => {
                    self.bump();
                    sign = sign.negated();
                }
                _ if self.take_word("NOT") => {
                    self.skip_blanks();
                    sign = sign.negated();
                }
                _ => break,
            }
        }
        if matches!(self.peek(), None | Some(')')) || self.operator().is_some() {
            return Err(Unreadable);
        }
        Ok((sign, self.operand(path, depth)?))
    }

    fn operand(&mut self, path: Option<&str>, depth: usize) -> Read<Option<Query>> {
        if path.is_none()
            && let Some(name) = self.field_name()
        {
            return self.operand(Some(&path_of(name)), depth);
        }
        let query = match (self.peek(), path) {
            (Some('('), _) => self.group(path, depth)?,
            (Some('"'), _) => self.phrase(path)?,
            (Some('[' | '{'), Some(path)) => Some(self.range(path)?),
            (Some('<' | '>'), Some(path)) => Some(self.comparison(path)?),
            (None | Some(')'), _) => return Err(Unreadable),
            // The end of a word may be its boost.
            (Some(_), _) => return Ok(self.term(path)),
        };
        let boost = self.boost();
        Ok(query.map(|query| boosted(query, boost)))
    }

    fn group(&mut self, path: Option<&str>, depth: usize) -> Read<Option<Query>> {
        if depth == limits::MAX_SEARCH_DEPTH {
            return Err(Unreadable);
        }
        self.bump();
        let inside = self.list(path, depth + 1)?;
        if self.bump() == Some(')') { Ok(inside) } else { Err(Unreadable) }
    }
}

impl Sign {
    fn negated(self) -> Self {
        if self == Self::Not { Self::Must } else { Self::Not }
    }
}

pub(super) fn boosted(query: Query, boost: Option<f32>) -> Query {
    match boost {
        Some(factor) => Query::Boost(Box::new(query), factor),
        None => query,
    }
}

/// All of some, and none of others; none when there are no queries.
pub(super) fn all_of(must: Vec<Query>, must_not: Vec<Query>) -> Option<Query> {
    boolean(must, Vec::new(), must_not)
}

/// Any of some; none when there are no queries.
pub(super) fn any_of(should: Vec<Query>) -> Option<Query> {
    boolean(Vec::new(), should, Vec::new())
}

/// The simplest query for that; of negations alone it is everything but those.
fn boolean(mut must: Vec<Query>, mut should: Vec<Query>, must_not: Vec<Query>) -> Option<Query> {
    match (must.len(), should.len(), must_not.len()) {
        (0, 0, 0) => return None,
        (1, 0, 0) => return must.pop(),
        (0, 1, 0) => return should.pop(),
        (0, 0, _) => must.push(Query::All),
        _ => {}
    }
    Some(Query::Boolean { must, should, must_not })
}
