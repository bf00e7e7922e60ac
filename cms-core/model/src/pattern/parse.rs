//! Parses a pattern to a tree.
//!
//! The dialect is ECMA 262 with the `u` flag: patterns are sequences of code points, `\d`, `\w` and
//! `\b` are ASCII. Of the syntax that ECMA 262 (annex B) accepts without the flag, the unambiguous
//! part is accepted too: escapes of characters that are neither ASCII letters nor digits (`\_`),
//! `{`, `}` and `]` as literals, and class escapes beside a hyphen (`[\w-.]`).

use std::collections::{BTreeSet, HashMap};

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use super::NotSupported;

/// Maximum nesting of groups: the tree is traversed recursively.
const MAX_DEPTH: u32 = 200;
/// Maximum length of a pattern: a tree takes about a hundred times the memory of its text.
const MAX_BYTES: usize = 64 * 1024;

/// The syntax tree of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ast {
    Empty,
    /// One code point of a set.
    Class(ClassUnicode),
    Start,
    End,
    WordBoundary {
        negated: bool,
    },
    /// A capturing group, counted from 1.
    Capture(u32, Box<Ast>),
    Sequence(Vec<Ast>),
    Alternatives(Vec<Ast>),
    Repeat(Repeat),
    Look {
        node: Box<Ast>,
        is_behind: bool,
        negated: bool,
    },
    /// The text of a group by its number.
    BackReference(u32),
    /// The text of a group by its name.
    NamedReference(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repeat {
    pub(super) node: Box<Ast>,
    pub(super) min: u32,
    /// `u32::MAX` means unlimited.
    pub(super) max: u32,
    pub(super) greedy: bool,
    /// The capturing groups inside, which every iteration resets: first, and one past the last.
    pub(super) captures: (u32, u32),
}

#[derive(Debug)]
pub(super) struct ParsedPattern {
    pub(super) node: Ast,
    /// Numbers of groups by their names.
    pub(super) groups: HashMap<String, u32>,
    /// Groups with back references.
    pub(super) references: BTreeSet<u32>,
    pub(super) captures: u32,
}

type Result<T> = std::result::Result<T, NotSupported>;

pub(super) fn parse(pattern: &str) -> Result<ParsedPattern> {
    if pattern.len() > MAX_BYTES {
        return Err(NotSupported);
    }
    let mut parser = Parser { rest: pattern, ..Parser::default() };
    let node = parser.alternatives()?;
    let Parser { groups, captures, mut references, .. } = parser;
    for name in parser.named_references {
        references.insert(*groups.get(&name).ok_or(NotSupported)?);
    }
    let is_known = references.last().is_none_or(|largest| *largest <= captures);
    // An unmatched `)` stops the outermost level.
    if !is_known || !parser.rest.is_empty() {
        return Err(NotSupported);
    }
    Ok(ParsedPattern { node, groups, references, captures })
}

#[derive(Default)]
struct Parser<'a> {
    rest: &'a str,
    depth: u32,
    captures: u32,
    groups: HashMap<String, u32>,
    references: BTreeSet<u32>,
    named_references: Vec<String>,
}

/// A member of a class in brackets. A code point may be half of a surrogate pair.
enum Member {
    CodePoint(u32),
    Set(ClassUnicode),
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Result<char> {
        let mut chars = self.rest.chars();
        let next = chars.next().ok_or(NotSupported)?;
        self.rest = chars.as_str();
        Ok(next)
    }

    fn eat(&mut self, text: &str) -> bool {
        self.rest.strip_prefix(text).map(|rest| self.rest = rest).is_some()
    }

    fn expect(&mut self, text: &str) -> Result<()> {
        if self.eat(text) { Ok(()) } else { Err(NotSupported) }
    }

    fn alternatives(&mut self) -> Result<Ast> {
        let mut alternatives = vec![self.sequence()?];
        while self.eat("|") {
            alternatives.push(self.sequence()?);
        }
        Ok(match alternatives.len() {
            1 => alternatives.swap_remove(0),
            _ => Ast::Alternatives(alternatives),
        })
    }

    fn sequence(&mut self) -> Result<Ast> {
        let mut nodes = Vec::new();
        while self.peek().is_some_and(|next| next != '|' && next != ')') {
            nodes.push(self.term()?);
        }
        Ok(match nodes.len() {
            0 => Ast::Empty,
            1 => nodes.swap_remove(0),
            _ => Ast::Sequence(nodes),
        })
    }

    /// An assertion, or an atom with its quantifier.
    fn term(&mut self) -> Result<Ast> {
        let first_capture = self.captures + 1;
        // A quantifier needs something to repeat.
        if self.quantifier()?.is_some() {
            return Err(NotSupported);
        }
        let node = match self.next()? {
            '^' => Ast::Start,
            '$' => Ast::End,
            '(' => self.group()?,
            '.' => Ast::Class(negated(&set(&LINE_TERMINATORS))),
            '[' => Ast::Class(self.class()?),
            '\\' => self.escape()?,
            other => Ast::Class(code_point(other.into())),
        };
        let Some((min, max)) = self.quantifier()? else { return Ok(node) };
        let is_assertion =
            matches!(node, Ast::Start | Ast::End | Ast::WordBoundary { .. } | Ast::Look { .. });
        if is_assertion {
            return Err(NotSupported);
        }
        let greedy = !self.eat("?");
        let captures = (first_capture, self.captures + 1);
        Ok(Ast::Repeat(Repeat { node: Box::new(node), min, max, greedy, captures }))
    }

    /// Parses an optional quantifier: minimum and maximum.
    fn quantifier(&mut self) -> Result<Option<(u32, u32)>> {
        let range = match self.peek() {
            Some('*') => (0, u32::MAX),
            Some('+') => (1, u32::MAX),
            Some('?') => (0, 1),
            Some('{') => return self.braces(),
            _ => return Ok(None),
        };
        self.next()?;
        Ok(Some(range))
    }

    /// Parses `{n}`, `{n,}` or `{n,m}`; other braces are literals.
    fn braces(&mut self) -> Result<Option<(u32, u32)>> {
        let inside = &self.rest[1..];
        let end = inside.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(inside.len());
        let (inside, rest) = inside.split_at(end);
        let Some(rest) = rest.strip_prefix('}') else { return Ok(None) };
        let (min, max) = inside.split_once(',').unwrap_or((inside, inside));
        let is_unlimited = max.is_empty() && inside.contains(',');
        let max = if is_unlimited { Some(u32::MAX) } else { count(max) };
        let (Some(min), Some(max)) = (count(min), max) else { return Ok(None) };
        if min > max {
            return Err(NotSupported);
        }
        self.rest = rest;
        Ok(Some((min, max)))
    }

    /// Parses a group after its opening parenthesis.
    fn group(&mut self) -> Result<Ast> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(NotSupported);
        }
        let look = LOOK_AROUND_PREFIXES.into_iter().find(|(prefix, ..)| self.eat(prefix));
        let mut capture = None;
        if look.is_none() && !self.eat("?:") {
            self.captures += 1;
            capture = Some(self.captures);
            if self.eat("?<") {
                let name = self.name()?;
                if self.groups.insert(name, self.captures).is_some() {
                    return Err(NotSupported);
                }
            }
        }
        // This refuses other groups that begin with `?`, such as `(?i)`: the `?` has nothing to repeat.
        let node = self.alternatives()?;
        self.expect(")")?;
        self.depth -= 1;
        Ok(match (capture, look) {
            (Some(capture), _) => Ast::Capture(capture, Box::new(node)),
            (None, Some((_, is_behind, negated))) => {
                Ast::Look { node: Box::new(node), is_behind, negated }
            }
            (None, None) => node,
        })
    }

    /// Parses the name of a group up to its `>`.
    fn name(&mut self) -> Result<String> {
        let (name, rest) = self.rest.split_once('>').ok_or(NotSupported)?;
        let is_start = |c: char| c.is_alphabetic() || matches!(c, '$' | '_');
        let is_part =
            |c: char| is_start(c) || c.is_alphanumeric() || matches!(c, '\u{200c}' | '\u{200d}');
        if !name.starts_with(is_start) || !name.chars().all(is_part) {
            return Err(NotSupported);
        }
        self.rest = rest;
        Ok(name.to_owned())
    }

    /// Parses an escape outside of brackets, after its backslash.
    fn escape(&mut self) -> Result<Ast> {
        Ok(match self.peek() {
            Some('b' | 'B') => Ast::WordBoundary { negated: self.next()? == 'B' },
            Some('1'..='9') => {
                let rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
                let digits = &self.rest[..self.rest.len() - rest.len()];
                let number = count(digits).ok_or(NotSupported)?;
                self.rest = rest;
                self.references.insert(number);
                Ast::BackReference(number)
            }
            Some('k') => {
                self.expect("k<")?;
                let name = self.name()?;
                self.named_references.push(name.clone());
                Ast::NamedReference(name)
            }
            _ => Ast::Class(match self.class_escape()? {
                Member::CodePoint(value) => code_point(value),
                Member::Set(set) => set,
            }),
        })
    }

    /// Parses a class after its opening bracket.
    fn class(&mut self) -> Result<ClassUnicode> {
        let is_negated = self.eat("^");
        let mut class = ClassUnicode::empty();
        while !self.eat("]") {
            let from = self.member()?;
            if !self.rest.starts_with('-') || self.rest.starts_with("-]") {
                add(&mut class, &from);
                continue;
            }
            self.expect("-")?;
            let to = self.member()?;
            if let (Member::CodePoint(from), Member::CodePoint(to)) = (&from, &to) {
                if from > to {
                    return Err(NotSupported);
                }
                add_range(&mut class, *from, *to);
            } else {
                add(&mut class, &from);
                add(&mut class, &to);
                add_range(&mut class, '-'.into(), '-'.into());
            }
        }
        if is_negated {
            class.negate();
        }
        Ok(class)
    }

    fn member(&mut self) -> Result<Member> {
        match self.next()? {
            '\\' if self.eat("b") => Ok(Member::CodePoint(8)),
            '\\' => self.class_escape(),
            other => Ok(Member::CodePoint(other.into())),
        }
    }

    /// Parses an escape with the same meaning in and outside of brackets, after its backslash.
    fn class_escape(&mut self) -> Result<Member> {
        let value = match self.next()? {
            'd' => return Ok(Member::Set(set(&DIGITS))),
            'D' => return Ok(Member::Set(negated(&set(&DIGITS)))),
            'w' => return Ok(Member::Set(set(&WORD))),
            'W' => return Ok(Member::Set(negated(&set(&WORD)))),
            's' => return Ok(Member::Set(set(&WHITE_SPACE))),
            'S' => return Ok(Member::Set(negated(&set(&WHITE_SPACE)))),
            'p' => return self.property().map(Member::Set),
            'P' => return Ok(Member::Set(negated(&self.property()?))),
            't' => 0x09,
            'n' => 0x0a,
            'v' => 0x0b,
            'f' => 0x0c,
            'r' => 0x0d,
            '0' if !self.rest.starts_with(|c: char| c.is_ascii_digit()) => 0,
            'c' => match self.next()? {
                letter if letter.is_ascii_alphabetic() => u32::from(letter) % 32,
                _ => return Err(NotSupported),
            },
            'x' => self.hex(2)?,
            'u' => self.unicode_escape()?,
            other if other.is_ascii_alphanumeric() => return Err(NotSupported),
            other => other.into(),
        };
        Ok(Member::CodePoint(value))
    }

    /// Parses `XXXX` or `{X…}` of a `\u`. Two halves of a surrogate pair are one code point.
    fn unicode_escape(&mut self) -> Result<u32> {
        if self.eat("{") {
            let (digits, rest) = self.rest.split_once('}').ok_or(NotSupported)?;
            self.rest = rest;
            return hex(digits).filter(|value| *value <= 0x10_ffff).ok_or(NotSupported);
        }
        let value = self.hex(4)?;
        let before = self.rest;
        if (0xd800..0xdc00).contains(&value) && self.eat("\\u") {
            match self.hex(4) {
                Ok(low @ 0xdc00..=0xdfff) => {
                    return Ok(0x1_0000 + ((value - 0xd800) << 10) + (low - 0xdc00));
                }
                _ => self.rest = before,
            }
        }
        Ok(value)
    }

    fn hex(&mut self, digits: usize) -> Result<u32> {
        let (digits, rest) = self.rest.split_at_checked(digits).ok_or(NotSupported)?;
        let value = hex(digits).ok_or(NotSupported)?;
        self.rest = rest;
        Ok(value)
    }

    /// Parses `{Name}` or `{Name=Value}` of a Unicode property.
    fn property(&mut self) -> Result<ClassUnicode> {
        self.expect("{")?;
        let (name, rest) = self.rest.split_once('}').ok_or(NotSupported)?;
        self.rest = rest;
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '=');
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(is_name) {
            return Err(NotSupported);
        }
        let hir = regex_syntax::parse(&format!("\\p{{{name}}}")).map_err(|_| NotSupported)?;
        match hir.into_kind() {
            HirKind::Class(Class::Unicode(class)) => Ok(class),
            HirKind::Class(Class::Bytes(class)) => class.to_unicode_class().ok_or(NotSupported),
            _ => Err(NotSupported),
        }
    }
}

/// Starts of look-around groups: whether they look behind, and whether they are negated.
const LOOK_AROUND_PREFIXES: [(&str, bool, bool); 4] =
    [("?=", false, false), ("?!", false, true), ("?<=", true, false), ("?<!", true, true)];
const LINE_TERMINATORS: [(char, char); 3] = [('\n', '\n'), ('\r', '\r'), ('\u{2028}', '\u{2029}')];
const DIGITS: [(char, char); 1] = [('0', '9')];
const WORD: [(char, char); 4] = [('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];
const WHITE_SPACE: [(char, char); 10] = [
    ('\t', '\r'),
    (' ', ' '),
    ('\u{a0}', '\u{a0}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{2000}', '\u{200a}'),
    ('\u{2028}', '\u{2029}'),
    ('\u{202f}', '\u{202f}'),
    ('\u{205f}', '\u{205f}'),
    ('\u{3000}', '\u{3000}'),
    ('\u{feff}', '\u{feff}'),
];

fn set(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|&(from, to)| ClassUnicodeRange::new(from, to)))
}

fn negated(class: &ClassUnicode) -> ClassUnicode {
    let mut class = class.clone();
    class.negate();
    class
}

fn code_point(value: u32) -> ClassUnicode {
    let mut class = ClassUnicode::empty();
    add_range(&mut class, value, value);
    class
}

fn add(class: &mut ClassUnicode, member: &Member) {
    match member {
        Member::CodePoint(value) => add_range(class, *value, *value),
        Member::Set(set) => class.union(set),
    }
}

/// Adds a range of code points, without surrogates, which texts cannot contain.
fn add_range(class: &mut ClassUnicode, from: u32, to: u32) {
    for (from, to) in [(from, to.min(0xd7ff)), (from.max(0xe000), to)] {
        if let (true, Some(from), Some(to)) = (from <= to, char::from_u32(from), char::from_u32(to))
        {
            class.push(ClassUnicodeRange::new(from, to));
        }
    }
}

/// Parses a decimal number, saturating at `u32::MAX`.
fn count(digits: &str) -> Option<u32> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u32::MAX))
}

fn hex(digits: &str) -> Option<u32> {
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}
