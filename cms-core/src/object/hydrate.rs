//! Hydration: links of objects replaced by the objects they point to (contract 3.5).
//!
//! Objects are rendered first, and the places of their links noted. Then one statement per type
//! and level fetches all targets, and the answer is put together from rendered texts. Two levels
//! are the most, so a cycle ends as a link.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
    sync::Arc,
};

use super::{model::Stored, render, scan, view::View};
use crate::{
    auth::scope::Access,
    context::Caller,
    ctd::catalog::{Catalog, Type},
    error::Result,
    limits,
    store::Reader,
};

/// Where links are resolved: one snapshot, one view of the content.
pub(crate) struct Hydration<'a> {
    pub(crate) reader: &'a Reader<'a>,
    pub(crate) catalog: &'a Catalog,
    pub(crate) caller: &'a Caller,
}

/// Rendered objects, and where links stand in them.
#[derive(Default)]
pub(crate) struct Text {
    pub(crate) json: Vec<u8>,
    links: Vec<Link>,
}

/// A link to an object that the caller may read, if it exists.
struct Link {
    span: Range<usize>,
    target: Key,
}

/// Row of a type, and an id in lower case.
type Key = (i64, String);

impl Hydration<'_> {
    /// Appends an object, and notes its links.
    pub(crate) fn add(&self, text: &mut Text, content_type: &Type, stored: &Stored<'_>) {
        render::object(&mut text.json, content_type.name(), stored);
        // The properties were appended last, without the brace that begins their stored text.
        let start = text.json.len() - stored.data.len();
        for found in scan::links(&stored.data, &content_type.properties) {
            let target = self.catalog.find(&found.content_type);
            let readable = target.filter(|known| self.caller.may(Access::READ, known.name()));
            if let Some(target) = readable {
                text.links.push(Link {
                    span: start + found.span.start..start + found.span.end,
                    target: (target.pk, found.id.to_ascii_lowercase()),
                });
            }
        }
    }

    /// Returns the text with its links replaced, `depth` levels deep.
    pub(crate) fn resolve(&self, text: &Text, depth: u8) -> Result<Vec<u8>> {
        let mut targets = HashMap::new();
        let mut wanted = wanted([text], &targets);
        for level in 1..=depth {
            let fetched = self.fetch(&wanted, level < depth)?;
            wanted = self::wanted(fetched.values(), &targets);
            // They would come again without their links.
            wanted.retain(|target| !fetched.contains_key(target));
            targets.extend(fetched);
        }
        let mut out = Vec::with_capacity(text.json.len() * 2);
        splice(&mut out, text, &targets, depth);
        Ok(out)
    }

    /// Fetches objects that the caller may see; notes their links when another level follows.
    fn fetch(&self, wanted: &HashSet<Key>, with_links: bool) -> Result<HashMap<Key, Text>> {
        let mut by_type: HashMap<i64, Vec<&str>> = HashMap::new();
        for (ctd, id) in wanted {
            by_type.entry(*ctd).or_default().push(id);
        }
        let mut fetched = HashMap::with_capacity(wanted.len());
        for content_type in self.catalog.types() {
            let Some(ids) = by_type.get(&content_type.pk) else { continue };
            self.fetch_type(content_type, ids, with_links, &mut fetched)?;
        }
        Ok(fetched)
    }

    fn fetch_type(
        &self,
        content_type: &Arc<Type>,
        ids: &[&str],
        with_links: bool,
        fetched: &mut HashMap<Key, Text>,
    ) -> Result<()> {
        let view = View::of_many(self.caller, content_type);
        self.reader.objects(view.edition, content_type.pk, ids, |stored| {
            if !view.shows(&stored.internal) {
                return;
            }
            let mut text = Text::default();
            if with_links {
                self.add(&mut text, content_type, &stored);
            } else {
                render::object(&mut text.json, content_type.name(), &stored);
            }
            fetched.insert((content_type.pk, stored.id.to_ascii_lowercase()), text);
        })
    }
}

/// Returns which objects the texts point to and nobody fetched yet.
fn wanted<'t>(
    texts: impl IntoIterator<Item = &'t Text>,
    known: &HashMap<Key, Text>,
) -> HashSet<Key> {
    let links = texts.into_iter().flat_map(|text| &text.links).take(limits::HYDRATED_LINKS);
    let targets = links.map(|link| &link.target);
    targets.filter(|target| !known.contains_key(*target)).cloned().collect()
}

/// Appends a text with its links replaced, as long as the answer is not too large.
fn splice(out: &mut Vec<u8>, text: &Text, targets: &HashMap<Key, Text>, depth: u8) {
    let mut copied = 0;
    for link in if depth > 0 { text.links.as_slice() } else { &[] } {
        let Some(target) = targets.get(&link.target) else { continue };
        if out.len() >= limits::HYDRATED_BYTES {
            break;
        }
        out.extend_from_slice(&text.json[copied..link.span.start]);
        splice(out, target, targets, depth - 1);
        copied = link.span.end;
    }
    out.extend_from_slice(&text.json[copied..]);
}
