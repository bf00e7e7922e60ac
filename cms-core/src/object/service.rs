//! Lists, returns, replaces, patches and deletes content objects.
//!
//! Short functions around [`super::write`], [`cms_model::object::render`] and the store. Creation,
//! batches, versions and copies are in their own files, as methods of the same type.

use std::sync::Arc;

use cms_model::{
    auth::scope::Access,
    clock::Timestamp,
    content_type::catalog::{Catalog, CompiledType},
    context::Caller,
    dates,
    error::{Error, Result},
    limits,
    memory::BufferReservation,
    message,
    object::{
        list::ObjectList,
        model::{Edition, StoredObject},
        projection::{self, PathScope, Projection},
        render,
        view::View,
    },
    pattern::StepBudget,
    publish::right::{self, ChangeKind},
    query::{filter, linked::LinkScope},
    wire::{
        condition::EntityTag,
        object::{Json, ListRequest, ObjectRequest},
    },
};
use cms_store::{Reader, WriteTransaction};
use serde_json::{Map, Value};

use super::{
    hydrate::{Hydration, Text, with_properties},
    write::{self, Base, Context, Edit, KnownTargets, PreparedObject},
};
use crate::cms::Cms;

/// Operations on content objects. The second argument names the content type.
pub struct Objects<'a> {
    pub(crate) cms: &'a Cms,
}

impl Cms {
    /// Content objects.
    pub fn objects(&self) -> Objects<'_> {
        Objects { cms: self }
    }
}

impl Objects<'_> {
    /// Lists objects in the list envelope.
    ///
    /// # Errors
    /// Errors of the request, and [`Error::NotFast`] for a caller that allows fast reads only.
    pub fn list(&self, caller: &Caller, name: &str, request: &ListRequest) -> Result<Json> {
        let fast_only = caller.fast_only;
        if fast_only && (request.page.limit > limits::FAST_READ_OBJECTS || request.hydrate > 1) {
            return Err(Error::NotFast);
        }
        self.read(caller, name, Access::READ, |reader, catalog, content_type| {
            let view = View::for_list(caller, content_type);
            let scope = PathScope { catalog, caller, hydrate: request.hydrate };
            let projection = projection(&request.fields, content_type, scope)?;
            let projection = projection.as_ref();
            let mut hydration =
                Hydration::new((reader, catalog, caller), projection, request.hydrate);
            let mut list = ObjectList::new(request, request.page.into(), view);
            let columns = hydration.columns(content_type);
            list.columns = columns;
            let scope = LinkScope { catalog, caller, view: View::for_list };
            let store = &self.cms.store;
            let plan = store.plan_list(reader, content_type, list, scope, !fast_only)?;
            let plan = plan.ok_or(Error::NotFast)?;
            if fast_only && plan.cost() > limits::FAST_READ_INDEX_ENTRIES {
                return Err(Error::NotFast);
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
                        return Err(Error::NotFast);
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
                return Err(Error::NotFast);
            }
            hydration.finish(text, buffered).map(Json)
        })
    }

    /// Returns the paths of the `filters` of a list that its type does not declare: they match like
    /// missing values.
    pub fn unknown_filters(&self, caller: &Caller, name: &str, filters: &str) -> Vec<String> {
        let catalog = self.cms.catalog.cached();
        let scope = LinkScope { catalog: &catalog, caller, view: View::for_list };
        let properties = catalog.find(name).map_or(&[][..], |known| &known.properties);
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
        let properties = catalog.find(name).map_or(&[][..], |known| &known.properties);
        let scope = PathScope { catalog: &catalog, caller, hydrate };
        projection::unknown_paths(fields, |names| scope.declares(properties, names))
    }

    /// Returns one object, its links replaced with objects up to `hydrate` levels deep.
    pub fn get(&self, caller: &Caller, name: &str, id: &str, hydrate: u8) -> Result<Json> {
        let request = ObjectRequest { hydrate, ..ObjectRequest::default() };
        self.get_with_tag(caller, name, id, &request).map(|(json, _)| json)
    }

    /// Returns one object, or the parts of it that a request names, with the `ETag` of the response.
    ///
    /// # Errors
    /// Errors of the request, and [`Error::NotFast`] for a caller that allows fast reads only.
    pub fn get_with_tag(
        &self,
        caller: &Caller,
        name: &str,
        id: &str,
        request: &ObjectRequest,
    ) -> Result<(Json, EntityTag)> {
        let hydrate = request.hydrate;
        if caller.fast_only && hydrate > 1 {
            return Err(Error::NotFast);
        }
        if *request == ObjectRequest::default()
            && let Some(json) = self.get_by_statement(caller, name, id)?
        {
            let tag = EntityTag::of(&json.0);
            return Ok((json, tag));
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
            let mut hydration = Hydration::new((reader, catalog, caller), projection, hydrate);
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
                return Ok((Json(text.json), tag));
            }
            if caller.fast_only && hydration.targets() > limits::FAST_READ_LINK_TARGETS {
                return Err(Error::NotFast);
            }
            let json = hydration.resolve(text)?;
            let tag = tag.of_response(&json);
            Ok((Json(json), tag))
        })
    }

    /// Reads one object with a single statement, if the cached content type is that of the same
    /// snapshot. None when it is not, or when the request fails.
    fn get_by_statement(&self, caller: &Caller, name: &str, id: &str) -> Result<Option<Json>> {
        let catalog = caller.catalog.clone().unwrap_or_else(|| self.cms.catalog.cached());
        let known = catalog.find(name).filter(|_| caller.may(Access::READ, name));
        let Some(content_type) = known else { return Ok(None) };
        let view = View::for_object(caller, content_type);
        let found = self.cms.store.read_autocommit(|reader| {
            reader.object_and_revision(view.edition, content_type.pk, id, |stored| {
                view.admits_state(&stored.internal)
                    .then(|| to_json(content_type, &view.mask(stored)))
            })
        })?;
        Ok(found.filter(|(_, rev)| *rev == catalog.rev).and_then(|(json, _)| json))
    }

    /// Replaces an object (see docs/reference/objects.md#create-replace-patch).
    pub fn replace(
        &self,
        caller: &Caller,
        name: &str,
        id: &str,
        payload: Map<String, Value>,
    ) -> Result<Json> {
        self.edit(caller, name, id, payload, Edit::Replace)
    }

    /// Replaces the given properties of an object (see
    /// docs/reference/objects.md#create-replace-patch).
    pub fn patch(
        &self,
        caller: &Caller,
        name: &str,
        id: &str,
        payload: Map<String, Value>,
    ) -> Result<Json> {
        self.edit(caller, name, id, payload, Edit::Patch)
    }

    fn edit(
        &self,
        caller: &Caller,
        name: &str,
        id: &str,
        payload: Map<String, Value>,
        edit: Edit,
    ) -> Result<Json> {
        let payload = self.before_edit(caller, name, id, payload)?;
        let context = Context::new(caller, &self.cms.config);
        let (prepared, base) =
            self.read(caller, name, Access::UPDATE, |reader, catalog, content_type| {
                let change = (id, edit, payload.clone());
                let (mut prepared, stored) =
                    prepare_edit(reader, content_type, caller, change, &context)?;
                if !prepared.errors.is_empty() {
                    let mut known = KnownTargets::default();
                    prepared.check_stored(
                        reader,
                        catalog,
                        content_type,
                        Some(stored.pk),
                        &mut known,
                    )?;
                }
                Ok((prepared.valid()?, Base::of(content_type, &stored)))
            })?;
        let (caller, id) = (caller.clone(), id.to_owned());
        self.write(name, move |writer, catalog, content_type| {
            let stored = find_to_change(writer, content_type, &caller, &id, ChangeKind::Edit)?;
            let mut prepared = if base == Base::of(content_type, &stored) {
                prepared
            } else {
                let budget = &mut StepBudget::per_write();
                let prepared =
                    PreparedObject::edit(content_type, edit, payload, &stored, &context, budget)?;
                write::require_steps_left(budget)?;
                prepared
            };
            let mut known = KnownTargets::default();
            prepared.check_stored(writer, catalog, content_type, Some(stored.pk), &mut known)?;
            let prepared = prepared.valid()?;
            let stored = write::update(writer, content_type, stored, prepared, &context)?;
            Ok(to_json(content_type, &stored))
        })
    }

    /// Deletes an object without incoming links (see docs/reference/objects.md#delete).
    pub fn delete(&self, caller: &Caller, name: &str, id: &str) -> Result<()> {
        self.content_type(caller, name, Access::DELETE)?;
        self.before_deletion(caller, name, id)?;
        let (caller, wanted) = (caller.clone(), id.to_owned());
        let stamp = caller.stamp(self.cms.config.clock.now());
        self.write(name, move |writer, _, content_type| {
            let stored =
                find_to_change(writer, content_type, &caller, &wanted, ChangeKind::Delete)?;
            if writer.is_linked((content_type.name(), &stored.id), stored.pk)? {
                return Err(Error::Rejected(vec![message::IN_USE.into()]));
            }
            write::delete(writer, content_type, &stored, stamp)
        })?;
        self.cms.after_deletion(name, [id]);
        Ok(())
    }

    /// Lists ids deleted after a date, oldest deletion first (see
    /// docs/reference/objects.md#removed-ids).
    pub fn deleted_ids(
        &self,
        caller: &Caller,
        name: &str,
        deleted_after: Option<&str>,
    ) -> Result<Vec<String>> {
        self.read(caller, name, Access::READ_DELETED, |reader, _, content_type| {
            let after = match deleted_after {
                None => Timestamp(i64::MIN),
                Some(text) => dates::parse_lenient(text)
                    .ok_or_else(|| Error::invalid("deletedAfter", message::WRONG_DATE))?,
            };
            reader.deleted_ids(content_type.pk, after)
        })
    }

    /// Checks key and type, for requests with work before the write. The type is that of the
    /// snapshot in which the key was read; [`Self::write`] has the current one.
    pub(crate) fn content_type(
        &self,
        caller: &Caller,
        name: &str,
        needs: Access,
    ) -> Result<Arc<CompiledType>> {
        if needs.is_write() {
            caller.require_write()?;
        }
        let catalog = self.cms.catalog_of(caller)?;
        let content_type = catalog.get(name)?;
        caller.require(needs, name)?;
        Ok(Arc::clone(content_type))
    }

    /// Runs a read on one snapshot, after the checks of key and type (see
    /// docs/reference/http.md#order-of-checks).
    pub(crate) fn read<T>(
        &self,
        caller: &Caller,
        name: &str,
        needs: Access,
        read: impl FnOnce(&Reader<'_>, &Catalog, &Arc<CompiledType>) -> Result<T>,
    ) -> Result<T> {
        if needs.is_write() {
            caller.require_write()?;
        }
        self.cms.store.read(|reader| {
            let catalog = self.cms.catalog.at(reader)?;
            let content_type = catalog.get(name)?;
            caller.require(needs, name)?;
            read(reader, &catalog, content_type)
        })
    }

    /// Runs a write with the type as read inside the write transaction.
    pub(crate) fn write<T: Send + 'static>(
        &self,
        name: &str,
        write: impl FnOnce(&WriteTransaction<'_>, &Catalog, &Arc<CompiledType>) -> Result<T>
        + Send
        + 'static,
    ) -> Result<T> {
        let name = name.to_owned();
        self.cms.write_with_catalog(move |writer, catalog| {
            let content_type = catalog.get(&name)?;
            write(writer, catalog, content_type)
        })
    }
}

/// Reads the `fields` of a request for objects of a type; none returns complete objects.
fn projection(
    fields: &[String],
    content_type: &CompiledType,
    scope: PathScope<'_>,
) -> Result<Option<Projection>> {
    Projection::read("fields", fields, |names| scope.declares(&content_type.properties, names))
}

/// Finds an object that is visible to the request, in its current version: a write creates a new
/// version, and versions and workflows belong to the object, not to a view.
pub(crate) fn find(
    reader: &Reader<'_>,
    content_type: &CompiledType,
    view: View,
    id: &str,
) -> Result<StoredObject<'static>> {
    find_map(reader, content_type, view, id, |stored| stored.clone().into_owned())
}

/// As [`find`], for a request that changes this object: rejected without the publishing right when
/// the change needs it, and when `If-Match` has other `ETags`. They are compared with the `ETag` of
/// the current version, whatever view the request uses.
pub(crate) fn find_to_change(
    reader: &Reader<'_>,
    content_type: &CompiledType,
    caller: &Caller,
    id: &str,
    change: ChangeKind,
) -> Result<StoredObject<'static>> {
    let view = View::for_object(caller, content_type);
    let stored = find(reader, content_type, view, id)?;
    if !may_change(caller, content_type, &stored, change) {
        return Err(Error::Forbidden);
    }
    if let Some(wanted) = caller.write_guards.if_match()
        && !wanted.admits(state_tag(content_type, view, &stored))
    {
        return Err(Error::PreconditionFailed);
    }
    Ok(stored)
}

/// The `ETag` of the current version of an object, as a request with this view gets it.
pub(crate) fn state_tag(
    content_type: &CompiledType,
    view: View,
    stored: &StoredObject<'_>,
) -> EntityTag {
    EntityTag::of(&to_json(content_type, &view.mask(stored.clone())).0)
}

/// Returns whether the publishing right of a caller allows a change of an object.
pub(crate) fn may_change(
    caller: &Caller,
    content_type: &CompiledType,
    stored: &StoredObject<'_>,
    change: ChangeKind,
) -> bool {
    let draft_public = content_type.definition.draft_public;
    caller.may_publish() || !right::is_public_change(change, draft_public, &stored.internal)
}

/// Prepares a changed object, with the errors that need no database; returns the stored
/// object too.
pub(super) fn prepare_edit(
    reader: &Reader<'_>,
    content_type: &CompiledType,
    caller: &Caller,
    (id, edit, payload): (&str, Edit, Map<String, Value>),
    context: &Context,
) -> Result<(PreparedObject, StoredObject<'static>)> {
    let found = find_to_change(reader, content_type, caller, id, ChangeKind::Edit);
    if matches!(found, Err(Error::NotFound { .. })) {
        // The size is checked before existence (see docs/reference/http.md#order-of-checks).
        write::require_size(id, Value::Object(payload.clone()).to_string().len())?;
    }
    let stored = found?;
    let budget = &mut StepBudget::per_object();
    let prepared = PreparedObject::edit(content_type, edit, payload, &stored, context, budget)?;
    Ok((prepared, stored))
}

/// As [`find`], for a caller that does not need a copy.
pub(crate) fn find_map<T>(
    reader: &Reader<'_>,
    content_type: &CompiledType,
    view: View,
    id: &str,
    read: impl FnOnce(&StoredObject<'_>) -> T,
) -> Result<T> {
    reader
        .object(Edition::Current, content_type.pk, id, |stored| {
            view.contains_object(&stored.internal).then(|| read(&stored))
        })?
        .flatten()
        .ok_or_else(|| Error::object_not_found(content_type.name(), id))
}

/// Rejects a write that exceeds the configured limit of objects.
pub(crate) fn require_quota(reader: &Reader<'_>, quota: Option<u64>, more: u64) -> Result<()> {
    match quota {
        Some(quota) if reader.live_objects()? + more > quota => Err(Error::Forbidden),
        _ => Ok(()),
    }
}

pub(crate) fn to_json(content_type: &CompiledType, stored: &StoredObject<'_>) -> Json {
    let mut out = Vec::new();
    render::object(&mut out, content_type.name(), stored);
    Json(out)
}
