//! Patches, publishes and transitions the objects of a bulk job.

use cms_model::{
    content_type::catalog::Catalog,
    error::{Error, FieldErrors, Result},
    object::model::{Columns, StoredObject},
    wire::bulk::BulkAction,
};

use super::{Preparation, StepObject, Transaction};
use crate::{
    bulk::{RequestedChange, StepPatch, payload_of, rights},
    object::{
        batch::{Batch, Prevalidated},
        write::{Context, Edit},
    },
    publish::service::StatusChange,
    workflow,
};

/// The error of an object that others changed twice between the calls of webhooks and the write.
const CHANGED: &str = "The object changed while it was checked: start the job again";

/// What became of an object whose change was not refused.
enum ObjectOutcome {
    Changed,
    /// It was deleted, or it no longer has the value to replace.
    Skipped,
    /// It is tried once more at the end of the job.
    Deferred,
}

impl Transaction<'_> {
    /// Patches, publishes or transitions objects: every action but deletion.
    pub(super) fn change(
        &mut self,
        catalog: &Catalog,
        context: &Context,
        change: &RequestedChange,
        objects: Vec<StepObject>,
    ) -> Result<()> {
        let mut batch = Batch::new(self.writer, catalog, self.content_type, context);
        for StepObject { position, pk, preparation } in objects {
            let columns = match preparation {
                Preparation::Patch(_) => Columns::All,
                _ => Columns::WithoutProperties,
            };
            let (id, result) = match preparation {
                Preparation::Skipped => (String::new(), Ok(ObjectOutcome::Skipped)),
                Preparation::Refused(id, errors) => (id, Err(Error::Invalid(errors))),
                Preparation::Patch(_) | Preparation::Unprepared => {
                    match self.stored(pk, columns)? {
                        None => (String::new(), Ok(ObjectOutcome::Skipped)),
                        Some(stored) if !self.may_change(&stored) => {
                            (stored.id.to_string(), Err(Error::Invalid(rights::forbidden())))
                        }
                        Some(stored) => {
                            let id = stored.id.to_string();
                            let result = match preparation {
                                Preparation::Patch(patch) => {
                                    let is_first_attempt = position <= self.job.total;
                                    self.patch(&mut batch, change, stored, *patch, is_first_attempt)
                                }
                                _ => self.apply(change, &stored),
                            };
                            (id, result)
                        }
                    }
                }
            };
            match result {
                Ok(ObjectOutcome::Changed) => self.succeed(),
                Ok(ObjectOutcome::Skipped) => self.progress.done += 1,
                Ok(ObjectOutcome::Deferred) => self.deferred.push(pk),
                Err(Error::Invalid(errors)) => self.refuse(position, &id, &errors)?,
                Err(error @ Error::ObjectTooLarge { .. }) => {
                    self.refuse(position, &id, &FieldErrors::one("id", error.to_string()))?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn patch(
        &self,
        batch: &mut Batch<'_>,
        change: &RequestedChange,
        stored: StoredObject<'static>,
        prepared: StepPatch,
        is_first_attempt: bool,
    ) -> Result<ObjectOutcome> {
        let StepPatch { requested, webhooks_were_called, payload, validated } = prepared;
        let current = change.patch(self.content_type, &stored)?;
        if current.is_empty() {
            return Ok(ObjectOutcome::Skipped);
        }
        let (payload, validated) = if current == requested {
            (payload, validated)
        } else if is_first_attempt {
            // The object was changed after the webhooks were called: they have not seen the current patch.
            return Ok(ObjectOutcome::Deferred);
        } else if webhooks_were_called {
            return Err(Error::Invalid(FieldErrors::one("id", CHANGED)));
        } else {
            (payload_of(&stored.id, current), Prevalidated::NotValidated)
        };
        batch.edit((Edit::Patch, &payload), stored, validated)?;
        match batch.element_errors.pop().flatten() {
            Some(errors) => Err(Error::Invalid(errors)),
            None => Ok(ObjectOutcome::Changed),
        }
    }

    fn apply(&self, change: &RequestedChange, stored: &StoredObject<'_>) -> Result<ObjectOutcome> {
        let (writer, stamp) = (self.writer, self.stamp);
        if let BulkAction::Publish(action) = change.action {
            let status_change = StatusChange { writer, action, stamp };
            status_change.apply(self.content_type, (stored.pk, stored.internal.status))?;
        } else {
            let payload = change.transition();
            workflow::service::apply(writer, self.content_type, stored, &payload, stamp)?;
        }
        Ok(ObjectOutcome::Changed)
    }
}
