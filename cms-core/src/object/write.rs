//! The one write path of objects.
//!
//! Pure functions create a [`PreparedObject`] from a payload, before the write is queued. Inside
//! the write transaction [`PreparedObject::check_against_database`] adds the errors that need the
//! database, and [`insert`] or [`update`] writes. The object is prepared again if its type or stored
//! version changed in between.

mod context;
mod database_checks;
mod journal;
mod known_targets;
pub(crate) mod restore;
mod unique;

use std::{borrow::Cow, mem};

use cms_model::{
    clock::Timestamp,
    content_type::{builtin::WEBHOOKS, catalog::CompiledType, defaults, model::Property, slug},
    context::Stamp,
    error::{Error, FieldErrors, Result},
    ids::{IdSource, MAX_ID_CHARS},
    limits, message,
    object::{
        dates::KeptDates,
        link::{self, LinkRef},
        model::{Internal, Status, StoredObject, object_bytes},
        scan::{self, FoundLink},
        title::object_title,
        validate,
        view::View,
    },
    pattern::StepBudget,
    webhook::{self, mask},
    workflow::{model::PUBLIC_STATE, transition},
};
use cms_store::{Event, ObjectChange, Reader, WriteTransaction};
use serde_json::{Map, Value};

use crate::hooks;

pub(crate) use self::{
    context::Context,
    journal::{LoggedChange, log_change},
    known_targets::KnownTargets,
};
use self::{
    journal::{changed_properties, log_deletion},
    unique::UniqueValues,
};

/// How a payload changes a stored object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// The payload is the new object.
    Replace,
    /// The payload's properties replace those of the object.
    Patch,
}

/// The state that an edit of an object was prepared from. While it is the same, the validation
/// errors that need no database stay valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Base {
    type_rev: i64,
    pk: i64,
    version: i64,
}

impl Base {
    pub(crate) fn of(content_type: &CompiledType, stored: &StoredObject<'_>) -> Self {
        Self { type_rev: content_type.rev, pk: stored.pk, version: stored.internal.version }
    }
}

/// An object to be stored, and its validation errors.
///
/// It has the text to store and the values extracted from the object, not the parsed object, which
/// would take many times the memory of its text: a batch has one for each element.
pub(crate) struct PreparedObject {
    pub(crate) id: String,
    /// The object as compact JSON.
    data: String,
    title: String,
    unique: UniqueValues,
    links: Vec<LinkRef>,
    /// Names of the properties that differ from the previous version, as a JSON array.
    changed: String,
    pub(crate) dates: KeptDates,
    pub(crate) errors: FieldErrors,
    /// Revision of the type that validated it.
    type_rev: i64,
}

impl PreparedObject {
    /// Prepares a new object from a request.
    ///
    /// # Errors
    /// [`Error::ObjectTooLarge`]; validation errors are in [`Self::errors`].
    pub(crate) fn new(
        content_type: &CompiledType,
        mut payload: Map<String, Value>,
        ids: &dyn IdSource,
        context: &Context,
        budget: &mut StepBudget,
    ) -> Result<Self> {
        let mut errors = FieldErrors::default();
        let dates = context.take_dates(&mut payload, context.stamp.at.seconds(), &mut errors);
        let id = match payload.shift_remove("id") {
            None if content_type.definition.is_single() => content_type.name().to_owned(),
            None => ids.uuid(),
            Some(id) => {
                errors.merge(validate::validate_id(&id));
                id.as_str().map(str::to_owned).unwrap_or_default()
            }
        };
        slug::fill(&content_type.definition.slugs, &mut payload);
        defaults::fill(&content_type.definition, &content_type.properties, &mut payload);
        let empty = Map::new();
        let prepared =
            Self::of(content_type, id, (Some(&empty), &payload), errors, context, Some(budget))?;
        Ok(Self { dates, ..prepared })
    }

    /// Prepares a changed object from a request.
    pub(crate) fn edit(
        content_type: &CompiledType,
        edit: Edit,
        mut payload: Map<String, Value>,
        stored: &StoredObject<'_>,
        context: &Context,
        budget: &mut StepBudget,
    ) -> Result<Self> {
        let mut errors = FieldErrors::default();
        let dates = context.take_dates(&mut payload, stored.internal.created_at, &mut errors);
        if names_another_object(&payload, &stored.id) {
            errors.add("id", message::ID_MISMATCH);
        }
        payload.shift_remove("id");
        let is_readonly = |name: &str| {
            content_type
                .properties
                .iter()
                .any(|property| property.readonly && property.name == name)
        };
        // A read-only slug stays as it was created, so that its source can be changed.
        let rules = content_type.definition.slugs.iter();
        let rules = rules.filter(|rule| context.lenient_readonly || !is_readonly(&rule.target));
        slug::fill(rules, &mut payload);
        let before = parse(&stored.data)?;
        if content_type.name() == WEBHOOKS {
            mask::unmask(&before, &mut payload);
        }
        let object = match edit {
            Edit::Replace if context.lenient_readonly => payload,
            Edit::Replace => keep_readonly(content_type, &before, payload),
            Edit::Patch => {
                let mut object = before.clone();
                object.extend(payload);
                object
            }
        };
        let id = stored.id.clone().into_owned();
        let mut prepared =
            Self::of(content_type, id, (Some(&before), &object), errors, context, Some(budget))?;
        prepared.dates = dates;
        if !context.lenient_readonly {
            let changed = validate::validate_readonly(&content_type.properties, &before, &object);
            prepared.errors.merge(changed);
        }
        Ok(prepared)
    }

    /// Prepares the object again if its type changed meanwhile.
    pub(crate) fn renewed(
        self,
        content_type: &CompiledType,
        context: &Context,
        budget: &mut StepBudget,
    ) -> Result<Self> {
        if self.type_rev == content_type.rev {
            return Ok(self);
        }
        // Errors of the id and the dates do not depend on the type.
        let mut errors = self.errors;
        errors.retain(|path| path == "id" || path.starts_with("internal."));
        let object = parse(&self.data)?;
        let prepared =
            Self::of(content_type, self.id, (None, &object), errors, context, Some(budget))?;
        require_steps_left(budget)?;
        Ok(Self { dates: self.dates, changed: self.changed, ..prepared })
    }

    /// Prepares an object; `object` contains neither `id` nor `internal`. `before` is the previous
    /// version; none if the changed properties are not needed. Without a budget, patterns are not
    /// checked: stored values already match.
    pub(crate) fn of(
        content_type: &CompiledType,
        id: String,
        (before, object): (Option<&Map<String, Value>>, &Map<String, Value>),
        mut errors: FieldErrors,
        context: &Context,
        mut budget: Option<&mut StepBudget>,
    ) -> Result<Self> {
        let data = serde_json::to_string(object).map_err(Error::internal)?;
        require_size(&id, data.len())?;
        if let Some(budget) = &mut budget {
            budget.start_object(data.len());
        }
        let (properties, schemas) = (&content_type.properties, &content_type.schemas);
        errors.merge(validate::validate(properties, schemas, object, budget));
        if content_type.name() == WEBHOOKS {
            errors.merge(webhook::model::validate(object, context.http_webhooks));
        }
        let title = object_title(&content_type.properties, object);
        let unique = UniqueValues::of(content_type, object);
        let links = link::links(&content_type.properties, object);
        let (dates, type_rev) = (KeptDates::default(), content_type.rev);
        let changed = before.map_or_else(String::new, |before| changed_properties(before, object));
        Ok(Self { id, data, title, unique, links, changed, dates, errors, type_rev })
    }

    /// Returns the object to be stored.
    pub(crate) fn object(&self) -> Result<Map<String, Value>> {
        parse(&self.data)
    }

    /// Returns the names of the properties that differ from the previous version.
    pub(crate) fn changed_names(&self) -> Result<Vec<String>> {
        serde_json::from_str(&self.changed).map_err(Error::internal)
    }

    /// Returns the object, or its validation errors.
    pub(crate) fn into_valid(mut self) -> Result<Self> {
        mem::take(&mut self.errors).into_result()?;
        Ok(self)
    }

    /// The row to write for version `version` in workflow state `state`.
    fn change(self, status: Status, state: &str, version: i64, context: &Context) -> ObjectChange {
        let at = self.dates.updated_at(context.stamp.at);
        ObjectChange {
            data: self.data,
            title: self.title,
            status,
            workflow_state: state.to_owned(),
            // Kept dates include no time of approval: it is the time of this write.
            approval: transition::approval(state, version, context.stamp.at.seconds()),
            created_at: self.dates.created,
            at,
            editor: context.stamp.actor,
            changed: self.changed,
        }
    }
}

/// Writes a new object; if an import keeps its deletion date, into the trash.
pub(crate) fn insert(
    writer: &WriteTransaction<'_>,
    content_type: &CompiledType,
    mut prepared: PreparedObject,
    context: &Context,
) -> Result<StoredObject<'static>> {
    let status = Status::initial(content_type.definition.draft_public);
    let state = &content_type.workflow.initial_state;
    let (id, links) = (mem::take(&mut prepared.id), mem::take(&mut prepared.links));
    let deleted_at = prepared.dates.deleted;
    let change = prepared.change(status, state, 1, context);
    let created_at = change.created_at.unwrap_or(context.stamp.at.seconds());
    let pk =
        writer.insert_object(content_type.pk, &content_type.indexed, &id, created_at, &change)?;
    writer.insert_links(pk, links.iter().map(LinkRef::target))?;
    let internal = Internal {
        created_at,
        updated_at: change.at,
        deleted_at: None,
        version: 1,
        version_at: change.at,
        status,
        public_version: None,
        published_at: None,
        workflow_state: Cow::Owned(change.workflow_state),
        workflow_public_version: change.approval.map(|(version, _)| version),
        workflow_published_at: change.approval.map(|(_, at)| at),
        owner: change.editor,
        editor: change.editor,
        title: Cow::Owned(change.title),
        schedule: None,
    };
    let stored = StoredObject { pk, id: Cow::Owned(id), internal, data: Cow::Owned(change.data) };
    let event = Event::ObjectCreated;
    let written = Written { event, changed: &change.changed, has_new_date: false, deleted_at };
    finish(writer, content_type, stored, written, context.stamp)
}

/// Writes a new version of an object.
pub(crate) fn update(
    writer: &WriteTransaction<'_>,
    content_type: &CompiledType,
    before: StoredObject<'static>,
    mut prepared: PreparedObject,
    context: &Context,
) -> Result<StoredObject<'static>> {
    hooks::before_update(writer, content_type.name(), context.stamp.at)?;
    let status = before.internal.status.edited(content_type.definition.draft_public);
    let version = before.internal.version + 1;
    let state = &before.internal.workflow_state;
    let (links, deleted_at) = (mem::take(&mut prepared.links), prepared.dates.deleted);
    let change = prepared.change(status, state, version, context);
    writer.update_object(content_type.pk, &content_type.indexed, before.pk, &change)?;
    if content_type.properties.iter().any(Property::may_link) {
        let published = if content_type.definition.draft_public {
            published_links(writer, &content_type.properties, before.pk)?
        } else {
            Vec::new()
        };
        let published = published.iter().map(FoundLink::target);
        writer.replace_links(before.pk, links.iter().map(LinkRef::target).chain(published))?;
    }
    let created_at = change.created_at.unwrap_or(before.internal.created_at);
    let has_new_date = created_at != before.internal.created_at;
    let internal = Internal {
        created_at,
        updated_at: change.at,
        version,
        version_at: change.at,
        status,
        editor: change.editor,
        title: Cow::Owned(change.title),
        workflow_public_version: change.approval.map(|(version, _)| version),
        workflow_published_at: change.approval.map(|(_, at)| at),
        schedule: None,
        ..before.internal
    };
    let stored = StoredObject { internal, data: Cow::Owned(change.data), ..before };
    let event = Event::ObjectUpdated;
    let written = Written { event, changed: &change.changed, has_new_date, deleted_at };
    finish(writer, content_type, stored, written, context.stamp)
}

/// What was written.
#[derive(Clone, Copy)]
struct Written<'a> {
    event: Event,
    /// The names of the changed properties.
    changed: &'a str,
    /// The date of creation changed.
    has_new_date: bool,
    /// The deletion date that an import keeps.
    deleted_at: Option<Timestamp>,
}

/// Logs the write of an object. If an import keeps its deletion date, moves the object to the trash
/// instead.
fn finish(
    writer: &WriteTransaction<'_>,
    content_type: &CompiledType,
    mut stored: StoredObject<'static>,
    written: Written<'_>,
    stamp: Stamp,
) -> Result<StoredObject<'static>> {
    let Written { event, changed, has_new_date, deleted_at } = written;
    if let Some(at) = deleted_at {
        writer.trash_object(content_type.pk, stored.pk, Stamp { at, ..stamp })?;
        log_deletion(writer, content_type, &stored, stamp)?;
        stored.internal.deleted_at = Some(at.seconds());
    } else {
        // An edit changes the public view if the object is in the state `public`. A new date of creation changes it
        // also for an object with a published version, which gets that date too. Other edits of Draft & Public types
        // do not change it. For types without both, `Audience::of` ignores `changes_public_view`: all callers see the change.
        let reorders_published =
            has_new_date && View::public(content_type).contains_object(&stored.internal);
        let changes_public_view =
            stored.internal.workflow_state == PUBLIC_STATE || reorders_published;
        let changed_properties = Some(changed);
        let change =
            LoggedChange { event, stamp, stored: &stored, changed_properties, changes_public_view };
        log_change(writer, content_type, &change)?;
    }
    Ok(stored)
}

/// Moves an object to the trash.
pub(crate) fn delete(
    writer: &WriteTransaction<'_>,
    content_type: &CompiledType,
    stored: &StoredObject<'_>,
    stamp: Stamp,
) -> Result<()> {
    writer.trash_object(content_type.pk, stored.pk, stamp)?;
    log_deletion(writer, content_type, stored, stamp)
}

/// Updates the links of all objects of a type, see [`relink`].
pub(crate) fn relink_all(
    writer: &WriteTransaction<'_>,
    properties: &[Property],
    ctd: i64,
) -> Result<()> {
    let mut objects = Vec::new();
    writer.for_each_object(ctd, |pk, _, _, _| {
        objects.push(pk);
        Ok(())
    })?;
    objects.into_iter().try_for_each(|pk| relink(writer, properties, pk))
}

/// Updates the links of a stored object, including those of its published version. Without relations, it has none.
pub(crate) fn relink(
    writer: &WriteTransaction<'_>,
    properties: &[Property],
    pk: i64,
) -> Result<()> {
    let mut links = scan::links(&writer.object_data(pk)?, properties);
    links.extend(published_links(writer, properties, pk)?);
    writer.replace_links(pk, links.iter().map(FoundLink::target))
}

/// Returns the links of the published version of an object, if any.
fn published_links(
    reader: &Reader<'_>,
    properties: &[Property],
    pk: i64,
) -> Result<Vec<FoundLink>> {
    let data = reader.published_data(pk)?;
    Ok(data.map(|data| scan::links(&data, properties)).unwrap_or_default())
}

/// Rejects a write that exhausted its step budget inside the transaction, because matching patterns
/// would block other writes. That happens only when the object or the type changed between validation
/// and write.
pub(crate) fn require_steps_left(budget: &StepBudget) -> Result<()> {
    if budget.is_exhausted() {
        let message = "The object or its type changed while it was checked: repeat the request";
        return Err(Error::Busy(message.to_owned()));
    }
    Ok(())
}

/// Rejects an object whose properties, as compact JSON, exceed the maximum size.
pub(crate) fn require_size(id: &str, data: usize) -> Result<()> {
    require_bytes(id, object_bytes(id, data))
}

/// Rejects a text that exceeds the maximum size of an object.
pub(crate) fn require_bytes(id: &str, bytes: usize) -> Result<()> {
    if bytes <= limits::MAX_OBJECT_BYTES {
        return Ok(());
    }
    let id = id.chars().take(MAX_ID_CHARS).collect();
    Err(Error::ObjectTooLarge { id, bytes })
}

/// Returns whether a payload has another `id` than the object that it changes.
pub(crate) fn names_another_object(payload: &Map<String, Value>, id: &str) -> bool {
    let is_same =
        |value: &Value| value.as_str().is_some_and(|named| named.eq_ignore_ascii_case(id));
    payload.get("id").is_some_and(|named| !is_same(named))
}

/// Parses the stored text of an object.
pub(crate) fn parse(data: &str) -> Result<Map<String, Value>> {
    serde_json::from_str(data).map_err(Error::internal)
}

/// Adds the stored values of the read-only properties that a replacement leaves out (see
/// docs/reference/objects.md#read-only-properties).
fn keep_readonly(
    content_type: &CompiledType,
    before: &Map<String, Value>,
    mut payload: Map<String, Value>,
) -> Map<String, Value> {
    for property in content_type.properties.iter().filter(|property| property.readonly) {
        if let Some(value) = before.get(&property.name) {
            payload.entry(&property.name).or_insert_with(|| value.clone());
        }
    }
    payload
}
