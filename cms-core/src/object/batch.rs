//! Batches of objects: create, patch, delete (see docs/reference/objects.md#batches).
//!
//! One request is one transaction. Elements are validated and saved in order. An invalid element
//! does not prevent the others from being saved, so an element is validated completely before any
//! of it is written.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use cms_model::{
    auth::scope::Access,
    content_type::catalog::{Catalog, CompiledType},
    context::Caller,
    error::{Error, FieldErrors, Result, split_invalid},
    ids::IdSource,
    message::{self, Reason, wrong_type},
    object::{model::StoredObject, view::View},
    pattern::StepBudget,
    publish::right::ChangeKind,
    read::required,
    wire::{
        batch::{BatchElements, BatchReport},
        object,
    },
};
use cms_store::{PendingCommit, WriteTransaction};
use serde_json::{Map, Value};

use super::{
    batch_report::{DUPLICATE_ID, PendingBatch, report},
    before_write::ElementResult,
    service::{Objects, find, may_change, with_quota},
    write::{self, Base, Context, Edit, KnownTargets, PreparedObject},
};

/// An element that was validated before the write is queued.
enum Element {
    New(PreparedObject),
    /// An element with an id, in a batch that may update objects: the transaction finds out whether an
    /// object with this id exists.
    NewOrExisting(Bytes, Prevalidated),
    Refused(FieldErrors),
}

/// A batch that is validated, as far as that needs no write transaction.
pub struct PreparedBatch {
    caller: Caller,
    name: String,
    elements: BatchElements,
    has_repeated: bool,
    context: Context,
    prepared: Vec<Element>,
    /// The stored response to an earlier request with the same idempotency key.
    response: Option<Vec<u8>>,
}

/// An element with an id, prepared from a snapshot: valid while the snapshot is current.
pub(crate) enum Prevalidated {
    New(PreparedObject),
    Edited(Base, PreparedObject),
    /// Not validated, or not valid: the transaction validates it, and reports the errors.
    NotValidated,
}

impl Objects<'_> {
    /// Creates objects, and replaces existing ones on request (see
    /// docs/reference/objects.md#batches).
    ///
    /// # Errors
    /// Errors of the complete request; errors of elements are in the report.
    pub fn batch_create(
        &self,
        caller: &Caller,
        name: &str,
        elements: &BatchElements,
        update_existing: bool,
    ) -> Result<BatchReport> {
        let batch = self.prepare_batch_create(caller, name, elements, update_existing)?;
        self.begin_batch_create(batch)?.wait()
    }

    /// Validates a batch as [`Self::batch_create`] does, as far as that needs no write transaction.
    pub fn prepare_batch_create(
        &self,
        caller: &Caller,
        name: &str,
        elements: &BatchElements,
        update_existing: bool,
    ) -> Result<PreparedBatch> {
        let needs = if update_existing { Access::CREATE | Access::UPDATE } else { Access::CREATE };
        let content_type = self.content_type(caller, name, needs)?;
        caller.require_right_to_keep_dates()?;
        self.check_limit(elements)?;
        let repeated = repeated_ids(elements);
        let response = self.stored_response(caller)?;
        let results = match response {
            Some(_) => Vec::new(),
            None => self.before_batch(caller, name, elements, (update_existing, &repeated))?,
        };
        let config = &self.cms.config;
        // The context has the date of creation, so it is created after the webhooks, which take time.
        let context = Context::new(caller, config).keeping_dates(caller);
        let budget = &mut StepBudget::per_object();
        let prepare = |(index, element): (usize, ElementResult)| -> Result<Element> {
            if repeated.contains(&index) {
                return Ok(Element::Refused(FieldErrors::one("id", DUPLICATE_ID)));
            }
            if update_existing
                && let Ok(text) = &element
                && object::id_of(text).is_some()
            {
                let validated = self.prevalidate(caller, name, (Edit::Replace, text), &context);
                return Ok(Element::NewOrExisting(text.clone(), validated));
            }
            match read(element)? {
                Ok(payload) => {
                    PreparedObject::new(&content_type, payload, &*config.ids, &context, budget)
                        .map(Element::New)
                }
                Err(errors) => Ok(Element::Refused(errors)),
            }
        };
        let prepared = results.into_iter().enumerate().map(prepare).collect::<Result<_>>()?;
        Ok(PreparedBatch {
            caller: caller.clone(),
            name: name.to_owned(),
            elements: elements.clone(),
            has_repeated: !repeated.is_empty(),
            context,
            prepared,
            response,
        })
    }

    /// Queues a prepared batch.
    pub fn begin_batch_create(&self, batch: PreparedBatch) -> Result<PendingBatch> {
        let PreparedBatch { caller, name, elements, has_repeated, context, prepared, response } =
            batch;
        if let Some(response) = response {
            let response = PendingCommit::completed(Ok(response));
            return Ok(PendingBatch { elements, has_repeated, response });
        }
        let config = &self.cms.config;
        let (quota, ids) = (config.max_objects, std::sync::Arc::clone(&config.ids));
        let owned_caller = caller.clone();
        let response = self.begin_once(&caller, &name, move |writer, catalog, content_type| {
            let mut batch = Batch::new(writer, catalog, content_type, &context);
            let add = |element| -> Result<()> {
                match element {
                    Element::Refused(errors) => batch.refuse(errors),
                    Element::New(prepared) => batch.insert(prepared)?,
                    Element::NewOrExisting(text, validated) => {
                        let id = object::id_of(&text);
                        let id = id.as_ref().and_then(Value::as_str).unwrap_or_default();
                        let view = View::for_object(&owned_caller, content_type);
                        match find(writer, content_type, view, id) {
                            Ok(stored)
                                if !may_change(
                                    &owned_caller,
                                    content_type,
                                    &stored,
                                    ChangeKind::Edit,
                                ) =>
                            {
                                batch.refuse(FieldErrors::one("id", message::FORBIDDEN));
                            }
                            Ok(stored) => batch.edit((Edit::Replace, &text), stored, validated)?,
                            Err(Error::NotFound { .. }) => match validated {
                                Prevalidated::New(prepared) => batch.insert(prepared)?,
                                _ => batch.validate_and_insert(&text, &*ids)?,
                            },
                            Err(error) => return Err(error),
                        }
                    }
                }
                Ok(())
            };
            with_quota(writer, quota, || prepared.into_iter().try_for_each(add))?;
            serde_json::to_vec(&batch.element_errors).map_err(Error::internal)
        })?;
        Ok(PendingBatch { elements, has_repeated, response })
    }

    /// Patches objects (see docs/reference/objects.md#batches).
    ///
    /// # Errors
    /// [`Error::NotFound`] when any id is unknown; then nothing changes.
    pub fn batch_patch(
        &self,
        caller: &Caller,
        name: &str,
        elements: &BatchElements,
    ) -> Result<BatchReport> {
        self.content_type(caller, name, Access::UPDATE)?;
        self.check_limit(elements)?;
        let repeated = repeated_ids(elements);
        let has_repeated = !repeated.is_empty();
        let results = self.before_patches(caller, name, elements)?;
        let context = Context::new(caller, &self.cms.config);
        let mut patches = Vec::with_capacity(results.len());
        for (index, element) in results.into_iter().enumerate() {
            patches.push(match read_patch(element)? {
                Ok((id, text)) if repeated.contains(&index) => Ok((id, text, None)),
                Ok((id, text)) => {
                    let validated = self.prevalidate(caller, name, (Edit::Patch, &text), &context);
                    Ok((id, text, Some(validated)))
                }
                Err(errors) => Err(errors),
            });
        }
        let caller = caller.clone();
        let element_errors = self.write(name, move |writer, catalog, content_type| {
            let mut batch = Batch::new(writer, catalog, content_type, &context);
            for patch in patches {
                let (id, text, validated) = match patch {
                    Ok(patch) => patch,
                    Err(errors) => {
                        batch.refuse(errors);
                        continue;
                    }
                };
                let stored =
                    find(writer, content_type, View::for_object(&caller, content_type), &id)?;
                match validated {
                    None => batch.refuse(FieldErrors::one("id", DUPLICATE_ID)),
                    Some(_) if !may_change(&caller, content_type, &stored, ChangeKind::Edit) => {
                        batch.refuse(FieldErrors::one("id", message::FORBIDDEN));
                    }
                    Some(validated) => batch.edit((Edit::Patch, &text), stored, validated)?,
                }
            }
            Ok(batch.element_errors)
        })?;
        report(elements, element_errors, has_repeated)
    }

    /// Deletes the objects that can be deleted; returns their number, or the errors of the others
    /// (see docs/reference/objects.md#delete).
    pub fn batch_delete(&self, caller: &Caller, name: &str, ids: &[String]) -> Result<u64> {
        self.content_type(caller, name, Access::DELETE)?;
        let limit = self.cms.config.batch_limit;
        if ids.len() > limit {
            return Err(Error::Rejected(vec![Reason::BatchLimit(limit)]));
        }
        self.before_deletions(caller, name, ids)?;
        let stamp = caller.stamp(self.cms.now());
        let (caller, ids) = (caller.clone(), ids.to_vec());
        let (deleted, reasons) = self.write(name, move |writer, _, content_type| {
            let view = View::for_object(&caller, content_type);
            let mut reasons = Vec::new();
            let mut seen = HashSet::new();
            let mut wanted = Vec::new();
            for id in ids {
                if !seen.insert(id.to_ascii_lowercase()) {
                    continue;
                }
                match find(writer, content_type, view, &id) {
                    Ok(stored)
                        if !may_change(&caller, content_type, &stored, ChangeKind::Delete) =>
                    {
                        reasons.push(Reason::ObjectForbidden(id));
                    }
                    Ok(stored) => wanted.push((id, stored)),
                    Err(Error::NotFound { .. }) => {
                        reasons.push(Reason::ObjectMissing(id));
                    }
                    Err(error) => return Err(error),
                }
            }
            let used = still_used(writer, content_type, &wanted)?;
            let mut deleted = Vec::new();
            for (id, stored) in wanted {
                if used.contains(&stored.pk) {
                    reasons.push(Reason::ObjectInUse(id));
                } else {
                    write::delete(writer, content_type, &stored, stamp)?;
                    deleted.push(id);
                }
            }
            Ok((deleted, reasons))
        })?;
        self.cms.after_deletion(name, deleted.iter().map(String::as_str));
        if reasons.is_empty() { Ok(deleted.len() as u64) } else { Err(Error::Rejected(reasons)) }
    }

    /// Prepares an element with an id, from the stored object.
    pub(crate) fn prevalidate(
        &self,
        caller: &Caller,
        name: &str,
        (edit, text): (Edit, &Bytes),
        context: &Context,
    ) -> Prevalidated {
        let Ok(payload) = object::read(text) else { return Prevalidated::NotValidated };
        let id = payload.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let budget = &mut StepBudget::per_object();
        let validated = self.cms.read_with_catalog(|reader, catalog| {
            let content_type = catalog.get(name)?;
            match find(reader, content_type, View::for_object(caller, content_type), &id) {
                Ok(stored) => {
                    let base = Base::of(content_type, &stored);
                    PreparedObject::edit(content_type, edit, payload, &stored, context, budget)
                        .map(|prepared| Prevalidated::Edited(base, prepared))
                }
                Err(Error::NotFound { .. }) if edit == Edit::Replace => {
                    let ids = &*self.cms.config.ids;
                    PreparedObject::new(content_type, payload, ids, context, budget)
                        .map(Prevalidated::New)
                }
                Err(error) => Err(error),
            }
        });
        // The transaction reports the errors of all elements in their order.
        validated.unwrap_or(Prevalidated::NotValidated)
    }

    fn check_limit(&self, elements: &BatchElements) -> Result<()> {
        let limit = self.cms.config.batch_limit;
        if elements.texts().len() > limit { Err(Error::BatchLimit { limit }) } else { Ok(()) }
    }
}

/// A batch inside its transaction, and its errors so far: one entry per element.
pub(crate) struct Batch<'a> {
    writer: &'a WriteTransaction<'a>,
    catalog: &'a Catalog,
    content_type: &'a CompiledType,
    context: &'a Context,
    known: KnownTargets,
    /// For elements that have to be validated again.
    budget: StepBudget,
    pub(crate) element_errors: Vec<Option<FieldErrors>>,
}

impl<'a> Batch<'a> {
    pub(crate) fn new(
        writer: &'a WriteTransaction<'a>,
        catalog: &'a Catalog,
        content_type: &'a CompiledType,
        context: &'a Context,
    ) -> Self {
        let (known, element_errors) = (KnownTargets::default(), Vec::new());
        Self {
            writer,
            catalog,
            content_type,
            context,
            known,
            budget: StepBudget::per_write(),
            element_errors,
        }
    }

    fn refuse(&mut self, errors: FieldErrors) {
        self.element_errors.push(Some(errors));
    }

    fn insert(&mut self, prepared: PreparedObject) -> Result<()> {
        let mut prepared = prepared.renewed(self.content_type, self.context, &mut self.budget)?;
        prepared.check_id(self.writer, self.content_type)?;
        self.check(&mut prepared, None)?;
        let saved = prepared.into_valid().and_then(|prepared| {
            write::insert(self.writer, self.content_type, prepared, self.context)
        });
        self.record(saved)
    }

    /// Validates an element again and inserts it: its object existed at the first validation and was deleted
    /// since, or that validation failed.
    fn validate_and_insert(&mut self, text: &Bytes, ids: &dyn IdSource) -> Result<()> {
        let payload = object::read(text)?;
        let budget = &mut self.budget;
        let prepared = PreparedObject::new(self.content_type, payload, ids, self.context, budget)?;
        write::require_steps_left(budget)?;
        self.insert(prepared)
    }

    pub(crate) fn edit(
        &mut self,
        (edit, text): (Edit, &Bytes),
        stored: StoredObject<'static>,
        validated: Prevalidated,
    ) -> Result<()> {
        let Self { content_type, context, .. } = *self;
        let mut prepared = match validated {
            Prevalidated::Edited(base, object) if base == Base::of(content_type, &stored) => object,
            _ => {
                let (payload, budget) = (object::read(text)?, &mut self.budget);
                let prepared =
                    PreparedObject::edit(content_type, edit, payload, &stored, context, budget)?;
                write::require_steps_left(budget)?;
                prepared
            }
        };
        self.check(&mut prepared, Some(stored.pk))?;
        let is_deleted = prepared.dates.deleted.is_some();
        if is_deleted && self.writer.is_linked((self.content_type.name(), &stored.id), stored.pk)? {
            prepared.errors.add("internal.deletedAt", message::IN_USE);
        }
        let saved = prepared.into_valid().and_then(|prepared| {
            write::update(self.writer, self.content_type, stored, prepared, self.context)
        });
        if is_deleted {
            self.known = KnownTargets::default();
        }
        self.record(saved)
    }

    fn check(&mut self, prepared: &mut PreparedObject, itself: Option<i64>) -> Result<()> {
        let Self { writer, catalog, content_type, known, .. } = self;
        prepared.check_with_known_targets(writer, catalog, content_type, itself, known)
    }

    /// Keeps the validation errors of an element; any other error ends the batch.
    fn record(&mut self, saved: Result<StoredObject<'static>>) -> Result<()> {
        self.element_errors.push(split_invalid(saved)?.err());
        Ok(())
    }
}

/// Returns the primary keys of the objects in `wanted` that cannot be deleted, because an object that
/// stays links to them. An object stays if it is not in `wanted`, or cannot be deleted itself.
pub(crate) fn still_used(
    writer: &WriteTransaction<'_>,
    content_type: &CompiledType,
    wanted: &[(String, StoredObject<'_>)],
) -> Result<HashSet<i64>> {
    let inside: HashSet<i64> = wanted.iter().map(|(_, stored)| stored.pk).collect();
    // Of so many linking objects, at least one is not in `wanted`: there is no need to read more.
    let enough = wanted.len() + 1;
    let mut used = HashSet::new();
    let mut links_to: HashMap<i64, Vec<i64>> = HashMap::new();
    for (id, StoredObject { pk, .. }) in wanted {
        for source in writer.linking_objects((content_type.name(), id), *pk, enough)? {
            if inside.contains(&source) {
                links_to.entry(source).or_default().push(*pk);
            } else {
                used.insert(*pk);
            }
        }
    }
    let mut staying: Vec<i64> = used.iter().copied().collect();
    while let Some(pk) = staying.pop() {
        for target in links_to.remove(&pk).into_iter().flatten() {
            if used.insert(target) {
                staying.push(target);
            }
        }
    }
    Ok(used)
}

/// Parses an element, or returns its errors.
fn read(element: ElementResult) -> Result<std::result::Result<Map<String, Value>, FieldErrors>> {
    let text = match element {
        Ok(text) => text,
        Err(errors) => return Ok(Err(errors)),
    };
    Ok(match serde_json::from_slice(&text).map_err(|_| Error::malformed_json())? {
        Value::Object(payload) => Ok(payload),
        other => Err(FieldErrors::one("data", wrong_type(&other, "object"))),
    })
}

/// Parses the id of an element that changes an object, or returns its errors.
fn read_patch(element: ElementResult) -> Result<std::result::Result<(String, Bytes), FieldErrors>> {
    let text = element.clone().ok();
    let payload = match read(element)? {
        Ok(payload) => payload,
        Err(errors) => return Ok(Err(errors)),
    };
    let mut errors = FieldErrors::default();
    let id: Option<&str> = required(&payload, "id", "", &mut errors);
    Ok(id.map(str::to_owned).zip(text).ok_or(errors))
}

/// Returns the positions of elements whose id occurs again later, in any letter case.
fn repeated_ids(elements: &BatchElements) -> HashSet<usize> {
    let mut last: HashMap<String, usize> = HashMap::new();
    let mut repeated = HashSet::new();
    for (index, element) in elements.texts().iter().enumerate() {
        if let Some(Value::String(id)) = object::id_of(element)
            && let Some(earlier) = last.insert(id.to_ascii_lowercase(), index)
        {
            repeated.insert(earlier);
        }
    }
    repeated
}
