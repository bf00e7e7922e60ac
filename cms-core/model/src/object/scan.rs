//! Finds links in the stored text of an object without parsing all of it.
//!
//! The text must be compact JSON, as this program writes it; in other text, no links are found.
//! `object::hydrate` of cms-core replaces the links with objects.

use std::{borrow::Cow, ops::Range};

use serde::Deserialize;

use super::link;
use crate::{
    content_type::model::{InputType, Property},
    json,
};

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
    let mut scan = Scan { text, found: Vec::new() };
    if properties.iter().any(Property::may_link) {
        scan.object(text, properties);
    }
    scan.found
}

/// Returns the internal links in the text of one value, in the order of the text.
pub fn value_links(text: &str, property: &Property) -> Vec<FoundLink> {
    let mut scan = Scan { text, found: Vec::new() };
    scan.value(text, property);
    scan.found
}

struct Scan<'t> {
    text: &'t str,
    found: Vec<FoundLink>,
}

impl<'t> Scan<'t> {
    /// Visits an object with the given properties. A value of another kind has no links.
    fn object(&mut self, object: &'t str, properties: &[Property]) {
        for (name, value) in json::members(object) {
            // Names of properties never need an escape.
            if let Some(property) = properties.iter().find(|property| property.name == name) {
                self.value(value, property);
            }
        }
    }

    fn value(&mut self, value: &'t str, property: &Property) {
        // As `link::visit` does.
        match property.input_type {
            InputType::Datasource => json::elements(value).for_each(|link| self.link(link)),
            InputType::Object if property.may_link() && value.starts_with('[') => {
                json::elements(value).for_each(|item| self.object(item, &property.nested));
            }
            InputType::Custom if property.may_link() => self.object(value, &property.nested),
            _ => {}
        }
    }

    fn link(&mut self, link: &'t str) {
        if let Some((content_type, id)) = internal_link(link) {
            // `link` is a part of `self.text`.
            let start = link.as_ptr().addr() - self.text.as_ptr().addr();
            self.found.push(FoundLink { span: start..start + link.len(), content_type, id });
        }
    }
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
