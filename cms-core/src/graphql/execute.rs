//! Reads the objects that a plan asks for, and writes the answer.
//!
//! All of it happens in one snapshot. Fields at the root are lists like those of the rest of the API,
//! with the same conditions, order, views and remembered counts. Relations are followed level by level:
//! one statement per level and type fetches what all objects of the level lead to, each object
//! once, whatever the number of those that lead there.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
};

use async_graphql::Value as Described;
use cms_model::{
    content_type::catalog::{Catalog, CompiledType},
    context::Caller,
    error::{self, Error},
    graphql::{
        fault::{Failure, Fault},
        input::Values,
        lists::{self, One},
        plan::{Action, Edge, Keyed, PageInfo, Part, Plan, Selection},
        render::{Targets, Text},
    },
    limits,
    memory::BufferReservation,
    object::{model::StoredObject, view::View},
    paging::ListRange,
    wire::object::ListRequest,
};
use serde_json::{Value, json};

use crate::{cms::Cms, store::Reader};

/// Where a plan is carried out: one snapshot, one view of the content.
pub(crate) struct Execution<'a> {
    pub(crate) cms: &'a Cms,
    pub(crate) reader: &'a Reader<'a>,
    pub(crate) catalog: &'a Catalog,
    pub(crate) caller: &'a Caller,
    pub(crate) plan: &'a Plan,
    /// Answers to the fields that ask for the schema.
    pub(crate) schema: Option<Described>,
}

/// An answer that is being made.
struct Answer<'p> {
    text: Text,
    targets: Targets<'p>,
    /// Objects in the answer so far.
    objects: usize,
    /// Keys of single objects that are not there.
    missing: Vec<&'p str>,
    /// Covers text and targets.
    buffered: BufferReservation<'p>,
}

impl Answer<'_> {
    /// Counts an object; false when there are too many, or too much text with what is `pending`.
    fn has_room(&mut self, pending: usize) -> error::Result<bool> {
        self.objects += 1;
        self.buffered.cover(self.text.json.capacity() + pending)?;
        let bytes = self.text.json.len() + pending;
        Ok(self.objects <= limits::MAX_GRAPHQL_OBJECTS
            && bytes <= limits::MAX_GRAPHQL_RESPONSE_BYTES)
    }
}

fn too_many() -> Fault {
    let limit = limits::MAX_GRAPHQL_OBJECTS;
    Fault::too_complex(format!("Query resolves too many objects, limit: {limit}"))
}

impl Execution<'_> {
    /// Returns the body of the answer.
    pub(crate) fn run(&self) -> Result<Vec<u8>, Failure> {
        let mut answer = Answer {
            text: Text::default(),
            targets: Targets::of(&self.plan.relations),
            objects: 0,
            missing: Vec::new(),
            buffered: BufferReservation::new(&self.caller.memory),
        };
        answer.text.json.extend_from_slice(b"{\"data\":{");
        for (index, root) in self.plan.roots.iter().enumerate() {
            if index > 0 {
                answer.text.json.push(b',');
            }
            let key = format!("\"{}\":", root.key);
            answer.text.json.extend_from_slice(key.as_bytes());
            self.root(&mut answer, &root.key, &root.action)?;
        }
        answer.text.json.push(b'}');
        if answer.text.json.len() > limits::MAX_GRAPHQL_RESPONSE_BYTES {
            return Err(too_many().into());
        }
        self.follow(&mut answer)?;
        let mut response = BufferReservation::new(&self.caller.memory);
        let filled = answer.targets.fill(&answer.text, &mut answer.objects, &mut response)?;
        let mut body = filled.ok_or_else(too_many)?;
        response.keep();
        if !answer.missing.is_empty() {
            let errors = answer.missing.iter().map(|key| {
                let extensions = json!({ "code": "NOT_FOUND" });
                json!({ "message": "Not found", "path": [key], "extensions": extensions })
            });
            body.extend_from_slice(b",\"errors\":");
            let errors = Value::Array(errors.collect()).to_string();
            body.extend_from_slice(errors.as_bytes());
        }
        body.push(b'}');
        Ok(body)
    }

    fn root<'p>(
        &'p self,
        answer: &mut Answer<'p>,
        key: &'p str,
        action: &'p Action,
    ) -> Result<(), Failure> {
        match action {
            Action::TypeName => answer.text.json.extend_from_slice(b"\"Query\""),
            Action::Introspection => {
                let described = match &self.schema {
                    Some(Described::Object(fields)) => fields.get(key),
                    _ => None,
                };
                let described = serde_json::to_vec(&described)
                    .map_err(|error| Error::Internal(error.into()))?;
                answer.text.json.extend_from_slice(&described);
            }
            Action::One { content_type, arguments, selection } => {
                let content_type = self.catalog.get(content_type)?;
                if !self.one(answer, content_type, arguments, selection)? {
                    answer.text.json.extend_from_slice(b"null");
                    answer.missing.push(key);
                }
            }
            Action::List { content_type, arguments, selection } => {
                self.list(answer, self.catalog.get(content_type)?, arguments, selection)?;
            }
            Action::Connection { content_type, arguments, parts } => {
                self.connection(answer, self.catalog.get(content_type)?, arguments, parts)?;
            }
        }
        Ok(())
    }

    /// Appends the object that arguments name; false when there is none.
    fn one(
        &self,
        answer: &mut Answer<'_>,
        content_type: &CompiledType,
        arguments: &Values,
        selection: &Selection,
    ) -> Result<bool, Failure> {
        let mut found = false;
        let show = |stored: StoredObject<'_>| {
            found = true;
            answer.objects += 1;
            let name = content_type.name();
            answer.targets.object(&mut answer.text, selection, name, &stored);
            Ok(())
        };
        match lists::one(&content_type.properties, arguments)? {
            One::ById(id) => self.by_id(content_type, id, show)?,
            One::First(request, slice) => {
                self.rows(content_type, &request, slice, show)?;
            }
        }
        Ok(found)
    }

    fn list(
        &self,
        answer: &mut Answer<'_>,
        content_type: &CompiledType,
        arguments: &Values,
        selection: &Selection,
    ) -> Result<(), Failure> {
        let (request, slice) = lists::list(arguments);
        let mut has_room = true;
        let mut is_first = true;
        answer.text.json.push(b'[');
        self.rows(content_type, &request, slice, |stored| {
            has_room = has_room && answer.has_room(0)?;
            if !has_room {
                return Ok(());
            }
            if !std::mem::take(&mut is_first) {
                answer.text.json.push(b',');
            }
            answer.targets.object(&mut answer.text, selection, content_type.name(), &stored);
            Ok(())
        })?;
        answer.text.json.push(b']');
        if has_room { Ok(()) } else { Err(too_many().into()) }
    }

    fn connection(
        &self,
        answer: &mut Answer<'_>,
        content_type: &CompiledType,
        arguments: &Values,
        parts: &[Keyed<Part>],
    ) -> Result<(), Failure> {
        let (request, slice) = lists::connection(&content_type.properties, arguments)?;
        let edges = |part: &Keyed<Part>| matches!(part.value, Part::Edges(_));
        // Each part that shows edges is written while rows pass; there is mostly one.
        let mut texts: Vec<Text> =
            parts.iter().filter(|part| edges(part)).map(|_| Text::default()).collect();
        let (mut shown, mut has_room) = (0, true);
        let matching = self.rows(content_type, &request, slice, |stored| {
            let pending = texts.iter().map(|text| text.json.len()).sum();
            has_room = has_room && answer.has_room(pending)?;
            if !has_room {
                return Ok(());
            }
            let edges = parts.iter().filter_map(|part| match &part.value {
                Part::Edges(edges) => Some(edges),
                _ => None,
            });
            for (edges, text) in edges.zip(&mut texts) {
                if shown > 0 {
                    text.json.push(b',');
                }
                edge(&mut answer.targets, text, edges, content_type, &stored);
            }
            shown += 1;
            Ok(())
        })?;
        if !has_room {
            return Err(too_many().into());
        }
        let has_next = slice.offset.saturating_add(shown) < matching;
        let mut texts = texts.into_iter();
        let out = &mut answer.text;
        for (index, part) in parts.iter().enumerate() {
            out.json.push(if index == 0 { b'{' } else { b',' });
            out.json.extend_from_slice(&part.key);
            match &part.value {
                Part::Edges(_) => {
                    out.json.push(b'[');
                    out.append(texts.next().unwrap_or_default());
                    out.json.push(b']');
                }
                Part::PageInfo(fields) => page_info(&mut out.json, fields, has_next),
                Part::TotalCount => out.json.extend_from_slice(matching.to_string().as_bytes()),
                Part::Text(fixed) => out.json.extend_from_slice(fixed),
            }
        }
        out.json.extend_from_slice(if parts.is_empty() { b"{}" } else { b"}" });
        Ok(())
    }

    /// Hands the object of an id to `visit`, when the caller may see it.
    fn by_id(
        &self,
        content_type: &CompiledType,
        id: &str,
        mut visit: impl FnMut(StoredObject<'_>) -> error::Result<()>,
    ) -> Result<(), Failure> {
        let view = View::for_list(self.caller, content_type);
        self.reader.object(view.edition, content_type.pk, id, |stored| {
            if view.shows(&stored.internal) { visit(view.mask(stored)) } else { Ok(()) }
        })?;
        Ok(())
    }

    /// Hands the objects of a stretch of a list to `visit`; returns how many the whole list has.
    fn rows(
        &self,
        content_type: &CompiledType,
        request: &ListRequest,
        slice: ListRange,
        mut visit: impl FnMut(StoredObject<'_>) -> error::Result<()>,
    ) -> Result<u64, Failure> {
        let view = View::for_list(self.caller, content_type);
        let objects = self.cms.objects();
        let plan = objects.plan(self.reader, content_type, view, request, slice, true);
        let plan = plan.map_err(|error| match error {
            Error::Invalid(errors) => {
                Failure::Faults(errors.at("filters").iter().map(Fault::bad_request).collect())
            }
            other => Failure::Error(other),
        })?;
        let plan = plan.expect("without a bound nothing is put off");
        if plan.matching > slice.offset {
            self.reader.list(&plan.page, |stored| {
                visit(view.mask(stored))?;
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(plan.matching)
    }

    /// Fetches what relations lead to, level by level.
    fn follow(&self, answer: &mut Answer<'_>) -> Result<(), Failure> {
        let (mut fetched, mut bytes) = (0, 0);
        let deepest = self.plan.relations.iter().map(|relation| relation.level).max();
        for level in 0..deepest.map_or(0, |deepest| deepest + 1) {
            let mut by_type: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
            for (index, relation) in self.plan.relations.iter().enumerate() {
                if relation.level == level {
                    by_type.entry(&relation.content_type).or_default().push(index);
                }
            }
            for (content_type, relations) in by_type {
                let content_type = self.catalog.get(content_type)?;
                let ids: BTreeSet<String> = relations
                    .iter()
                    .flat_map(|relation| answer.targets.ids(*relation))
                    .map(str::to_owned)
                    .collect();
                fetched += ids.len();
                if fetched > limits::MAX_GRAPHQL_OBJECTS {
                    return Err(too_many().into());
                }
                if !ids.is_empty() {
                    bytes += self.fetch(answer, content_type, &relations, &ids)?;
                }
                if bytes > limits::MAX_GRAPHQL_RESPONSE_BYTES {
                    return Err(too_many().into());
                }
            }
        }
        Ok(())
    }

    /// Fetches objects of one type by one statement, for all relations that lead there; returns
    /// how large their texts are.
    fn fetch(
        &self,
        answer: &mut Answer<'_>,
        content_type: &CompiledType,
        relations: &[usize],
        ids: &BTreeSet<String>,
    ) -> Result<usize, Failure> {
        let view = View::for_list(self.caller, content_type);
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let mut bytes = 0;
        self.reader.objects(view.edition, content_type.pk, &ids, |stored| {
            if !view.shows(&stored.internal) || bytes > limits::MAX_GRAPHQL_RESPONSE_BYTES {
                return Ok(());
            }
            let stored = view.mask(stored);
            let id = stored.id.to_ascii_lowercase();
            for relation in relations {
                if answer.targets.leads_to(*relation, &id) {
                    let selection = &self.plan.relations[*relation].selection;
                    let mut text = Text::default();
                    answer.targets.object(&mut text, selection, content_type.name(), &stored);
                    bytes += text.json.len();
                    answer.buffered.add(text.json.capacity())?;
                    answer.targets.set(*relation, &id, text);
                }
            }
            Ok(())
        })?;
        Ok(bytes)
    }
}

fn edge(
    targets: &mut Targets<'_>,
    text: &mut Text,
    parts: &[Keyed<Edge>],
    content_type: &CompiledType,
    stored: &StoredObject<'_>,
) {
    for (index, part) in parts.iter().enumerate() {
        text.json.push(if index == 0 { b'{' } else { b',' });
        text.json.extend_from_slice(&part.key);
        match &part.value {
            Edge::Node(selection) => targets.object(text, selection, content_type.name(), stored),
            Edge::Text(fixed) => text.json.extend_from_slice(fixed),
        }
    }
    text.json.extend_from_slice(if parts.is_empty() { b"{}" } else { b"}" });
}

fn page_info(out: &mut Vec<u8>, fields: &[Keyed<PageInfo>], has_next: bool) {
    for (index, field) in fields.iter().enumerate() {
        out.push(if index == 0 { b'{' } else { b',' });
        out.extend_from_slice(&field.key);
        out.extend_from_slice(match &field.value {
            PageInfo::HasNextPage if has_next => b"true",
            PageInfo::HasNextPage => b"false",
            PageInfo::Text(fixed) => fixed,
        });
    }
    out.extend_from_slice(if fields.is_empty() { b"{}" } else { b"}" });
}

#[cfg(test)]
mod tests;
