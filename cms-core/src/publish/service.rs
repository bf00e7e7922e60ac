//! Publishes, unpublishes and archives objects, now or scheduled (see
//! docs/reference/publishing.md).

use std::{collections::BTreeMap, mem};

use cms_model::{
    auth::scope::Access,
    content_type::catalog::{Catalog, CompiledType},
    context::{Caller, Stamp},
    error::{Error, Result},
    limits,
    message::Reason,
    object::{
        model::{Edition, Status, StoredObject},
        scan::{self, FoundLink},
        view::{Audience, View},
    },
    publish::{right::ChangeKind, schedule, state},
    wire::{object::Json, publish::PublishAction},
};
use cms_store::{ChangedObject, Event, JournalChange, WriteTransaction};
use serde_json::{Map, Value};

use crate::{
    cms::service,
    object::{
        service::{find_map, find_to_change, to_json},
        write,
    },
};

service! {
    /// Operations on the status of content objects. The second argument names the content type.
    Publishing, publishing
}

impl Publishing<'_> {
    /// Applies an action to one object; with `cascade` also to linked objects where it is allowed
    /// (see docs/reference/publishing.md#linked-objects).
    ///
    /// # Errors
    /// [`Error::Rejected`] when the status does not allow it; then nothing is changed.
    pub fn set_status(
        &self,
        caller: &Caller,
        name: &str,
        id: &str,
        action: PublishAction,
        cascade: bool,
    ) -> Result<()> {
        self.require(caller, name)?;
        let stamp = caller.stamp(self.cms.now());
        let (caller, id) = (caller.clone(), id.to_owned());
        self.cms.objects().write(name, move |writer, catalog, content_type| {
            let stored = find_to_change(writer, content_type, &caller, &id, ChangeKind::Status)?;
            require_draft_public(content_type)?;
            let status = stored.internal.status;
            if !state::is_allowed(status, action) {
                let reason = format!(
                    "Action \"{}\" is not allowed in status \"{}\"",
                    action.as_str(),
                    status.as_str()
                );
                return Err(Error::Rejected(vec![reason.into()]));
            }
            let change = StatusChange { writer, action, stamp };
            change.apply(content_type, (stored.pk, status))?;
            if cascade {
                let links = scan::links(&stored.data, &content_type.properties);
                change.cascade_to(catalog, &caller, &links)?;
            }
            Ok(())
        })
    }

    /// Applies an action to many objects of any status (see docs/reference/publishing.md#batches).
    ///
    /// # Errors
    /// [`Error::NotFound`] when any id is unknown; then nothing is changed.
    pub fn set_statuses(
        &self,
        caller: &Caller,
        name: &str,
        ids: &[String],
        action: PublishAction,
    ) -> Result<()> {
        self.require(caller, name)?;
        if ids.len() > limits::MAX_PUBLISH_BATCH_IDS {
            return Err(Error::BatchLimit { limit: limits::MAX_PUBLISH_BATCH_IDS });
        }
        let stamp = caller.stamp(self.cms.now());
        let (caller, ids) = (caller.clone(), ids.to_vec());
        self.cms.objects().write(name, move |writer, _, content_type| {
            let view = View::for_object(&caller, content_type);
            let found = ids.iter().map(|id| find_map(writer, content_type, view, id, status_of));
            let found = found.collect::<Result<BTreeMap<_, _>>>()?;
            require_draft_public(content_type)?;
            let change = StatusChange { writer, action, stamp };
            found.into_iter().try_for_each(|object| change.apply(content_type, object))
        })
    }

    /// Sets or replaces the scheduled publication of an object (see
    /// docs/reference/publishing.md#scheduled-publication); returns the object.
    pub fn schedule(
        &self,
        caller: &Caller,
        name: &str,
        id: &str,
        payload: Map<String, Value>,
    ) -> Result<Json> {
        self.set_schedule(caller, name, id, Some(payload))
    }

    /// Cancels the scheduled publication of an object, if any.
    pub fn unschedule(&self, caller: &Caller, name: &str, id: &str) -> Result<()> {
        self.set_schedule(caller, name, id, None).map(drop)
    }

    fn set_schedule(
        &self,
        caller: &Caller,
        name: &str,
        id: &str,
        payload: Option<Map<String, Value>>,
    ) -> Result<Json> {
        self.require(caller, name)?;
        let stamp = caller.stamp(self.cms.now());
        let (caller, id) = (caller.clone(), id.to_owned());
        self.cms.objects().write(name, move |writer, _, content_type| {
            let mut stored =
                find_to_change(writer, content_type, &caller, &id, ChangeKind::Status)?;
            require_draft_public(content_type)?;
            if payload.is_some() && !state::is_schedulable(stored.internal.status) {
                let reason = "Only draft or modified objects can be scheduled";
                return Err(Error::Rejected(vec![reason.into()]));
            }
            let schedule = payload.map(|payload| schedule::parse(&payload, stamp.at)).transpose();
            let schedule = schedule.map_err(Error::Invalid)?;
            let before = mem::replace(&mut stored.internal.schedule, schedule);
            let after = &stored.internal.schedule;
            if *after != before {
                let event =
                    if after.is_some() { Event::ObjectScheduled } else { Event::ObjectUnscheduled };
                writer.set_schedule(content_type.pk, stored.pk, after.as_ref(), stamp.actor)?;
                let change = write::LoggedChange {
                    event,
                    stamp,
                    stored: &stored,
                    changed_properties: None,
                    changes_public_view: false,
                };
                write::log_change(writer, content_type, &change)?;
            }
            Ok(to_json(content_type, &stored))
        })
    }

    /// Publishes the objects that are due; returns their number. A server calls it every second.
    ///
    /// The write transaction reads the due objects again, so only one of several servers on a data
    /// directory publishes an object.
    pub fn publish_due(&self) -> Result<usize> {
        let at = self.cms.now();
        if !self.cms.store.read_autocommit(|reader| reader.is_any_due(at.seconds()))? {
            return Ok(0);
        }
        self.cms.write_with_catalog(move |writer, catalog| {
            let stamp = Stamp { at, actor: Some(writer.system_actor("schedule")?) };
            let change = StatusChange { writer, action: PublishAction::Publish, stamp };
            let due = writer.due(at.seconds(), limits::MAX_SCHEDULED_PER_TRANSACTION)?;
            for &(ctd, pk, status) in &due {
                match catalog.find_by_pk(ctd) {
                    Some(known) if state::is_schedulable(status) => {
                        change.apply(known, (pk, status))?;
                    }
                    // Public and archived objects cannot be scheduled: the schedule is removed.
                    _ => writer.set_schedule(ctd, pk, None, stamp.actor)?,
                }
            }
            Ok(due.len())
        })
    }

    /// Checks type and rights, the publishing right included.
    pub(crate) fn require(&self, caller: &Caller, name: &str) -> Result<()> {
        self.cms.objects().content_type(caller, name, Access::UPDATE)?;
        caller.require_publish()
    }
}

/// A publish action, applied within one write transaction.
pub(crate) struct StatusChange<'a> {
    pub(crate) writer: &'a WriteTransaction<'a>,
    pub(crate) action: PublishAction,
    pub(crate) stamp: Stamp,
}

impl StatusChange<'_> {
    /// Applies the action to an object, given by its primary key and present status.
    pub(crate) fn apply(
        &self,
        content_type: &CompiledType,
        (pk, before): (i64, Status),
    ) -> Result<()> {
        let Self { writer, action, stamp } = *self;
        let (ctd, after) = (content_type.pk, state::status_after(action));
        if before == after {
            return Ok(());
        }
        match after {
            Status::Public | Status::Modified => writer.publish(ctd, pk, stamp)?,
            Status::Draft | Status::Archived => writer.unpublish(ctd, pk, after, stamp)?,
        }
        if before == Status::Modified {
            write::relink(writer, &content_type.properties, pk)?;
        }
        let event = match action {
            PublishAction::Publish => Event::ObjectPublished,
            PublishAction::Unpublish => Event::ObjectUnpublished,
            PublishAction::Archive => Event::ObjectArchived,
        };
        let (id, version, title) = writer.object_summary(pk)?;
        let changes_public_view = before.is_published() || after.is_published();
        let audience = Audience::of(content_type, changes_public_view);
        let object =
            Some(ChangedObject { pk, id: &id, version, title: &title, changed: None, audience });
        writer.append_to_journal(&JournalChange {
            event,
            stamp,
            content_type: (ctd, content_type.name()),
            object,
        })
    }

    /// Applies the action to linked objects if their type, the rights of the caller, the view of the
    /// request and their status allow it (see docs/reference/publishing.md#linked-objects).
    fn cascade_to(&self, catalog: &Catalog, caller: &Caller, links: &[FoundLink]) -> Result<()> {
        for link in links {
            let Some(content_type) = catalog.find(&link.content_type) else { continue };
            let is_applicable = content_type.definition.draft_public
                && caller.may(Access::UPDATE, content_type.name());
            if !is_applicable {
                continue;
            }
            let view = View::for_object(caller, content_type);
            let related =
                self.writer.object(Edition::Current, content_type.pk, &link.id, |stored| {
                    let is_allowed = view.contains_object(&stored.internal)
                        && state::is_allowed(stored.internal.status, self.action);
                    is_allowed.then(|| status_of(&stored))
                })?;
            if let Some(related) = related.flatten() {
                self.apply(content_type, related)?;
            }
        }
        Ok(())
    }
}

fn status_of(stored: &StoredObject<'_>) -> (i64, Status) {
    (stored.pk, stored.internal.status)
}

fn require_draft_public(content_type: &CompiledType) -> Result<()> {
    if content_type.definition.draft_public {
        return Ok(());
    }
    Err(Error::Rejected(vec![Reason::NoDraftPublic]))
}
