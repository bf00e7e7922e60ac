//! Hydration: replaces links with the linked objects.
//!
//! Objects are rendered first, and the positions of their links recorded. Then each level is fetched,
//! type by type, and the response is built from rendered texts. The maximum is two levels, so a cycle
//! ends with a link. Hydration follows every link of the requested levels; with a projection, only
//! those on its paths. A followed link remains a link only if it is external, or if its target does not
//! exist, is not visible in the view of the request, or is of a type that the caller may not read.
//! Authors that a projection names are inserted in the same way. The size of the response is computed
//! before it is built, and a size above [`cms_model::limits::MAX_RESPONSE_BYTES`] is an error.

use std::{borrow::Cow, collections::BTreeMap, ops::Range, sync::Arc};

use cms_model::{
    auth::scope::Access,
    content_type::catalog::{Catalog, CompiledType},
    context::Caller,
    error::Result,
    memory::BufferReservation,
    object::{
        model::{Columns, Edition, StoredObject},
        projection::{Part, Projection},
        render,
        scan::{self, FoundLink},
        view::View,
    },
};
use cms_store::Reader;
use indexmap::IndexMap;

use super::{
    authors::{self, ObjectAuthor},
    linked_objects::LinkedObjects,
};

/// Ids per statement, so that its parameter stays small.
const IDS_PER_STATEMENT: usize = 10_000;

/// Renders the objects of one response and resolves their links, in one snapshot and one view of
/// the content.
pub(crate) struct Hydration<'a> {
    reader: &'a Reader<'a>,
    catalog: &'a Catalog,
    caller: &'a Caller,
    linked_objects: &'a LinkedObjects,
    /// The requested parts of objects; none for complete objects.
    projection: Option<&'a Projection>,
    /// Number of levels on which links are replaced.
    depth: u8,
    /// The link targets, in the order in which their links were found, without duplicates. The value is
    /// none until the target is fetched, and if it is not visible.
    targets: IndexMap<Key, Option<Text>>,
}

/// Rendered objects, and what is inserted into their text, in the order of the text.
#[derive(Default)]
pub(crate) struct Text {
    pub(crate) json: Vec<u8>,
    insertions: Vec<Insertion>,
}

impl Text {
    /// Approximate memory in bytes.
    fn bytes(&self) -> usize {
        const INSERTION_BYTES: usize = 256;
        self.json.capacity() + INSERTION_BYTES * (1 + self.insertions.len())
    }

    fn authors(&mut self) -> impl Iterator<Item = &mut ObjectAuthor> {
        self.insertions.iter_mut().filter_map(|insertion| match &mut insertion.content {
            Content::Author(author) => Some(author),
            Content::Target(_) => None,
        })
    }
}

/// Restores the properties of an object of which only these columns were read.
pub(crate) fn with_properties<'s>(
    stored: StoredObject<'s>,
    columns: Columns,
    content_type: &CompiledType,
) -> StoredObject<'s> {
    match columns {
        Columns::All | Columns::WithoutProperties => stored,
        Columns::IndexedProperties => {
            let data = content_type.indexed.object(&stored.data);
            StoredObject { data: Cow::Owned(data), ..stored }
        }
    }
}

/// What replaces a range of a text.
struct Insertion {
    span: Range<usize>,
    content: Content,
}

enum Content {
    /// Index of the target of a link, of a type that the caller may read.
    Target(usize),
    Author(ObjectAuthor),
}

/// Primary key of a type, an id in lower case, and the part of that object in the response.
type Key = (i64, String, Part);

impl<'a> Hydration<'a> {
    pub(crate) fn new(
        (reader, catalog, caller): (&'a Reader<'a>, &'a Catalog, &'a Caller),
        linked_objects: &'a LinkedObjects,
        projection: Option<&'a Projection>,
        depth: u8,
    ) -> Self {
        let targets = IndexMap::new();
        Self { reader, catalog, caller, linked_objects, projection, depth, targets }
    }

    /// Which part of the objects of the response is returned.
    fn root(&self) -> Part {
        self.projection.map_or(Part::Complete, Projection::root)
    }

    /// The columns that the objects of the response need, if they are of this type.
    pub(crate) fn columns(&self, content_type: &CompiledType) -> Columns {
        self.columns_of(self.root(), content_type)
    }

    fn columns_of(&self, part: Part, content_type: &CompiledType) -> Columns {
        let columns = |projection: &Projection| projection.columns(part, &content_type.indexed);
        self.projection.map_or(Columns::All, columns)
    }

    /// Appends an object of the response, and records its links.
    pub(crate) fn add(
        &mut self,
        text: &mut Text,
        (content_type, edition): (&CompiledType, Edition),
        stored: &StoredObject<'_>,
    ) {
        self.add_part(text, self.root(), (content_type, edition), stored, self.depth > 0);
    }

    fn add_part(
        &mut self,
        text: &mut Text,
        part: Part,
        (content_type, edition): (&CompiledType, Edition),
        stored: &StoredObject<'_>,
        with_links: bool,
    ) {
        let (name, properties) = (content_type.name(), &content_type.properties);
        if let (Part::Node(node), Some(projection)) = (part, self.projection) {
            let found =
                projection.object(node, &mut text.json, (name, properties), stored, with_links);
            for (at, field) in found.authors {
                let author = ObjectAuthor::new(field, content_type, edition, stored);
                let content = Content::Author(author);
                text.insertions.push(Insertion { span: at..at, content });
            }
            for (link, part) in found.links {
                self.record(text, 0, &link, part);
            }
            return;
        }
        render::object(&mut text.json, name, stored);
        if with_links {
            // The properties were appended last, without the opening brace of their stored text.
            let start = text.json.len() - stored.data.len();
            for found in scan::links(&stored.data, properties) {
                self.record(text, start, &found, Part::Complete);
            }
        }
    }

    /// Records a link of a text that begins at `start`, unless the caller may not read its target.
    fn record(&mut self, text: &mut Text, start: usize, link: &FoundLink, part: Part) {
        let target = self.catalog.find(&link.content_type);
        if let Some(target) =
            target.filter(|content_type| self.caller.may(Access::READ, content_type.name()))
        {
            let entry = self.targets.entry((target.pk, link.id.to_ascii_lowercase(), part));
            let target = entry.index();
            entry.or_default();
            let span = start + link.span.start..start + link.span.end;
            text.insertions.push(Insertion { span, content: Content::Target(target) });
        }
    }

    /// Number of objects that the links found so far point to.
    pub(crate) fn targets(&self) -> usize {
        self.targets.len()
    }

    /// Returns the text of a response with links replaced, and the primary keys of the types that
    /// it links to. `buffered` is the memory that was reserved for the text.
    pub(crate) fn finish(
        self,
        text: Text,
        buffered: BufferReservation<'_>,
    ) -> Result<(Vec<u8>, Vec<i64>)> {
        if self.depth > 0 || !text.insertions.is_empty() {
            return self.resolve(text);
        }
        let mut json = text.json;
        render::require_bounded(json.len())?;
        if self.projection.is_some() {
            // Memory was reserved for complete objects.
            json.shrink_to_fit();
        }
        buffered.transfer_to_request();
        Ok((json, Vec::new()))
    }

    /// Returns the text with links replaced, and the primary keys of the types that it links to.
    pub(crate) fn resolve(mut self, mut text: Text) -> Result<(Vec<u8>, Vec<i64>)> {
        let depth = self.depth;
        let mut bytes = text.json.len();
        let mut targets = BufferReservation::new(&self.caller.memory);
        let mut level = 0..self.targets.len();
        for remaining in (0..depth).rev() {
            // Targets of an earlier level are already fetched.
            self.fetch(level.clone(), remaining > 0, &mut bytes, &mut targets)?;
            level = level.end..self.targets.len();
        }
        let fetched = self.targets.values_mut().flatten();
        let authors = fetched.chain([&mut text]).flat_map(Text::authors).collect();
        authors::read(self.reader, self.caller, authors)?;
        let size = self.size(&text, self.sizes(depth).as_deref());
        render::require_bounded(size)?;
        let mut response = BufferReservation::new(&self.caller.memory);
        response.grow_to(size)?;
        let mut out = Vec::with_capacity(size);
        self.splice(&mut out, &text, depth);
        debug_assert!(out.len() <= size, "more is written than was reserved");
        response.transfer_to_request();
        let mut types: Vec<i64> = self.targets.keys().map(|(ctd, ..)| *ctd).collect();
        types.sort_unstable();
        types.dedup();
        Ok((out, types))
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
        let mut by_type: BTreeMap<i64, BTreeMap<Part, Vec<usize>>> = BTreeMap::new();
        for target in level {
            let (ctd, _, part) = &self.targets.get_index(target).expect("it is on this level").0;
            by_type.entry(*ctd).or_default().entry(*part).or_default().push(target);
        }
        let catalog = self.catalog;
        for content_type in catalog.types() {
            for (part, targets) in by_type.remove(&content_type.pk).unwrap_or_default() {
                for targets in targets.chunks(IDS_PER_STATEMENT) {
                    self.fetch_type(content_type, part, targets, with_links, bytes, buffered)?;
                }
            }
        }
        Ok(())
    }

    fn fetch_type(
        &mut self,
        content_type: &Arc<CompiledType>,
        part: Part,
        targets: &[usize],
        with_links: bool,
        bytes: &mut usize,
        buffered: &mut BufferReservation<'_>,
    ) -> Result<()> {
        let (reader, cache) = (self.reader, self.linked_objects);
        let view = View::for_list(self.caller, content_type);
        let columns = self.columns_of(part, content_type);
        let mut reserve = |text: &Text| {
            // Fails early if the response is too large: each object is in it at least once, and rarely
            // shorter than its link.
            *bytes = bytes.saturating_add(text.json.len());
            render::require_bounded(*bytes)?;
            buffered.add(text.bytes())
        };
        // Only texts without insertions are cached.
        let is_cacheable = part == Part::Complete && !with_links;
        let version = reader.known_type_version(content_type.pk).filter(|_| is_cacheable);
        let in_view = (content_type.pk, view);
        let mut ids = Vec::new();
        for &target in targets {
            let ((_, id, _), text) =
                self.targets.get_index_mut(target).expect("it is on this level");
            match version.and_then(|version| cache.get(version, in_view, id)) {
                Some(json) => {
                    let cached = Text { json: json.to_vec(), insertions: Vec::new() };
                    reserve(&cached)?;
                    *text = Some(cached);
                }
                None => ids.push(id.clone()),
            }
        }
        if ids.is_empty() {
            return Ok(());
        }
        reader.objects(view.edition, content_type.pk, &ids, columns, |stored| {
            if !view.admits_state(&stored.internal) {
                return Ok(());
            }
            let stored = view.mask(with_properties(stored, columns, content_type));
            let mut text = Text::default();
            self.add_part(&mut text, part, (content_type, view.edition), &stored, with_links);
            reserve(&text)?;
            let id = stored.id.to_ascii_lowercase();
            if let Some(version) = version {
                cache.insert(version, in_view, &id, &text.json);
            }
            self.targets.insert((content_type.pk, id, part), Some(text));
            Ok(())
        })
    }

    /// Sizes of the targets after their own links are replaced, `depth - 1` levels deep; none without a level.
    fn sizes(&self, depth: u8) -> Option<Vec<usize>> {
        let mut sizes: Option<Vec<usize>> = None;
        for _ in 0..depth {
            let size = |target: &Option<Text>| {
                target.as_ref().map_or(0, |text| self.size(text, sizes.as_deref()))
            };
            sizes = Some(self.targets.values().map(size).collect());
        }
        sizes
    }

    /// Size of a text with authors inserted, and with links replaced by objects of these sizes, if there are any.
    fn size(&self, text: &Text, sizes: Option<&[usize]>) -> usize {
        text.insertions.iter().fold(text.json.len(), |size, Insertion { span, content }| {
            match (content, sizes) {
                (Content::Author(author), _) => size.saturating_add(author.json.len()),
                (Content::Target(target), Some(sizes)) if self.targets[*target].is_some() => {
                    size.saturating_add(sizes[*target]) - span.len()
                }
                (Content::Target(_), _) => size,
            }
        })
    }

    /// Appends a text with authors inserted and links replaced.
    fn splice(&self, out: &mut Vec<u8>, text: &Text, depth: u8) {
        let mut copied = 0;
        for Insertion { span, content } in &text.insertions {
            let target = match content {
                Content::Author(author) => {
                    out.extend_from_slice(&text.json[copied..span.start]);
                    out.extend_from_slice(author.json.as_bytes());
                    copied = span.end;
                    continue;
                }
                Content::Target(target) => self.targets[*target].as_ref(),
            };
            let Some(target) = target.filter(|_| depth > 0) else { continue };
            out.extend_from_slice(&text.json[copied..span.start]);
            self.splice(out, target, depth - 1);
            copied = span.end;
        }
        out.extend_from_slice(&text.json[copied..]);
    }
}
