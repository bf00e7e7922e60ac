//! Replaces, patches and deletes content objects.
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
    limits, message,
    object::{
        model::{Edition, StoredObject},
        render,
        view::View,
    },
    pattern::StepBudget,
    publish::right::{self, ChangeKind},
    wire::{condition::EntityTag, object::Json},
};
use cms_store::{PendingCommit, Reader, WriteTransaction};
use serde_json::{Map, Value};

use super::write::{self, Base, Context, Edit, PreparedObject};
use crate::cms::service;

service! {
    /// Operations on content objects. The second argument names the content type.
    Objects, objects
}

impl Objects<'_> {
    /// Replaces an object (see docs/reference/objects.md#create-replace-patch).
    pub fn replace(
        &self,
        caller: &Caller,
        name: &str,
        id: &str,
        payload: Map<String, Value>,
    ) -> Result<Json> {
        self.begin_edit(caller, name, id, payload, Edit::Replace)?.wait().map(Json)
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
        self.begin_edit(caller, name, id, payload, Edit::Patch)?.wait().map(Json)
    }

    /// Validates a changed object and queues its write; its JSON is available after the commit.
    ///
    /// # Errors
    /// The errors of [`Self::begin_create`]. In addition, [`Error::WouldBlock`] if the stored object is large.
    pub fn begin_edit(
        &self,
        caller: &Caller,
        name: &str,
        id: &str,
        payload: Map<String, Value>,
        edit: Edit,
    ) -> Result<PendingCommit<Vec<u8>>> {
        let payload = self.before_edit(caller, name, id, payload)?;
        let context = Context::new(caller, &self.cms.config);
        let (prepared, base) =
            self.read(caller, name, Access::UPDATE, |reader, catalog, content_type| {
                let change = (id, edit, payload.clone());
                let (mut prepared, stored) =
                    prepare_edit(reader, content_type, caller, change, &context)?;
                // The transaction checks a valid object against the database; an invalid one gets no further.
                if !prepared.errors.is_empty() {
                    prepared.check_against_database(
                        reader,
                        catalog,
                        content_type,
                        Some(stored.pk),
                    )?;
                }
                Ok((prepared.into_valid()?, Base::of(content_type, &stored)))
            })?;
        let (caller, id) = (caller.clone(), id.to_owned());
        self.begin_write(name, move |writer, catalog, content_type| {
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
            prepared.check_against_database(writer, catalog, content_type, Some(stored.pk))?;
            let prepared = prepared.into_valid()?;
            let stored = write::update(writer, content_type, stored, prepared, &context)?;
            Ok(to_json(content_type, &stored).0)
        })
    }

    /// Deletes an object without incoming links (see docs/reference/objects.md#delete).
    pub fn delete(&self, caller: &Caller, name: &str, id: &str) -> Result<()> {
        self.content_type(caller, name, Access::DELETE)?;
        self.before_deletion(caller, name, id)?;
        let (caller, wanted) = (caller.clone(), id.to_owned());
        let stamp = caller.stamp(self.cms.now());
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
    /// docs/reference/objects.md#ids-of-deleted-objects).
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
            let view =
                View::hides_history(caller, content_type).then(|| View::public(content_type));
            reader.deleted_ids(content_type.pk, after, view)
        })
    }

    /// Checks the rights on a type and returns it, for requests that do work before the write. The type
    /// is that of the snapshot in which the caller was authenticated; [`Self::write`] reads the current
    /// one.
    pub(crate) fn content_type(
        &self,
        caller: &Caller,
        name: &str,
        needs: Access,
    ) -> Result<Arc<CompiledType>> {
        caller.require_write_for(needs)?;
        let catalog = self.cms.catalog_of(caller)?;
        let content_type = catalog.get(name)?;
        caller.require(needs, name)?;
        Ok(Arc::clone(content_type))
    }

    /// Runs a read on one snapshot, after the checks of rights and type (see
    /// docs/reference/http.md#order-of-checks).
    pub(crate) fn read<T>(
        &self,
        caller: &Caller,
        name: &str,
        needs: Access,
        read: impl FnOnce(&Reader<'_>, &Catalog, &Arc<CompiledType>) -> Result<T>,
    ) -> Result<T> {
        caller.require_write_for(needs)?;
        self.cms.read_with_catalog(|reader, catalog| {
            let content_type = catalog.get(name)?;
            caller.require(needs, name)?;
            read(reader, catalog, content_type)
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
        self.begin_write(name, write)?.wait()
    }

    /// Queues a write as [`Self::write`] does.
    pub(crate) fn begin_write<T: Send + 'static>(
        &self,
        name: &str,
        write: impl FnOnce(&WriteTransaction<'_>, &Catalog, &Arc<CompiledType>) -> Result<T>
        + Send
        + 'static,
    ) -> Result<PendingCommit<T>> {
        let name = name.to_owned();
        self.cms.begin_write_with_catalog(move |writer, catalog| {
            let content_type = catalog.get(&name)?;
            write(writer, catalog, content_type)
        })
    }
}

/// Returns the current version of an object, which callers write or act on. The object has to be visible in the view of
/// the request, even if the view shows its published version.
pub(crate) fn find(
    reader: &Reader<'_>,
    content_type: &CompiledType,
    view: View,
    id: &str,
) -> Result<StoredObject<'static>> {
    find_map(reader, content_type, view, id, |stored| stored.clone().into_owned())
}

/// Returns the version of an object that a view contains.
pub(super) fn find_shown_version(
    reader: &Reader<'_>,
    content_type: &CompiledType,
    view: View,
    id: &str,
) -> Result<StoredObject<'static>> {
    let shown = reader.object(view.edition, content_type.pk, id, |stored| {
        view.admits_state(&stored.internal).then(|| stored.into_owned())
    })?;
    shown.flatten().ok_or_else(|| Error::object_not_found(content_type.name(), id))
}

/// As [`find`], for a request that changes this object. Rejects a change that needs the publishing
/// right if the caller lacks it, and a request whose `If-Match` lacks the `ETag` of the current
/// version, even if the view of the request shows the published one.
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

/// The `ETag` of the current version of an object, whose secrets are masked if the view masks them.
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
    if caller.fast_only && stored.data.len() > limits::FAST_WRITE_BYTES {
        return Err(Error::WouldBlock);
    }
    let prepared = with_budget(caller, |budget| {
        PreparedObject::edit(content_type, edit, payload, &stored, context, budget)
    })?;
    Ok((prepared, stored))
}

/// Validates an object with the steps for patterns that the request allows.
///
/// # Errors
/// [`Error::WouldBlock`] if that needs more steps than fast work may take.
pub(super) fn with_budget<T>(
    caller: &Caller,
    validate: impl FnOnce(&mut StepBudget) -> Result<T>,
) -> Result<T> {
    let mut budget = if caller.fast_only { StepBudget::fast() } else { StepBudget::per_object() };
    let validated = validate(&mut budget)?;
    if caller.fast_only && budget.is_exhausted() { Err(Error::WouldBlock) } else { Ok(validated) }
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

/// Refuses a write that is about to add `more` live objects, if they exceed the configured limit.
pub(crate) fn require_quota(reader: &Reader<'_>, quota: Option<u64>, more: u64) -> Result<()> {
    match quota {
        Some(quota) if more > 0 && reader.live_objects()? + more > quota => Err(Error::Forbidden),
        _ => Ok(()),
    }
}

/// Runs a write that may add any number of live objects, and refuses it if they exceed the configured limit.
pub(crate) fn with_quota<T>(
    reader: &Reader<'_>,
    quota: Option<u64>,
    write: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let Some(quota) = quota else { return write() };
    let earlier = reader.live_objects()?;
    let written = write()?;
    let now = reader.live_objects()?;
    if now > earlier && now > quota { Err(Error::Forbidden) } else { Ok(written) }
}

pub(crate) fn to_json(content_type: &CompiledType, stored: &StoredObject<'_>) -> Json {
    let mut out = Vec::new();
    render::object(&mut out, content_type.name(), stored);
    Json(out)
}
