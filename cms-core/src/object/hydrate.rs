//! Hydration: replaces links with the linked objects.
//!
//! Objects are rendered first, and the positions of their links recorded. Then each level is
//! fetched, type by type, and the response is built from rendered texts. The maximum is two levels,
//! so a cycle ends with a link. Every link is followed; it remains a link only when its target does
//! not exist, is not visible in the view of the request, or is of a type that the caller may not
//! read. The size of the response is computed before it is built, and a size above
//! [`cms_model::limits::MAX_RESPONSE_BYTES`] is an error.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use cms_model::{
    auth::scope::Access,
    content_type::catalog::{Catalog, CompiledType},
    context::Caller,
    error::Result,
    memory::BufferReservation,
    object::{model::StoredObject, render, scan, view::View},
};
use cms_store::Reader;
use indexmap::IndexMap;

/// Ids per statement, so that its parameter stays small.
const IDS_PER_STATEMENT: usize = 10_000;

/// Resolves the links of one response, in one snapshot and one view of the content.
pub(crate) struct Hydration<'a> {
    reader: &'a Reader<'a>,
    catalog: &'a Catalog,
    caller: &'a Caller,
    /// The link targets, in the order in which their links were found, without duplicates. None
    /// until it is fetched, and when it is not visible.
    targets: IndexMap<Key, Option<Text>>,
}

/// Rendered objects, and the positions of their links.
#[derive(Default)]
pub(crate) struct Text {
    pub(crate) json: Vec<u8>,
    links: Vec<Link>,
}

impl Text {
    /// Approximate memory in bytes.
    fn bytes(&self) -> usize {
        const LINK_BYTES: usize = 128;
        self.json.capacity() + LINK_BYTES * (1 + self.links.len())
    }
}

/// A link to an object of a type that the caller may read.
struct Link {
    span: Range<usize>,
    /// Index of the target.
    target: usize,
}

/// Row of a type, and an id in lower case.
type Key = (i64, String);

impl<'a> Hydration<'a> {
    pub(crate) fn new(reader: &'a Reader<'a>, catalog: &'a Catalog, caller: &'a Caller) -> Self {
        Self { reader, catalog, caller, targets: IndexMap::new() }
    }

    /// Appends an object, and records its links.
    pub(crate) fn add(
        &mut self,
        text: &mut Text,
        content_type: &CompiledType,
        stored: &StoredObject<'_>,
    ) {
        render::object(&mut text.json, content_type.name(), stored);
        // The properties were appended last, without the opening brace of their stored text.
        let start = text.json.len() - stored.data.len();
        for found in scan::links(&stored.data, &content_type.properties) {
            let target = self.catalog.find(&found.content_type);
            let readable = target.filter(|known| self.caller.may(Access::READ, known.name()));
            if let Some(target) = readable {
                let entry = self.targets.entry((target.pk, found.id.to_ascii_lowercase()));
                let target = entry.index();
                entry.or_default();
                let span = start + found.span.start..start + found.span.end;
                text.links.push(Link { span, target });
            }
        }
    }

    /// Number of objects that the links found so far point to.
    pub(crate) fn targets(&self) -> usize {
        self.targets.len()
    }

    /// Returns the text of a response with links replaced `depth` levels deep; `buffered` covers
    /// it.
    pub(crate) fn finish(
        self,
        text: Text,
        buffered: BufferReservation<'_>,
        depth: u8,
    ) -> Result<Vec<u8>> {
        if depth > 0 {
            return self.resolve(&text, depth);
        }
        render::require_bounded(text.json.len())?;
        buffered.transfer_to_request();
        Ok(text.json)
    }

    /// Returns the text with links replaced `depth` levels deep.
    pub(crate) fn resolve(mut self, text: &Text, depth: u8) -> Result<Vec<u8>> {
        let mut bytes = text.json.len();
        let mut targets = BufferReservation::new(&self.caller.memory);
        let mut level = 0..self.targets.len();
        for remaining in (0..depth).rev() {
            // Targets of an earlier level are already fetched.
            self.fetch(level.clone(), remaining > 0, &mut bytes, &mut targets)?;
            level = level.end..self.targets.len();
        }
        let size = self.size(text, &self.sizes(depth));
        render::require_bounded(size)?;
        let mut response = BufferReservation::new(&self.caller.memory);
        response.grow_to(size)?;
        let mut out = Vec::with_capacity(size);
        self.splice(&mut out, text, depth);
        response.transfer_to_request();
        Ok(out)
    }

    /// Fetches the targets of a level that the caller may see; records their links when another
    /// level follows.
    fn fetch(
        &mut self,
        level: Range<usize>,
        with_links: bool,
        bytes: &mut usize,
        buffered: &mut BufferReservation<'_>,
    ) -> Result<()> {
        let mut by_type: BTreeMap<i64, Vec<String>> = BTreeMap::new();
        for (ctd, id) in self.targets.keys().skip(level.start).take(level.len()) {
            by_type.entry(*ctd).or_default().push(id.clone());
        }
        let catalog = self.catalog;
        for content_type in catalog.types() {
            let ids = by_type.remove(&content_type.pk).unwrap_or_default();
            for ids in ids.chunks(IDS_PER_STATEMENT) {
                self.fetch_type(content_type, ids, with_links, bytes, buffered)?;
            }
        }
        Ok(())
    }

    fn fetch_type(
        &mut self,
        content_type: &Arc<CompiledType>,
        ids: &[String],
        with_links: bool,
        bytes: &mut usize,
        buffered: &mut BufferReservation<'_>,
    ) -> Result<()> {
        let reader = self.reader;
        let view = View::for_list(self.caller, content_type);
        reader.objects(view.edition, content_type.pk, ids, |stored| {
            if !view.admits_state(&stored.internal) {
                return Ok(());
            }
            let stored = view.mask(stored);
            let mut text = Text::default();
            if with_links {
                self.add(&mut text, content_type, &stored);
            } else {
                render::object(&mut text.json, content_type.name(), &stored);
            }
            // An object is longer than the link that it replaces, and each is in the response at
            // least once.
            *bytes = bytes.saturating_add(text.json.len());
            render::require_bounded(*bytes)?;
            buffered.add(text.bytes())?;
            self.targets.insert((content_type.pk, stored.id.to_ascii_lowercase()), Some(text));
            Ok(())
        })
    }

    /// Sizes of the targets, with their links replaced one level less deep.
    fn sizes(&self, depth: u8) -> Vec<usize> {
        let targets = || self.targets.values();
        let mut sizes: Vec<usize> =
            targets().map(|target| target.as_ref().map_or(0, |text| text.json.len())).collect();
        for _ in 1..depth {
            let size = |target: &Option<Text>| target.as_ref().map_or(0, |t| self.size(t, &sizes));
            sizes = targets().map(size).collect();
        }
        sizes
    }

    /// Size of a text with links replaced by objects of these sizes.
    fn size(&self, text: &Text, sizes: &[usize]) -> usize {
        let fetched = text.links.iter().filter(|link| self.targets[link.target].is_some());
        fetched.fold(text.json.len(), |size, link| {
            size.saturating_add(sizes[link.target]) - link.span.len()
        })
    }

    /// Appends a text with links replaced.
    fn splice(&self, out: &mut Vec<u8>, text: &Text, depth: u8) {
        let mut copied = 0;
        for link in if depth > 0 { text.links.as_slice() } else { &[] } {
            let Some(target) = &self.targets[link.target] else { continue };
            out.extend_from_slice(&text.json[copied..link.span.start]);
            self.splice(out, target, depth - 1);
            copied = link.span.end;
        }
        out.extend_from_slice(&text.json[copied..]);
    }
}
