//! Executes a plan: reads its objects and writes the response.
//!
//! One snapshot serves the complete query. Root fields are lists like those of the REST API, with
//! the same conditions, order, views and cached counts. Relations are resolved level by level: one
//! statement per level and type reads all linked objects, each of them once.

use std::collections::{BTreeMap, BTreeSet};

use async_graphql::Value as IntrospectionValue;
use cms_model::{
    content_type::catalog::{Catalog, CompiledType},
    context::Caller,
    error::{self, Error},
    graphql::{
        arguments::{self as field_arguments, ObjectLookup},
        error::{QueryError, QueryFailure},
        input::Values,
        plan::{Action, ConnectionField, HasNextPage, Keyed, KeyedField, Plan, Selection},
        render::{RelationTargets, Template},
    },
    limits,
    memory::BufferReservation,
    object::{
        list::ObjectList,
        model::{Columns, StoredObject},
        view::View,
    },
    paging::ListRange,
    query::linked::LinkScope,
    wire::object::ListRequest,
};
use cms_store::Reader;
use serde_json::{Value, json};

use crate::cms::Cms;

/// The inputs of the execution of a plan.
pub(crate) struct PlanExecution<'a> {
    pub(crate) cms: &'a Cms,
    pub(crate) reader: &'a Reader<'a>,
    pub(crate) catalog: &'a Catalog,
    pub(crate) caller: &'a Caller,
    pub(crate) plan: &'a Plan,
    /// Values of the introspection fields.
    pub(crate) introspection: Option<IntrospectionValue>,
}

/// A response under construction.
struct PartialResponse<'p> {
    template: Template,
    targets: RelationTargets<'p>,
    /// Number of objects in the response so far.
    objects: usize,
    /// Response keys of single objects that do not exist.
    missing: Vec<&'p str>,
    /// Memory of `template` and `targets`.
    buffered: BufferReservation<'p>,
}

impl PartialResponse<'_> {
    /// Counts an object. Returns false when the response, with `pending` more bytes, exceeds a limit.
    fn has_room(&mut self, pending: usize) -> error::Result<bool> {
        self.objects += 1;
        self.buffered.grow_to(self.template.json.capacity() + pending)?;
        let bytes = self.template.json.len() + pending;
        Ok(self.objects <= limits::MAX_GRAPHQL_OBJECTS
            && bytes <= limits::MAX_GRAPHQL_RESPONSE_BYTES)
    }
}

fn too_many_objects() -> QueryError {
    let limit = limits::MAX_GRAPHQL_OBJECTS;
    QueryError::too_complex(format!("Query resolves too many objects, limit: {limit}"))
}

fn too_large() -> QueryError {
    let limit = limits::MAX_GRAPHQL_RESPONSE_BYTES / (1024 * 1024);
    QueryError::too_complex(format!("The response would exceed {limit} MiB"))
}

/// The error of a response with this number of objects that exceeds a limit.
fn limit_exceeded(objects: usize) -> QueryError {
    if objects > limits::MAX_GRAPHQL_OBJECTS { too_many_objects() } else { too_large() }
}

fn too_many_links() -> QueryError {
    let limit = limits::MAX_GRAPHQL_LINKS;
    QueryError::too_complex(format!("Query follows too many links, limit: {limit}"))
}

impl PlanExecution<'_> {
    /// Returns the body of the response.
    pub(crate) fn run(&self) -> Result<Vec<u8>, QueryFailure> {
        let mut response = PartialResponse {
            template: Template::default(),
            targets: RelationTargets::of(&self.plan.relations),
            objects: 0,
            missing: Vec::new(),
            buffered: BufferReservation::new(&self.caller.memory),
        };
        response.template.json.extend_from_slice(b"{\"data\":{");
        for (index, root) in self.plan.roots.iter().enumerate() {
            if index > 0 {
                response.template.json.push(b',');
            }
            let key = format!("\"{}\":", root.key);
            response.template.json.extend_from_slice(key.as_bytes());
            self.root(&mut response, &root.key, &root.action)?;
        }
        response.template.json.push(b'}');
        if response.template.json.len() > limits::MAX_GRAPHQL_RESPONSE_BYTES {
            return Err(too_large().into());
        }
        self.resolve_relations(&mut response)?;
        let mut body_memory = BufferReservation::new(&self.caller.memory);
        let filled =
            response.targets.fill(&response.template, &mut response.objects, &mut body_memory)?;
        let mut body = filled.ok_or_else(|| limit_exceeded(response.objects))?;
        body_memory.transfer_to_request();
        if !response.missing.is_empty() {
            let errors = response.missing.iter().map(|key| {
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
        response: &mut PartialResponse<'p>,
        key: &'p str,
        action: &'p Action,
    ) -> Result<(), QueryFailure> {
        match action {
            Action::TypeName => response.template.json.extend_from_slice(b"\"Query\""),
            Action::Introspection => {
                let described = match &self.introspection {
                    Some(IntrospectionValue::Object(fields)) => fields.get(key),
                    _ => None,
                };
                let described = serde_json::to_vec(&described).map_err(Error::internal)?;
                response.template.json.extend_from_slice(&described);
            }
            Action::One { content_type, arguments, selection } => {
                let content_type = self.catalog.get(content_type)?;
                if !self.one(response, content_type, arguments, selection)? {
                    response.template.json.extend_from_slice(b"null");
                    response.missing.push(key);
                }
            }
            Action::List { content_type, arguments, selection } => {
                self.list(response, self.catalog.get(content_type)?, arguments, selection)?;
            }
            Action::Connection { content_type, arguments, parts } => {
                self.connection(response, self.catalog.get(content_type)?, arguments, parts)?;
            }
        }
        Ok(())
    }

    /// Appends the object that the arguments identify; false when there is none.
    fn one(
        &self,
        response: &mut PartialResponse<'_>,
        content_type: &CompiledType,
        arguments: &Values,
        selection: &Selection,
    ) -> Result<bool, QueryFailure> {
        let mut found = false;
        let show = |stored: StoredObject<'_>| {
            found = true;
            response.objects += 1;
            let name = content_type.name();
            response.targets.object(&mut response.template, selection, name, &stored);
            Ok(())
        };
        match field_arguments::object(&content_type.properties, arguments)? {
            ObjectLookup::ById(id) => self.by_id(content_type, id, show)?,
            ObjectLookup::First(request, range) => {
                self.rows(content_type, &request, range, show)?;
            }
        }
        Ok(found)
    }

    fn list(
        &self,
        response: &mut PartialResponse<'_>,
        content_type: &CompiledType,
        arguments: &Values,
        selection: &Selection,
    ) -> Result<(), QueryFailure> {
        let (request, range) = field_arguments::list(arguments);
        let mut has_room = true;
        let mut is_first = true;
        response.template.json.push(b'[');
        self.rows(content_type, &request, range, |stored| {
            has_room = has_room && response.has_room(0)?;
            if !has_room {
                return Ok(());
            }
            if !std::mem::take(&mut is_first) {
                response.template.json.push(b',');
            }
            let name = content_type.name();
            response.targets.object(&mut response.template, selection, name, &stored);
            Ok(())
        })?;
        response.template.json.push(b']');
        if has_room { Ok(()) } else { Err(limit_exceeded(response.objects).into()) }
    }

    fn connection(
        &self,
        response: &mut PartialResponse<'_>,
        content_type: &CompiledType,
        arguments: &Values,
        parts: &[Keyed<ConnectionField>],
    ) -> Result<(), QueryFailure> {
        let (request, range) = field_arguments::connection(&content_type.properties, arguments)?;
        let edges = || {
            parts.iter().filter_map(|part| match &part.field {
                KeyedField::Declared(ConnectionField::Edges(edges)) => Some(edges),
                _ => None,
            })
        };
        // Each `edges` field is rendered while rows are read; usually there is one.
        let mut texts: Vec<Template> = edges().map(|_| Template::default()).collect();
        let (mut shown, mut has_room) = (0, true);
        let matching = self.rows(content_type, &request, range, |stored| {
            let pending = texts.iter().map(|text| text.json.len()).sum();
            has_room = has_room && response.has_room(pending)?;
            if !has_room {
                return Ok(());
            }
            for (edge, text) in edges().zip(&mut texts) {
                if shown > 0 {
                    text.json.push(b',');
                }
                text.object(edge, |text, node| {
                    response.targets.object(text, node, content_type.name(), &stored);
                });
            }
            shown += 1;
            Ok(())
        })?;
        if !has_room {
            return Err(limit_exceeded(response.objects).into());
        }
        let has_next = range.offset.saturating_add(shown) < matching;
        let mut texts = texts.into_iter();
        response.template.object(parts, |out, part| match part {
            ConnectionField::Edges(_) => {
                out.json.push(b'[');
                out.append(texts.next().unwrap_or_default());
                out.json.push(b']');
            }
            ConnectionField::PageInfo(fields) => out.object(fields, |out, HasNextPage| {
                out.json.extend_from_slice(has_next.to_string().as_bytes());
            }),
            ConnectionField::TotalCount => {
                out.json.extend_from_slice(matching.to_string().as_bytes());
            }
        });
        Ok(())
    }

    /// Passes the object of an id to `visit` if the caller may see it.
    fn by_id(
        &self,
        content_type: &CompiledType,
        id: &str,
        mut visit: impl FnMut(StoredObject<'_>) -> error::Result<()>,
    ) -> Result<(), QueryFailure> {
        let view = View::for_list(self.caller, content_type);
        self.reader.object(view.edition, content_type.pk, id, |stored| {
            if view.admits_state(&stored.internal) { visit(view.mask(stored)) } else { Ok(()) }
        })?;
        Ok(())
    }

    /// Passes the objects of a range of a list to `visit`; returns the total number of matches.
    fn rows(
        &self,
        content_type: &CompiledType,
        request: &ListRequest,
        range: ListRange,
        mut visit: impl FnMut(StoredObject<'_>) -> error::Result<()>,
    ) -> Result<u64, QueryFailure> {
        let view = View::for_list(self.caller, content_type);
        let list = ObjectList::new(request, range, view);
        let scope = LinkScope { catalog: self.catalog, caller: self.caller, view: View::for_list };
        let plan = self.cms.store.plan_list(self.reader, content_type, list, scope, true);
        let plan = plan.map_err(|error| match error {
            Error::Invalid(errors) => QueryFailure::Query(
                errors.at("filters").iter().map(QueryError::bad_request).collect(),
            ),
            other => QueryFailure::Other(other),
        })?;
        let plan = plan.expect("counting is allowed, so a plan exists");
        if plan.matching > range.offset {
            self.reader.list(&plan, |stored| visit(view.mask(stored)))?;
        }
        Ok(plan.matching)
    }

    /// Resolves relations, level by level.
    fn resolve_relations(&self, response: &mut PartialResponse<'_>) -> Result<(), QueryFailure> {
        let (mut fetched, mut bytes) = (0, 0);
        let deepest = self.plan.relations.iter().map(|relation| relation.level).max();
        for level in 0..deepest.map_or(0, |deepest| deepest + 1) {
            if response.targets.has_too_many_links() {
                return Err(too_many_links().into());
            }
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
                    .flat_map(|relation| response.targets.ids(*relation))
                    .map(str::to_owned)
                    .collect();
                fetched += ids.len();
                if fetched > limits::MAX_GRAPHQL_OBJECTS {
                    return Err(too_many_objects().into());
                }
                if !ids.is_empty() {
                    bytes += self.fetch(response, content_type, &relations, &ids)?;
                }
                if bytes > limits::MAX_GRAPHQL_RESPONSE_BYTES {
                    return Err(too_large().into());
                }
            }
        }
        Ok(())
    }

    /// Reads the linked objects of one type by one statement, for all relations of a level; returns
    /// the bytes of their templates.
    fn fetch(
        &self,
        response: &mut PartialResponse<'_>,
        content_type: &CompiledType,
        relations: &[usize],
        ids: &BTreeSet<String>,
    ) -> Result<usize, QueryFailure> {
        let view = View::for_list(self.caller, content_type);
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let mut bytes = 0;
        self.reader.objects(view.edition, content_type.pk, &ids, Columns::All, |stored| {
            if !view.admits_state(&stored.internal) || bytes > limits::MAX_GRAPHQL_RESPONSE_BYTES {
                return Ok(());
            }
            let stored = view.mask(stored);
            let id = stored.id.to_ascii_lowercase();
            for relation in relations {
                if response.targets.is_linked(*relation, &id) {
                    let selection = &self.plan.relations[*relation].selection;
                    let mut text = Template::default();
                    response.targets.object(&mut text, selection, content_type.name(), &stored);
                    bytes += text.json.len();
                    response.buffered.add(text.json.capacity())?;
                    response.targets.set(*relation, &id, text);
                }
            }
            Ok(())
        })?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests;
