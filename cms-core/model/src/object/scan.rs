//! Finds links in the stored text of an object without parsing all of it.
//!
//! The text must be compact JSON, as this program writes it; in other text, no links are found.
//! `object::hydrate` of cms-core replaces the links with objects.

use std::{borrow::Cow, ops::Range};

use memchr::memchr2;
use serde::Deserialize;

use super::link;
use crate::content_type::model::{InputType, Property};

/// An internal link and its position in the text.
#[derive(Debug, PartialEq, Eq)]
pub struct FoundLink {
    pub span: Range<usize>,
    pub content_type: String,
    pub id: String,
}

impl FoundLink {
    /// Type and id of the target.
    pub fn target(&self) -> (&str, &str) {
        (&self.content_type, &self.id)
    }
}

/// Returns the internal links in the text of an object, in the order of the text.
pub fn links(text: &str, properties: &[Property]) -> Vec<FoundLink> {
    let mut found = Vec::new();
    if properties.iter().any(Property::may_link) {
        object(&mut Cursor { text: text.as_bytes(), at: 0 }, properties, &mut found, text);
    }
    found
}

/// Returns the internal links in the text of one value, in the order of the text.
pub fn value_links(text: &str, property: &Property) -> Vec<FoundLink> {
    let mut found = Vec::new();
    value(&mut Cursor { text: text.as_bytes(), at: 0 }, Some(property), &mut found, text);
    found
}

/// Visits an object with the given properties. None when the text is not compact JSON.
fn object(
    cursor: &mut Cursor<'_>,
    properties: &[Property],
    found: &mut Vec<FoundLink>,
    text: &str,
) -> Option<()> {
    cursor.expect(b'{')?;
    while !cursor.take(b'}') {
        let key = cursor.string()?;
        cursor.expect(b':')?;
        // Names of properties never need an escape.
        let name = &cursor.text[key.start + 1..key.end - 1];
        let property = properties.iter().find(|p| p.name.as_bytes() == name);
        value(cursor, property, found, text)?;
        cursor.take(b',');
    }
    Some(())
}

/// Visits the value of a property; none is undeclared.
fn value(
    cursor: &mut Cursor<'_>,
    property: Option<&Property>,
    found: &mut Vec<FoundLink>,
    text: &str,
) -> Option<()> {
    match property {
        Some(p) if p.input_type == InputType::Datasource => relation(cursor, found, text),
        Some(p) if p.may_link() && cursor.peek() == Some(b'[') => {
            cursor.expect(b'[')?;
            while !cursor.take(b']') {
                nested(cursor, p, found, text)?;
                cursor.take(b',');
            }
            Some(())
        }
        Some(p) if p.may_link() => nested(cursor, p, found, text),
        _ => cursor.skip_value(),
    }
}

/// Visits a list item or a custom value of any JSON type.
fn nested(
    cursor: &mut Cursor<'_>,
    property: &Property,
    found: &mut Vec<FoundLink>,
    text: &str,
) -> Option<()> {
    if cursor.peek() == Some(b'{') {
        object(cursor, &property.nested, found, text)
    } else {
        cursor.skip_value()
    }
}

/// Reads the links of one relation.
fn relation(cursor: &mut Cursor<'_>, found: &mut Vec<FoundLink>, text: &str) -> Option<()> {
    if cursor.peek() != Some(b'[') {
        return cursor.skip_value();
    }
    cursor.expect(b'[')?;
    while !cursor.take(b']') {
        let start = cursor.at;
        cursor.skip_value()?;
        let span = start..cursor.at;
        if let Some((content_type, id)) = internal_link(&text[span.clone()]) {
            found.push(FoundLink { span, content_type, id });
        }
        cursor.take(b',');
    }
    Some(())
}

/// Parses the text of an internal link; returns type and id of the target.
pub fn internal_link(text: &str) -> Option<(String, String)> {
    #[derive(Deserialize)]
    struct Link<'a> {
        #[serde(borrow, rename = "type")]
        kind: Cow<'a, str>,
        #[serde(borrow, rename = "dataUrl")]
        data_url: Cow<'a, str>,
    }
    let link: Link<'_> = serde_json::from_str(text).ok()?;
    if link.kind != "internal" {
        return None;
    }
    let target = link::parse(&link.data_url)?;
    Some((target.content_type.to_owned(), target.id.into_owned()))
}

/// A position in compact JSON.
struct Cursor<'t> {
    text: &'t [u8],
    at: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.take(byte).then_some(())
    }

    /// Skips a string and returns its range, quotes included.
    fn string(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        self.expect(b'"')?;
        loop {
            self.at += memchr2(b'"', b'\\', &self.text[self.at..])?;
            match self.text[self.at] {
                b'"' => {
                    self.at += 1;
                    return Some(start..self.at);
                }
                // The character after a backslash is part of the escape, a quote included.
                _ => self.at = (self.at + 2).min(self.text.len()),
            }
        }
    }

    /// Skips any value.
    fn skip_value(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => {
                self.string()?;
            }
            b'{' | b'[' => self.skip_nested()?,
            _ => {
                let rest = &self.text[self.at..];
                let length = rest.iter().position(|b| matches!(b, b',' | b'}' | b']'));
                self.at += length.unwrap_or(rest.len());
            }
        }
        Some(())
    }

    fn skip_nested(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Some(());
            }
        }
    }
}
