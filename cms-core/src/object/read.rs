//! Lists and returns content objects.

use cms_model::{
    auth::scope::Access,
    content_type::catalog::CompiledType,
    context::Caller,
    error::{Error, Result},
    limits,
    memory::BufferReservation,
    object::{
        list::ObjectList,
        projection::{self, PathScope, Projection},
        render,
        view::View,
    },
    query::{filter, linked::LinkScope},
    wire::{
        condition::EntityTag,
        object::{Json, ListRequest, ObjectRequest},
    },
};
use cms_store::TypesRead;

use super::{
    hydrate::{Hydration, Text, with_properties},
    service::{Objects, find_map, to_json},
};

/// Objects as a response returns them.
pub struct RenderedObjects {
    pub json: Json,
    pub tag: EntityTag,
    pub types: TypesRead,
}

impl Objects<'_> {
    /// Lists objects in the list envelope.
    pub fn list(&self, caller: &Caller, name: &str, request: &ListRequest) -> Result<Json> {
        self.render_list(caller, name, request).map(|list| list.json)
    }

    /// As [`Self::list`], with what a response needs to be cached.
    ///
    /// # Errors
    /// Errors of the request, and [`Error::WouldBlock`] for a caller that allows fast reads only.
    pub fn render_list(
        &self,
        caller: &Caller,
        name: &str,
        request: &ListRequest,
    ) -> Result<RenderedObjects> {
        let fast_only = caller.fast_only;
        if fast_only && (request.page.limit > limits::FAST_READ_OBJECTS || request.hydrate > 1) {
            return Err(Error::WouldBlock);
        }
        self.read(caller, name, Access::READ, |reader, catalog, content_type| {
            let view = View::for_list(caller, content_type);
            let scope = PathScope { catalog, caller, hydrate: request.hydrate };
            let projection = projection(&request.fields, content_type, scope)?;
            let projection = projection.as_ref();
            let linked = &self.cms.linked_objects;
            let mut hydration =
                Hydration::new((reader, catalog, caller), linked, projection, request.hydrate);
            let mut list = ObjectList::new(request, request.page.into(), view);
            let columns = hydration.columns(content_type);
            list.columns = columns;
            let scope = LinkScope { catalog, caller, view: View::for_list };
            let store = &self.cms.store;
            let plan = store.plan_list(reader, content_type, list, scope, !fast_only)?;
            let plan = plan.ok_or(Error::WouldBlock)?;
            if fast_only && plan.cost() > limits::FAST_READ_INDEX_ENTRIES {
                return Err(Error::WouldBlock);
            }
            let count = plan.matching.saturating_sub(request.page.offset());
            let count = count.min(u64::from(request.page.limit));
            let mut text = Text::default();
            let mut buffered = BufferReservation::new(&caller.memory);
            render::make_room(&mut text.json, render::expected_bytes(count), &mut buffered)?;
            render::push_list_head(&mut text.json, request.page, plan.matching, count);
            let mut is_first = true;
            let mut read_bytes = 0;
            let max_bytes = limits::FAST_READ_BYTES;
            let max_read_bytes = projection.map_or(max_bytes, |_| limits::FAST_READ_SCANNED_BYTES);
            // A page beyond the end reads nothing.
            if count > 0 {
                reader.list(&plan, |stored| {
                    let stored = view.mask(with_properties(stored, columns, content_type));
                    let bytes = render::object_bytes(&stored);
                    if fast_only && (text.json.len() > max_bytes || read_bytes > max_read_bytes) {
                        return Err(Error::WouldBlock);
                    }
                    read_bytes += stored.data.len();
                    render::make_room(&mut text.json, bytes, &mut buffered)?;
                    if !std::mem::take(&mut is_first) {
                        text.json.push(b',');
                    }
                    hydration.add(&mut text, (content_type, view.edition), &stored);
                    Ok(())
                })?;
            }
            text.json.extend_from_slice(b"]}");
            if fast_only && hydration.targets() > limits::FAST_READ_LINK_TARGETS {
                return Err(Error::WouldBlock);
            }
            let (json, mut types) = hydration.finish(text, buffered)?;
            types.push(content_type.pk);
            let types =
                if plan.depends_on_other_types { TypesRead::All } else { TypesRead::These(types) };
            Ok(RenderedObjects { tag: EntityTag::of(&json), json: Json(json), types })
        })
    }

    /// Returns the paths of the `filters` of a list that its type does not declare: they match like
    /// missing values.
    pub fn unknown_filters(&self, caller: &Caller, name: &str, filters: &str) -> Vec<String> {
        let catalog = self.cms.catalog.cached();
        let scope = LinkScope { catalog: &catalog, caller, view: View::for_list };
        let properties =
            catalog.find(name).map_or(&[][..], |content_type| &content_type.properties);
        filter::unknown_paths(filters, properties, scope)
    }

    /// Returns the paths of the `fields` of a list or an object that its type does not declare: they
    /// return nothing.
    pub fn unknown_fields(
        &self,
        caller: &Caller,
        name: &str,
        fields: &[String],
        hydrate: u8,
    ) -> Vec<String> {
        let catalog = self.cms.catalog.cached();
        let properties =
            catalog.find(name).map_or(&[][..], |content_type| &content_type.properties);
        let scope = PathScope { catalog: &catalog, caller, hydrate };
        projection::unknown_paths(fields, |names| scope.declares(properties, names))
    }

    /// Returns one object, its links replaced with objects up to `hydrate` levels deep.
    pub fn get(&self, caller: &Caller, name: &str, id: &str, hydrate: u8) -> Result<Json> {
        let request = ObjectRequest { hydrate, ..ObjectRequest::default() };
        self.render(caller, name, id, &request).map(|object| object.json)
    }

    /// Returns one object, or the parts of it that a request names, with the `ETag` of the response
    /// and what it needs to be cached.
    ///
    /// # Errors
    /// Errors of the request, and [`Error::WouldBlock`] for a caller that allows fast reads only.
    pub fn render(
        &self,
        caller: &Caller,
        name: &str,
        id: &str,
        request: &ObjectRequest,
    ) -> Result<RenderedObjects> {
        let hydrate = request.hydrate;
        if caller.fast_only && hydrate > 1 {
            return Err(Error::WouldBlock);
        }
        if *request == ObjectRequest::default()
            && let Some((json, ctd)) = self.get_by_statement(caller, name, id)?
        {
            let tag = EntityTag::of(&json.0);
            return Ok(RenderedObjects { json, tag, types: TypesRead::These(vec![ctd]) });
        }
        self.read(caller, name, Access::READ, |reader, catalog, content_type| {
            let view = View::for_object(caller, content_type);
            let scope = PathScope { catalog, caller, hydrate };
            let projection = match projection(&request.fields, content_type, scope) {
                Ok(projection) => projection,
                // Existence is checked first.
                Err(error) => {
                    return find_map(reader, content_type, view, id, |_| ()).and(Err(error));
                }
            };
            let projection = projection.as_ref();
            let linked = &self.cms.linked_objects;
            let mut hydration =
                Hydration::new((reader, catalog, caller), linked, projection, hydrate);
            let mut text = Text::default();
            let tag = reader.object(view.edition, content_type.pk, id, |stored| {
                view.admits_state(&stored.internal).then(|| {
                    let stored = view.mask(stored);
                    hydration.add(&mut text, (content_type, view.edition), &stored);
                    match projection {
                        Some(_) => EntityTag::of(&to_json(content_type, &stored).0),
                        None => EntityTag::of(&text.json),
                    }
                })
            })?;
            let tag = tag.flatten().ok_or_else(|| Error::object_not_found(name, id))?;
            if hydrate == 0 && projection.is_none() {
                let types = TypesRead::These(vec![content_type.pk]);
                return Ok(RenderedObjects { json: Json(text.json), tag, types });
            }
            if caller.fast_only && hydration.targets() > limits::FAST_READ_LINK_TARGETS {
                return Err(Error::WouldBlock);
            }
            let (json, mut types) = hydration.resolve(text)?;
            types.push(content_type.pk);
            let tag = tag.of_response(&json);
            Ok(RenderedObjects { json: Json(json), tag, types: TypesRead::These(types) })
        })
    }

    /// Reads one object with a single statement, and returns it with the primary key of its type. None
    /// when the cached content type is not that of the same snapshot, or when the request fails.
    fn get_by_statement(
        &self,
        caller: &Caller,
        name: &str,
        id: &str,
    ) -> Result<Option<(Json, i64)>> {
        let catalog = caller.catalog.clone().unwrap_or_else(|| self.cms.catalog.cached());
        let readable = catalog.find(name).filter(|_| caller.may(Access::READ, name));
        let Some(content_type) = readable else { return Ok(None) };
        let view = View::for_object(caller, content_type);
        let found = self.cms.store.read_autocommit(|reader| {
            reader.object_and_revision(view.edition, content_type.pk, id, |stored| {
                view.admits_state(&stored.internal)
                    .then(|| to_json(content_type, &view.mask(stored)))
            })
        })?;
        let current = found.filter(|(_, rev)| *rev == catalog.rev).and_then(|(json, _)| json);
        Ok(current.map(|json| (json, content_type.pk)))
    }
}

/// Reads the `fields` of a request for objects of a type; none for complete objects.
fn projection(
    fields: &[String],
    content_type: &CompiledType,
    scope: PathScope<'_>,
) -> Result<Option<Projection>> {
    Projection::read("fields", fields, |names| scope.declares(&content_type.properties, names))
}
