//! Hydration: links of stored objects replaced by the objects they point to (contract 3.5).
//!
//! Breadth first: one statement per type and level fetches all targets, then the answer is put
//! together from stored texts. Two levels are the most, so a cycle ends as a link.

use std::{collections::HashMap, sync::Arc};

use super::{
    model::Stored,
    render,
    scan::{self, FoundLink},
    view::View,
};
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

/// An object with the links that its text holds.
struct Node {
    content_type: Arc<Type>,
    stored: Stored<'static>,
    links: Vec<FoundLink>,
}

/// Targets by type and lower-case id.
type Targets = HashMap<(i64, String), Node>;

impl Hydration<'_> {
    /// Appends objects of one type, `depth` levels deep, separated by commas.
    pub(crate) fn render(
        &self,
        out: &mut Vec<u8>,
        content_type: &Arc<Type>,
        objects: Vec<Stored<'static>>,
        depth: u8,
    ) -> Result<()> {
        let roots: Vec<Node> =
            objects.into_iter().map(|stored| node(content_type, stored)).collect();
        let mut targets = Targets::new();
        let mut wanted = self.wanted(&roots, &targets);
        for level in 0..depth {
            let fetched = self.fetch(wanted, level + 1 < depth)?;
            wanted = self.wanted(fetched.values(), &targets);
            for (key, node) in fetched {
                targets.entry(key).or_insert(node);
            }
        }
        for (index, root) in roots.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            self.splice(out, root, &targets, depth);
        }
        Ok(())
    }

    /// Returns which objects the nodes point to and nobody fetched yet, ids by type.
    fn wanted<'n>(
        &self,
        nodes: impl IntoIterator<Item = &'n Node>,
        known: &Targets,
    ) -> HashMap<i64, (Arc<Type>, Vec<String>)> {
        let mut wanted: HashMap<i64, (Arc<Type>, Vec<String>)> = HashMap::new();
        let links = nodes.into_iter().flat_map(|node| &node.links);
        for link in links.take(limits::HYDRATED_LINKS) {
            let Some(target) = self.readable_type(&link.content_type) else { continue };
            let key = key(target, &link.id);
            if !known.contains_key(&key) {
                let entry = wanted.entry(key.0);
                entry.or_insert_with(|| (Arc::clone(target), Vec::new())).1.push(key.1);
            }
        }
        for (_, ids) in wanted.values_mut() {
            ids.sort_unstable();
            ids.dedup();
        }
        wanted
    }

    fn readable_type(&self, name: &str) -> Option<&Arc<Type>> {
        self.catalog.find(name).filter(|_| self.caller.may(Access::READ, name))
    }

    /// Fetches the wanted objects; their own links only when another level follows.
    fn fetch(
        &self,
        wanted: HashMap<i64, (Arc<Type>, Vec<String>)>,
        with_links: bool,
    ) -> Result<Targets> {
        let mut fetched = Targets::new();
        for (content_type, ids) in wanted.into_values() {
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            for stored in self.reader.objects(content_type.pk, &ids)? {
                if !View::of_many(self.caller, &content_type).shows(&stored.internal) {
                    continue;
                }
                let key = key(&content_type, &stored.id);
                let node = if with_links {
                    node(&content_type, stored)
                } else {
                    Node { content_type: Arc::clone(&content_type), stored, links: Vec::new() }
                };
                fetched.insert(key, node);
            }
        }
        Ok(fetched)
    }

    /// Appends an object with its links replaced, as long as the answer is not too large.
    fn splice(&self, out: &mut Vec<u8>, node: &Node, targets: &Targets, depth: u8) {
        let data: &str = &node.stored.data;
        render::head(out, node.content_type.name(), &node.stored);
        let mut copied = 1;
        for link in if depth > 0 { node.links.as_slice() } else { &[] } {
            let Some(target) = self
                .readable_type(&link.content_type)
                .and_then(|content_type| targets.get(&key(content_type, &link.id)))
                .filter(|_| out.len() < limits::HYDRATED_BYTES)
            else {
                continue;
            };
            out.extend_from_slice(&data.as_bytes()[copied..link.span.start]);
            self.splice(out, target, targets, depth - 1);
            copied = link.span.end;
        }
        out.extend_from_slice(&data.as_bytes()[copied..]);
    }
}

fn node(content_type: &Arc<Type>, stored: Stored<'static>) -> Node {
    let links = scan::links(&stored.data, &content_type.properties);
    Node { content_type: Arc::clone(content_type), stored, links }
}

fn key(content_type: &Type, id: &str) -> (i64, String) {
    (content_type.pk, id.to_ascii_lowercase())
}
