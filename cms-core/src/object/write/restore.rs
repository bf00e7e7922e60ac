//! Moves a deleted object back: converts it to the current type, validates it like a new object, and
//! writes it with its versions (see docs/reference/trash.md#restore).
//!
//! As for other writes, everything that needs no write transaction happens before the write is queued.

use cms_model::{
    auth::scope::Access,
    clock::Timestamp,
    content_type::{
        builtin::{MEDIA, WEBHOOKS},
        catalog::{Catalog, CompiledType},
        history,
        rewrite::RewrittenVersion,
        slug,
    },
    context::Caller,
    error::{Error, FieldErrors, Result},
    object::{
        link::LinkRef,
        model::{Edition, Status, StoredObject},
        restore::RestoredState,
        title::object_title,
        view::View,
    },
    pattern::StepBudget,
    webhook::mask,
    wire::trash::RestoreRequest,
};
use cms_store::{DeletedObject, Event, Reader, RestoredRow, StoredVersion, WriteTransaction};
use serde_json::{Map, Value};

use super::{Context, KnownTargets, LoggedChange, PreparedObject, log_change};

/// The inputs of a [`Restoration`] besides the deleted object.
pub(crate) struct RestoreInputs<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) context: &'a Context,
    pub(crate) request: &'a RestoreRequest,
}

/// An object to be restored, and its validation errors.
pub(crate) struct Restoration {
    pk: i64,
    /// The time of the deletion and the revision of the type for which it was prepared.
    base: (Timestamp, i64),
    state: RestoredState,
    /// The approved version at the deletion.
    approved: Option<i64>,
    /// The current version in the trash.
    current: RewrittenVersion,
    /// The published version in the trash, if it differs from the current version.
    published: Option<RewrittenVersion>,
    /// The version that becomes the current one.
    prepared: PreparedObject,
    /// The version that becomes the published one, if it will differ from the current version.
    prepared_published: Option<PreparedObject>,
    /// The request replaces the data.
    replaces_data: bool,
    moved_file: Option<MovedFile>,
}

/// Returns the properties of a deleted object, converted to the current type.
pub(crate) fn properties(
    reader: &Reader<'_>,
    content_type: &CompiledType,
    deleted: &DeletedObject,
    data: &str,
    id: &str,
) -> Result<Map<String, Value>> {
    let mut definitions = reader.former_definitions(content_type.pk, deleted.type_rev)?;
    definitions.push(content_type.definition.clone());
    let mut object = history::convert_object(&definitions, data)?;
    if let Some(moved) = MovedFile::of(content_type, deleted, id) {
        moved.change_address(&mut object);
    }
    Ok(object)
}

/// The file of a media object that is restored under another id. It moves with the object, and its address
/// contains the id.
struct MovedFile {
    /// The ids in the addresses before and after.
    from: String,
    to: String,
}

impl MovedFile {
    fn of(content_type: &CompiledType, deleted: &DeletedObject, id: &str) -> Option<Self> {
        let (from, to) = (deleted.stored.id.to_ascii_lowercase(), id.to_ascii_lowercase());
        (content_type.name() == MEDIA && from != to).then_some(Self { from, to })
    }

    fn change_address(&self, object: &mut Map<String, Value>) {
        if let Some(Value::String(url)) = object.get_mut("url") {
            *url = url.replace(&self.from, &self.to);
        }
    }
}

impl Restoration {
    /// Prepares to restore a deleted object.
    pub(crate) fn new(
        reader: &Reader<'_>,
        content_type: &CompiledType,
        deleted: &DeletedObject,
        inputs: &RestoreInputs<'_>,
        budget: &mut StepBudget,
    ) -> Result<Self> {
        let RestoreInputs { caller, context, request } = *inputs;
        let stored = &deleted.stored;
        let id = request.id.clone().unwrap_or_else(|| stored.id.clone().into_owned());
        let former = reader.former_definitions(content_type.pk, deleted.type_rev)?;
        let had_draft_public = former.iter().all(|definition| definition.draft_public);
        let may_publish = caller.may_publish() && caller.may(Access::UPDATE, content_type.name());
        let keeps_state = may_publish && !request.draft;
        let now = context.stamp.at.seconds();
        let mut state =
            RestoredState::of(&stored.internal, content_type, had_draft_public, keeps_state, now);
        let before = properties(reader, content_type, deleted, &stored.data, &id)?;
        let older = match (state.status, state.public_version) {
            (Status::Modified, Some(version)) => reader.any_version(stored.pk, version)?,
            _ => None,
        };
        if state.status == Status::Modified && older.is_none() {
            // The published version is lost.
            (state.status, state.public_version, state.published_at) = (Status::Draft, None, None);
        }
        let published = older
            .map(|older| properties(reader, content_type, deleted, &older.data, &id))
            .transpose()?;
        let moved_file = MovedFile::of(content_type, deleted, &id);
        let mut prepare = |before: Option<&Map<String, Value>>, object: &Map<String, Value>| {
            let (id, errors) = (id.clone(), FieldErrors::default());
            PreparedObject::of(content_type, id, (before, object), errors, context, Some(budget))
        };
        let mut prepared = match &request.data {
            None => prepare(None, &before)?,
            Some(data) => {
                let mut data = data.clone();
                for name in ["id", "internal"] {
                    data.shift_remove(name);
                }
                if let Some(moved) = &moved_file {
                    moved.change_address(&mut data);
                }
                slug::fill(&content_type.definition.slugs, &mut data);
                if content_type.name() == WEBHOOKS {
                    mask::unmask(&before, &mut data);
                }
                prepare(Some(&before), &data)?
            }
        };
        let replaces_data = request.data.is_some();
        let prepared_published = match &published {
            Some(object) => Some(prepare(None, object)?),
            None if replaces_data && state.public_version.is_some() => {
                Some(prepare(None, &before)?)
            }
            None => None,
        };
        if let Some(published) = &prepared_published {
            prepared.errors.merge(published.errors.clone());
        }
        let version = |object: &Map<String, Value>| RewrittenVersion {
            title: object_title(&content_type.properties, object),
            data: Value::Object(object.clone()).to_string(),
        };
        Ok(Self {
            pk: stored.pk,
            base: (deleted.deleted_at, content_type.rev),
            state,
            approved: stored.internal.workflow_public_version,
            current: version(&before),
            published: published.as_ref().map(version),
            prepared,
            prepared_published,
            replaces_data,
            moved_file,
        })
    }

    /// Returns whether it was prepared for this deletion and this type.
    pub(crate) fn is_of(&self, content_type: &CompiledType, deleted: &DeletedObject) -> bool {
        self.base == (deleted.deleted_at, content_type.rev)
    }

    /// Adds the errors that need the database, and returns the restoration if there are no errors.
    pub(crate) fn checked(
        mut self,
        reader: &Reader<'_>,
        catalog: &Catalog,
        content_type: &CompiledType,
    ) -> Result<Self> {
        let mut known = KnownTargets::with_inserted(content_type.pk, &self.prepared.id);
        self.prepared.check_id(reader, content_type)?;
        self.prepared.check_with_known_targets(reader, catalog, content_type, None, &mut known)?;
        if let Some(published) = &mut self.prepared_published {
            published.check_with_known_targets(reader, catalog, content_type, None, &mut known)?;
            self.prepared.errors.merge(published.errors.clone());
        }
        self.prepared = self.prepared.into_valid()?;
        Ok(self)
    }

    /// Writes the object.
    pub(crate) fn write(
        self,
        writer: &WriteTransaction<'_>,
        content_type: &CompiledType,
        context: &Context,
    ) -> Result<StoredObject<'static>> {
        let Self {
            pk,
            state,
            current,
            published,
            prepared,
            prepared_published,
            replaces_data,
            moved_file,
            ..
        } = self;
        let (ctd, id) = (content_type.pk, prepared.id.clone());
        if let (Some(approved), None) = (self.approved, state.approval) {
            writer.clear_approval(pk, approved)?;
        }
        let links =
            prepared.links.iter().chain(prepared_published.iter().flat_map(|other| &other.links));
        let links: Vec<LinkRef> = links.cloned().collect();
        let published = published.as_ref().map(stored_version);
        let current = stored_version(&current);
        let row = RestoredRow { pk, id: &id, current, state: &state, published };
        writer.restore_object(ctd, &content_type.indexed, &row, context.stamp)?;
        writer.insert_links(pk, links.iter().map(LinkRef::target))?;
        if let Some(MovedFile { from, to }) = moved_file {
            writer.change_file_address(pk, &from, &to)?;
        }
        let mut changed = None;
        if replaces_data {
            let before = current_object(writer, ctd, &id)?;
            let status = before.internal.status.edited(content_type.definition.draft_public);
            let version = before.internal.version + 1;
            let change = prepared.change(status, &state.workflow_state, version, context);
            writer.update_object(ctd, &content_type.indexed, pk, &change)?;
            changed = Some(change.changed);
        }
        let stored = current_object(writer, ctd, &id)?;
        let change = LoggedChange {
            event: Event::ObjectRestored,
            stamp: context.stamp,
            stored: &stored,
            changed_properties: changed.as_deref(),
            changes_public_view: View::public(content_type).contains_object(&stored.internal),
        };
        log_change(writer, content_type, &change)?;
        Ok(stored)
    }
}

fn stored_version(version: &RewrittenVersion) -> StoredVersion<'_> {
    StoredVersion { title: &version.title, data: &version.data }
}

fn current_object(reader: &Reader<'_>, ctd: i64, id: &str) -> Result<StoredObject<'static>> {
    let mut found = None;
    reader.object(Edition::Current, ctd, id, |stored| found = Some(stored.into_owned()))?;
    found.ok_or_else(|| Error::internal("a restored object is missing"))
}
