//! Stores, returns, lists and expires working copies (see docs/reference/working-copies.md).
//!
//! They are rows of their own: no version, no journal entry, no search document comes from them.
//! Only the caller who stored one can read it.

use std::collections::{HashMap, HashSet};

use cms_model::{
    clock::Timestamp,
    content_type::catalog::{Catalog, CompiledType},
    context::Caller,
    dates,
    error::{Error, Result},
    ids, limits,
    object::{
        model::{Columns, Edition, StoredObject},
        title::{listed_title, object_title},
        view::View,
    },
    paging::PageRequest,
    wire::{
        condition::EntityTag,
        list::{List, is_named},
        object::Json,
        working_copy::{
            NEW_PREFIX, NewWorkingCopy, WorkingCopy, WorkingCopySummary, is_new, required_access,
        },
    },
};
use cms_store::{Reader, WorkingCopyRow, WorkingCopySubject};
use serde_json::{Map, Value, value::RawValue};

use crate::{
    cms::service,
    object::{
        service::{find_map, state_tag},
        write::require_bytes,
    },
};

service! {
    /// Operations on the working copies of the caller.
    WorkingCopies, working_copies
}

/// The object of a request.
struct WorkingCopyAddress {
    subject: WorkingCopySubject,
    /// As stored, or `~<uuid>`.
    id: String,
    /// The tag of the current state; none for an object that does not exist yet.
    tag: Option<EntityTag>,
}

impl WorkingCopies<'_> {
    /// Returns the working copy of an object, with its `ETag`.
    pub fn get(&self, caller: &Caller, name: &str, id: &str) -> Result<(Json, EntityTag)> {
        self.cms.objects().read(caller, name, required_access(id), |reader, _, content_type| {
            let address = WorkingCopyAddress::find(reader, content_type, caller, id)?;
            let found = caller.actor().pk.map(|actor| reader.working_copy(actor, &address.subject));
            let unknown = || Error::not_found("working copy", format!("{name}/{id}"));
            let (row, data) = found.transpose()?.flatten().ok_or_else(unknown)?;
            to_json(name, &address, &row, &data)
        })
    }

    /// Stores the working copy of an object, in place of an earlier one.
    ///
    /// # Errors
    /// Errors of the payload, [`Error::PreconditionFailed`] when `If-Match` has no tag of the
    /// earlier one, and [`Error::Forbidden`] when the caller has too many.
    pub fn put(
        &self,
        caller: &Caller,
        name: &str,
        id: &str,
        payload: Map<String, Value>,
    ) -> Result<(Json, EntityTag)> {
        self.cms.objects().content_type(caller, name, required_access(id))?;
        let actor = caller.actor().pk.ok_or(Error::Forbidden)?;
        let (new, errors) = NewWorkingCopy::from_payload(payload, is_new(id));
        let text = serde_json::to_string(&new.data).map_err(Error::internal)?;
        require_bytes(id, text.len())?;
        let saved_at = self.cms.now();
        let (caller, name, id) = (caller.clone(), name.to_owned(), id.to_owned());
        self.cms.objects().write(&name.clone(), move |writer, _, content_type| {
            caller.require(required_access(&id), &name)?;
            let address = WorkingCopyAddress::find(writer, content_type, &caller, &id)?;
            let stored = writer.working_copy(actor, &address.subject)?;
            require_match(&caller, stored.as_ref())?;
            errors.into_result()?;
            if stored.is_none() && writer.working_copy_count(actor)? >= limits::MAX_WORKING_COPIES {
                return Err(Error::Forbidden);
            }
            let title = listed_title(&object_title(&content_type.properties, &new.data));
            let (ctd, subject) = (content_type.pk, address.subject.clone());
            let row = WorkingCopyRow { ctd, subject, base: new.base, title, saved_at };
            writer.put_working_copy(actor, &row, &text)?;
            to_json(&name, &address, &row, &text)
        })
    }

    /// Removes the working copy of an object, if there is one.
    ///
    /// # Errors
    /// [`Error::PreconditionFailed`] when `If-Match` has no tag of the working copy.
    pub fn delete(&self, caller: &Caller, name: &str, id: &str) -> Result<()> {
        self.cms.objects().content_type(caller, name, required_access(id))?;
        let (caller, id) = (caller.clone(), id.to_owned());
        self.cms.objects().write(name, move |writer, _, content_type| {
            caller.require(required_access(&id), content_type.name())?;
            let address = WorkingCopyAddress::find(writer, content_type, &caller, &id)?;
            let Some(actor) = caller.actor().pk else { return Ok(()) };
            if let Some(stored) = writer.working_copy(actor, &address.subject)? {
                require_match(&caller, Some(&stored))?;
                writer.remove_working_copy(actor, &address.subject)?;
            }
            Ok(())
        })
    }

    /// Lists the working copies of the caller, newest first, of these types or of all.
    pub fn list(
        &self,
        caller: &Caller,
        content_types: Option<&[String]>,
        page: PageRequest,
    ) -> Result<List<WorkingCopySummary>> {
        caller.require_write()?;
        let Some(actor) = caller.actor().pk else { return Ok(List::new(page, 0, Vec::new())) };
        self.cms.read_with_catalog(|reader, catalog| {
            let mut rows = reader.working_copies(actor)?;
            rows.retain(|row| {
                let needs = match &row.subject {
                    WorkingCopySubject::Object(_) => required_access(""),
                    WorkingCopySubject::New { id, .. } => required_access(id),
                };
                catalog.find_by_pk(row.ctd).is_some_and(|content_type| {
                    is_named(content_types, content_type.name())
                        && caller.may(needs, content_type.name())
                })
            });
            let mut visible = HashSet::new();
            let columns = Columns::WithoutProperties;
            visible_objects(reader, catalog, caller, (&rows, columns), |_, _, stored| {
                visible.insert(stored.pk);
            })?;
            rows.retain(|row| match &row.subject {
                WorkingCopySubject::Object(pk) => visible.contains(pk),
                WorkingCopySubject::New { .. } => true,
            });
            let total = rows.len() as u64;
            let rows: Vec<WorkingCopyRow> = page.of(rows).collect();
            // Tags are computed from complete objects, so only for the rows of the page.
            let mut shown = HashMap::new();
            let columns = Columns::All;
            visible_objects(
                reader,
                catalog,
                caller,
                (&rows, columns),
                |content_type, view, stored| {
                    let tag = state_tag(content_type, view, &stored);
                    shown.insert(stored.pk, (stored.id.into_owned(), tag));
                },
            )?;
            let summaries = rows.into_iter().map(|row| summary(row, catalog, &shown));
            Ok(List::new(page, total, summaries.collect()))
        })
    }

    /// Removes the working copies that have expired, in transactions of limited size.
    pub(crate) fn expire(&self, now: Timestamp) -> Result<()> {
        let days = limits::WORKING_COPY_RETENTION_DAYS;
        let expired = Timestamp(now.0 - days * 86_400_000_000);
        let limit = limits::MAX_WORKING_COPIES_EXPIRED_PER_TRANSACTION;
        while self.cms.store.read_autocommit(|r| r.has_working_copies_before(expired))? {
            self.cms
                .store
                .write(move |writer| writer.remove_working_copies_before(expired, limit))?;
        }
        Ok(())
    }
}

impl WorkingCopyAddress {
    /// Finds the object of a request in its view.
    fn find(
        reader: &Reader<'_>,
        content_type: &CompiledType,
        caller: &Caller,
        id: &str,
    ) -> Result<Self> {
        if let Some(uuid) = id.strip_prefix(NEW_PREFIX) {
            if !ids::is_uuid(uuid) {
                return Err(Error::object_not_found(content_type.name(), id));
            }
            let subject = WorkingCopySubject::New { ctd: content_type.pk, id: id.to_owned() };
            return Ok(Self { subject, id: id.to_owned(), tag: None });
        }
        let view = View::for_object(caller, content_type);
        find_map(reader, content_type, view, id, |stored| Self {
            subject: WorkingCopySubject::Object(stored.pk),
            id: stored.id.clone().into_owned(),
            tag: Some(state_tag(content_type, view, stored)),
        })
    }
}

/// Returns whether a working copy started from the current state, which has this tag.
fn is_current(base: Option<&str>, tag: Option<EntityTag>) -> bool {
    match (base, tag) {
        (Some(base), Some(tag)) => tag.is_same_state(base),
        (base, tag) => base.is_none() && tag.is_none(),
    }
}

/// The tag of a stored working copy. The tag does not depend on the object, so that `If-Match` protects
/// only from other changes of the working copy.
fn stored_tag(row: &WorkingCopyRow, data: &str) -> EntityTag {
    EntityTag::of(format!("{:?} {} {data}", row.base, row.saved_at.0).as_bytes())
}

/// Rejects a request whose `If-Match` lacks the tag of the stored working copy.
fn require_match(caller: &Caller, stored: Option<&(WorkingCopyRow, String)>) -> Result<()> {
    let Some(wanted) = caller.write_guards.if_match() else { return Ok(()) };
    match stored {
        Some((row, data)) if wanted.admits(stored_tag(row, data)) => Ok(()),
        _ => Err(Error::PreconditionFailed),
    }
}

fn to_json(
    content_type: &str,
    address: &WorkingCopyAddress,
    row: &WorkingCopyRow,
    data: &str,
) -> Result<(Json, EntityTag)> {
    let copy = WorkingCopy {
        content_type,
        id: &address.id,
        base: row.base.as_deref(),
        current: is_current(row.base.as_deref(), address.tag),
        saved_at: dates::microsecond_date(row.saved_at),
        data: serde_json::from_str::<&RawValue>(data).map_err(Error::internal)?,
    };
    let json = serde_json::to_vec(&copy).map_err(Error::internal)?;
    let tag = stored_tag(row, data).of_response(&json);
    Ok((Json(json), tag))
}

/// Passes the live objects of working copies that are in the view of the request to `visit`.
fn visible_objects(
    reader: &Reader<'_>,
    catalog: &Catalog,
    caller: &Caller,
    (rows, columns): (&[WorkingCopyRow], Columns),
    mut visit: impl FnMut(&CompiledType, View, StoredObject<'_>),
) -> Result<()> {
    let pks = rows.iter().filter_map(|row| match row.subject {
        WorkingCopySubject::Object(pk) => Some(pk),
        WorkingCopySubject::New { .. } => None,
    });
    let pks: Vec<i64> = pks.collect();
    reader.object_rows(Edition::Current, &pks, columns, |ctd, stored| {
        if let Some(content_type) = catalog.find_by_pk(ctd) {
            let view = View::for_object(caller, content_type);
            if view.contains_object(&stored.internal) {
                visit(content_type, view, stored);
            }
        }
        Ok(())
    })
}

fn summary(
    row: WorkingCopyRow,
    catalog: &Catalog,
    visible: &HashMap<i64, (String, EntityTag)>,
) -> WorkingCopySummary {
    let (id, tag) = match row.subject {
        WorkingCopySubject::Object(pk) => visible.get(&pk).cloned().unzip(),
        WorkingCopySubject::New { id, .. } => (Some(id), None),
    };
    WorkingCopySummary {
        content_type: catalog
            .find_by_pk(row.ctd)
            .map_or_else(String::new, |it| it.name().to_owned()),
        id: id.unwrap_or_default(),
        object_title: row.title,
        current: is_current(row.base.as_deref(), tag),
        base: row.base,
        saved_at: dates::microsecond_date(row.saved_at),
    }
}
