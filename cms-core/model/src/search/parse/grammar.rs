//! The grammar of the query language: operators, groups and fields (see
//! docs/reference/search.md#query-language).
//!
//! ```text
//! list    := chain ((OR)? chain)*            any of the chains
//! chain   := clause (AND clause)*            AND is implied where all words are required
//! clause  := ('+' | '-' | NOT)* operand
//! operand := field ':' operand | '(' list ')' | an operand of `term`; each may end in '^' number
//! ```
//!
//! The parser makes one pass without backtracking. A syntax error is not reported: the text is then
//! searched as plain words.

use super::{
    cursor::{Parsed, QueryCursor, SyntaxError},
    path_of,
    term::TermOptions,
};
use crate::{limits, search::query::SearchQuery};

/// A parsed text and its cost.
#[derive(Debug)]
pub(super) struct ParsedText {
    /// None when the text has no words.
    pub(super) query: Option<SearchQuery>,
    pub(super) words: usize,
    /// Wildcards and fuzzy words.
    pub(super) expansions: usize,
}

/// Parses a text; with a path, as a condition on that field.
pub(super) fn parse(text: &str, path: Option<&str>, options: TermOptions) -> ParsedText {
    let mut cursor = QueryCursor::new(text, options);
    let query = match cursor.single_value(path) {
        Some(query) => Some(query),
        None => match cursor.list(path, 0) {
            Ok(query) if cursor.is_done() => query,
            _ => {
                cursor = QueryCursor::new(text, options);
                cursor.all_words(path)
            }
        },
    };
    cursor.into_parsed(query)
}

/// Parses a text as one phrase.
pub(super) fn parse_phrase(text: &str) -> ParsedText {
    let mut cursor = QueryCursor::new(text, TermOptions::default());
    let query = cursor.phrase_of(text, None);
    cursor.into_parsed(query)
}

/// The operator between two clauses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    And,
    Or,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Occur {
    Should,
    Must,
    MustNot,
}

/// Clauses connected by AND.
struct Chain {
    clauses: Vec<(Occur, SearchQuery)>,
    /// Connected by OR to another chain.
    is_alternative: bool,
}

impl QueryCursor<'_> {
    /// Parses clauses up to the end of the text or of the group.
    fn list(&mut self, path: Option<&str>, depth: usize) -> Parsed<Option<SearchQuery>> {
        let mut chains: Vec<Chain> = Vec::new();
        let mut operator = None;
        loop {
            self.skip_blanks();
            if matches!(self.peek(), None | Some(')')) {
                break;
            }
            if let Some(found) = self.operator() {
                if operator.is_some() || chains.is_empty() {
                    return Err(SyntaxError);
                }
                operator = Some(found);
                continue;
            }
            let (occur, query) = self.clause(path, depth)?;
            let is_or = operator == Some(Operator::Or);
            let continues = match operator {
                Some(found) => found == Operator::And,
                None => self.options.all_required,
            };
            operator = None;
            if !continues || chains.is_empty() {
                if let Some(last) = chains.last_mut() {
                    last.is_alternative |= is_or;
                }
                chains.push(Chain { clauses: Vec::new(), is_alternative: is_or });
            }
            if let (Some(chain), Some(query)) = (chains.last_mut(), query) {
                chain.clauses.push((occur, query));
            }
        }
        if operator.is_some() { Err(SyntaxError) } else { Ok(self.combine_chains(chains)) }
    }

    fn combine_chains(&self, chains: Vec<Chain>) -> Option<SearchQuery> {
        let (mut must, mut should, mut must_not) = (Vec::new(), Vec::new(), Vec::new());
        for Chain { mut clauses, is_alternative } in chains {
            if clauses.len() == 1 && !self.options.all_required && !is_alternative {
                let (occur, query) = clauses.remove(0);
                match occur {
                    Occur::Should => should.push(query),
                    Occur::Must => must.push(query),
                    Occur::MustNot => must_not.push(query),
                }
                continue;
            }
            let (not, positive): (Vec<_>, Vec<_>) =
                clauses.into_iter().partition(|(occur, _)| *occur == Occur::MustNot);
            let queries =
                |list: Vec<(Occur, SearchQuery)>| list.into_iter().map(|(_, query)| query);
            should.extend(all_of(queries(positive).collect(), queries(not).collect()));
        }
        boolean(must, should, must_not)
    }

    /// Consumes `AND` or `OR`.
    fn operator(&mut self) -> Option<Operator> {
        if self.take_word("AND") {
            Some(Operator::And)
        } else if self.take_word("OR") {
            Some(Operator::Or)
        } else {
            None
        }
    }

    fn clause(&mut self, path: Option<&str>, depth: usize) -> Parsed<(Occur, Option<SearchQuery>)> {
        let mut occur = Occur::Should;
        loop {
            let is_sign = self.peek_second().is_some_and(|c| !c.is_whitespace() && c != ')');
            match self.peek() {
                Some('+') if is_sign => {
                    self.bump();
                    occur = if occur == Occur::Should { Occur::Must } else { occur };
                }
                Some('-') if is_sign => {
                    self.bump();
                    occur = occur.negated();
                }
                _ if self.take_word("NOT") => {
                    self.skip_blanks();
                    occur = occur.negated();
                }
                _ => break,
            }
        }
        if matches!(self.peek(), None | Some(')')) || self.operator().is_some() {
            return Err(SyntaxError);
        }
        Ok((occur, self.operand(path, depth)?))
    }

    fn operand(&mut self, path: Option<&str>, depth: usize) -> Parsed<Option<SearchQuery>> {
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
            (None | Some(')'), _) => return Err(SyntaxError),
            // A word includes its boost.
            (Some(_), _) => return Ok(self.term(path)),
        };
        let boost = self.boost();
        Ok(query.map(|query| boosted(query, boost)))
    }

    fn group(&mut self, path: Option<&str>, depth: usize) -> Parsed<Option<SearchQuery>> {
        if depth == limits::MAX_SEARCH_DEPTH {
            return Err(SyntaxError);
        }
        self.bump();
        let inside = self.list(path, depth + 1)?;
        if self.bump() == Some(')') { Ok(inside) } else { Err(SyntaxError) }
    }
}

impl Occur {
    fn negated(self) -> Self {
        if self == Self::MustNot { Self::Must } else { Self::MustNot }
    }
}

pub(super) fn boosted(query: SearchQuery, boost: Option<f32>) -> SearchQuery {
    match boost {
        Some(factor) => SearchQuery::Boost(Box::new(query), factor),
        None => query,
    }
}

/// Requires all of `must` and none of `must_not`; none without queries.
pub(super) fn all_of(must: Vec<SearchQuery>, must_not: Vec<SearchQuery>) -> Option<SearchQuery> {
    boolean(must, Vec::new(), must_not)
}

/// Requires any of `should`; none without queries.
pub(super) fn any_of(should: Vec<SearchQuery>) -> Option<SearchQuery> {
    boolean(Vec::new(), should, Vec::new())
}

/// The simplest boolean query; `must_not` alone matches everything else.
fn boolean(
    mut must: Vec<SearchQuery>,
    mut should: Vec<SearchQuery>,
    must_not: Vec<SearchQuery>,
) -> Option<SearchQuery> {
    match (must.len(), should.len(), must_not.len()) {
        (0, 0, 0) => return None,
        (1, 0, 0) => return must.pop(),
        (0, 1, 0) => return should.pop(),
        (0, 0, _) => must.push(SearchQuery::All),
        _ => {}
    }
    Some(SearchQuery::Boolean { must, should, must_not })
}
