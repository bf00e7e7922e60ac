//! Projection: the parts of objects that `fields[]` names, see
//! docs/reference/objects.md#select-fields
//!
//! The paths of a request become a tree of names, which is applied to the stored text of an object
//! without parsing it. The text after the last named property is not scanned. `object::hydrate` of
//! cms-core fetches linked objects and asks here for their [`Part`]; this module knows neither
//! requests nor storage.

use super::{
    model::{Columns, StoredObject},
    render,
    scan::{self, FoundLink},
};
use crate::{
    auth::scope::Access,
    content_type::{catalog::Catalog, indexed::IndexedProperties, model::Property},
    context::Caller,
    error::{Error, Result},
    json, limits,
    query::path::{self, InternalField},
};

/// The part of an object that is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    Complete,
    /// The parts below a node of the tree.
    Node(usize),
}

/// The parts of objects that a request names: a tree whose first node is the object.
#[derive(Debug)]
pub struct Projection {
    nodes: Vec<Node>,
}

/// A node of the tree: the root, or a name in a path.
#[derive(Debug, Default)]
struct Node {
    /// A path ends here: the complete value is returned.
    is_complete: bool,
    children: Vec<Child>,
    /// Fields of `internal`, where the node is an object.
    internal: Vec<InternalField>,
    /// Further fields of `internal`, which a complete object does not have.
    authors: Vec<AuthorField>,
}

crate::named_enum! {
    /// A field of `internal` that names the author of a change; returned only where a path names it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum AuthorField {
        CreatedBy => "createdBy",
        UpdatedBy => "updatedBy",
    }
}

#[derive(Debug)]
struct Child {
    /// As in JSON text, without quotes.
    name: String,
    node: usize,
}

/// The authors to insert into the text of a part, and the links to follow. Each list is in text order; in the text, all
/// authors precede the links.
#[derive(Debug, Default)]
pub struct References {
    /// Positions at which the authors are to be inserted.
    pub authors: Vec<(usize, AuthorField)>,
    /// Links to follow, each with the part of its target to return: links on a requested path, and
    /// links in values that are returned completely.
    pub links: Vec<(FoundLink, Part)>,
}

/// Decides where paths below relations lead.
#[derive(Clone, Copy)]
pub struct PathScope<'a> {
    pub catalog: &'a Catalog,
    pub caller: &'a Caller,
    /// Number of levels on which links are replaced with objects.
    pub hydrate: u8,
}

impl PathScope<'_> {
    /// Returns whether a type with these properties declares a path. The first name must be a
    /// property, `id`, `internal` or `*`. Each further name must be a declared member if its parent
    /// declares members; otherwise any name is accepted. Below a relation, the target type decides, if
    /// there is only one and the caller may read it.
    pub fn declares(&self, properties: &[Property], names: &[String]) -> bool {
        let Some((first, rest)) = names.split_first() else { return true };
        match first.as_str() {
            "id" => true,
            "*" => rest.is_empty(),
            "internal" => rest.first().is_none_or(|name| is_internal_field(name)),
            name => {
                let property = properties.iter().find(|property| property.name == name);
                property.is_some_and(|property| self.value_declares(property, rest))
            }
        }
    }

    fn value_declares(&self, property: &Property, names: &[String]) -> bool {
        let Some((first, rest)) = names.split_first() else { return true };
        let fixed = property.input_type.fixed_members();
        if let Some(relation) = &property.relation {
            // A link that is not replaced with its object is returned completely, regardless of the path below it.
            let Some(hydrate) = self.hydrate.checked_sub(1) else { return true };
            let target = relation.target.as_deref().and_then(|name| self.catalog.find(name));
            let target = target.filter(|target| self.caller.may(Access::READ, target.name()));
            let of_target = Self { hydrate, ..*self };
            return fixed.contains(&first.as_str())
                || target.is_none_or(|target| of_target.declares(&target.properties, names));
        }
        if !fixed.is_empty() {
            return fixed.contains(&first.as_str());
        }
        let inner = property.nested.iter().find(|inner| inner.name == *first);
        property.nested.is_empty() || inner.is_some_and(|inner| self.value_declares(inner, rest))
    }
}

/// Returns the paths of a request that no type declares, in their order.
pub fn unknown_paths(paths: &[String], declares: impl Fn(&[String]) -> bool) -> Vec<String> {
    let is_unknown = |text: &&String| !names(text).is_some_and(|names| declares(&names));
    paths.iter().filter(is_unknown).cloned().collect()
}

/// The names in a path; none when its syntax is invalid. `[*]` and `[n]` are dropped: a path always means all elements
/// of a list.
fn names(text: &str) -> Option<Vec<String>> {
    path::names(text.strip_prefix("$.").unwrap_or(text))
}

fn is_internal_field(name: &str) -> bool {
    InternalField::parse(name).is_some() || AuthorField::parse(name).is_some()
}

impl Projection {
    /// Reads the paths of a query parameter; none returns complete objects. Paths that no type
    /// declares return nothing.
    ///
    /// # Errors
    /// [`Error::Invalid`] for too many paths.
    pub fn read(
        parameter: &str,
        paths: &[String],
        declares: impl Fn(&[String]) -> bool,
    ) -> Result<Option<Self>> {
        if paths.len() > limits::MAX_FIELDS {
            let message = format!("Too many fields, limit: {}", limits::MAX_FIELDS);
            return Err(Error::invalid(parameter, message));
        }
        let mut projection = Self { nodes: vec![Node::default()] };
        let declared = paths.iter().filter_map(|text| names(text));
        for names in declared.filter(|names| declares(names)) {
            projection.insert(&names);
        }
        projection.finish();
        let is_partial = !paths.is_empty() && projection.root() != Part::Complete;
        Ok(is_partial.then_some(projection))
    }

    fn insert(&mut self, names: &[String]) {
        let mut node = 0;
        // `*` is every part of an object.
        for name in names.iter().take_while(|name| *name != "*") {
            let quoted = serde_json::to_string(name).expect("strings are valid JSON");
            let name = &quoted[1..quoted.len() - 1];
            node = self.child(node, name).unwrap_or_else(|| {
                let new = self.nodes.len();
                self.nodes.push(Node::default());
                self.nodes[node].children.push(Child { name: name.to_owned(), node: new });
                new
            });
        }
        self.nodes[node].is_complete = true;
    }

    fn child(&self, node: usize, name: &str) -> Option<usize> {
        let child = self.nodes[node].children.iter().find(|child| child.name == name);
        child.map(|child| child.node)
    }

    /// Marks everything below a complete value as complete, and sets the fields of `internal`.
    fn finish(&mut self) {
        // The index of a child is larger than that of its parent.
        for node in 0..self.nodes.len() {
            let children: Vec<usize> =
                self.nodes[node].children.iter().map(|child| child.node).collect();
            for child in children {
                self.nodes[child].is_complete |= self.nodes[node].is_complete;
            }
        }
        for node in 0..self.nodes.len() {
            let Some(internal) = self.child(node, "internal") else { continue };
            let is_named = |name| {
                self.child(internal, name).is_some_and(|field| self.nodes[field].is_complete)
            };
            let has_all_fields = self.nodes[internal].is_complete;
            let fields = InternalField::ALL.into_iter();
            let fields =
                fields.filter(|field| has_all_fields || is_named(field.as_str())).collect();
            let authors = AuthorField::ALL.into_iter();
            let authors = authors.filter(|field| is_named(field.as_str())).collect();
            (self.nodes[node].internal, self.nodes[node].authors) = (fields, authors);
        }
    }

    /// The part of the objects of the response.
    pub fn root(&self) -> Part {
        self.part(0)
    }

    fn part(&self, node: usize) -> Part {
        let is_complete = self.nodes[node].is_complete && self.nodes[node].authors.is_empty();
        if is_complete { Part::Complete } else { Part::Node(node) }
    }

    /// Returns whether a path names exactly this member of the root, or everything.
    pub fn names_member(&self, member: &str) -> bool {
        self.nodes[0].is_complete
            || self.child(0, member).is_some_and(|node| self.nodes[node].is_complete)
    }

    /// The columns that a part of objects of a type needs.
    pub fn columns(&self, part: Part, indexed: &IndexedProperties) -> Columns {
        let Part::Node(node) = part else { return Columns::All };
        if self.nodes[node].is_complete {
            return Columns::All;
        }
        let mut names = self.properties(node).peekable();
        if names.peek().is_none() {
            Columns::WithoutProperties
        } else if names.all(|name| indexed.find(name).is_some()) {
            Columns::IndexedProperties
        } else {
            Columns::All
        }
    }

    /// Returns the properties of an object of the response, as JSON, without those that the paths do not name.
    pub fn reduced(&self, data: &str) -> String {
        let mut out = String::from("{");
        for (name, value) in json::members(data).filter(|(name, _)| self.child(0, name).is_some()) {
            json::push_member(&mut out, name, value);
        }
        out.push('}');
        out
    }

    /// Names of the properties of an object: not `id` and `internal`.
    fn properties(&self, node: usize) -> impl Iterator<Item = &str> {
        let names = self.nodes[node].children.iter().map(|child| child.name.as_str());
        names.filter(|name| !["id", "internal"].contains(name))
    }

    /// Appends a part of an object: `id` and the members that the paths select, in the order of the complete object.
    pub fn object(
        &self,
        node: usize,
        out: &mut Vec<u8>,
        (content_type, properties): (&str, &[Property]),
        stored: &StoredObject<'_>,
        with_links: bool,
    ) -> References {
        let mut references = References::default();
        out.extend_from_slice(b"{\"id\":");
        render::string(out, &stored.id);
        if self.child(node, "internal").is_some() {
            out.extend_from_slice(b",\"internal\":");
            references.authors = self.internal(node, out, content_type, stored);
        }
        let mut links = Vec::new();
        let found = with_links.then_some(&mut links);
        let mut text = PartText { projection: self, out, links: found };
        let expected =
            if self.nodes[node].is_complete { usize::MAX } else { self.properties(node).count() };
        text.members(node, expected, properties, &stored.data, false);
        out.push(b'}');
        references.links = links;
        references
    }

    fn internal(
        &self,
        node: usize,
        out: &mut Vec<u8>,
        content_type: &str,
        stored: &StoredObject<'_>,
    ) -> Vec<(usize, AuthorField)> {
        out.push(b'{');
        let first = out.len();
        let push_name = |out: &mut Vec<u8>, name: &str| {
            out.extend_from_slice(if out.len() == first { b"\"" } else { b",\"" });
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"\":");
        };
        for field in &self.nodes[node].internal {
            let start = out.len();
            push_name(out, field.as_str());
            if !render::internal_value(out, *field, content_type, &stored.internal) {
                out.truncate(start);
            }
        }
        let mut authors = Vec::new();
        for field in &self.nodes[node].authors {
            push_name(out, field.as_str());
            authors.push((out.len(), *field));
        }
        out.push(b'}');
        authors
    }
}

/// The text of a part, while it is appended.
struct PartText<'a> {
    projection: &'a Projection,
    out: &'a mut Vec<u8>,
    links: Option<&'a mut Vec<(FoundLink, Part)>>,
}

impl PartText<'_> {
    /// Appends the named members of an object; `expected` is their number.
    fn members(
        &mut self,
        node: usize,
        mut expected: usize,
        properties: &[Property],
        object: &str,
        mut is_first: bool,
    ) {
        let mut members = json::members(object);
        while expected > 0
            && let Some((name, value)) = members.next()
        {
            let child = self.projection.child(node, name);
            if child.is_none() && !self.projection.nodes[node].is_complete {
                continue;
            }
            expected -= 1;
            let start = self.out.len();
            self.out.extend_from_slice(if is_first { b"\"" } else { b",\"" });
            self.out.extend_from_slice(name.as_bytes());
            self.out.extend_from_slice(b"\":");
            let property = properties.iter().find(|property| property.name == name);
            if self.value(child, property, value) {
                is_first = false;
            } else {
                self.out.truncate(start);
            }
        }
    }

    /// Appends the part of a value below a node; without a node, the complete value. Returns false if
    /// no path leads into the value.
    fn value(&mut self, node: Option<usize>, property: Option<&Property>, value: &str) -> bool {
        let is_relation = property.is_some_and(|property| property.relation.is_some());
        let part = node.map_or(Part::Complete, |node| self.projection.part(node));
        let below = node.filter(|node| !is_relation && !self.projection.nodes[*node].is_complete);
        let Some(node) = below else {
            let start = self.out.len();
            self.out.extend_from_slice(value.as_bytes());
            if let (Some(links), Some(property)) = (&mut self.links, property) {
                let part = if is_relation { part } else { Part::Complete };
                for mut link in scan::value_links(value, property) {
                    link.span = start + link.span.start..start + link.span.end;
                    links.push((link, part));
                }
            }
            return true;
        };
        match value.as_bytes().first() {
            Some(b'{') => {
                self.out.push(b'{');
                let expected = self.projection.nodes[node].children.len();
                let nested = property.map_or(&[][..], |property| &property.nested);
                self.members(node, expected, nested, value, true);
                self.out.push(b'}');
                true
            }
            Some(b'[') => {
                self.out.push(b'[');
                let first = self.out.len();
                for element in json::elements(value) {
                    let start = self.out.len();
                    if start > first {
                        self.out.push(b',');
                    }
                    if !self.value(Some(node), property, element) {
                        self.out.truncate(start);
                    }
                }
                self.out.push(b']');
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
