//! Shows what a job would do to its first objects.

use std::collections::HashSet;

use cms_model::{
    content_type::catalog::{Catalog, CompiledType},
    context::Caller,
    error::{Error, FieldErrors, Result},
    limits, message,
    object::model::{Columns, Edition, StoredObject},
    pattern::StepBudget,
    wire::bulk::{BulkAction, BulkDryRunResponse, BulkSample},
    workflow::transition,
};
use cms_store::Reader;
use serde_json::{Map, Value};

use super::{RequestedChange, rights};
use crate::object::{
    service::may_change,
    write::{self, Context, Edit, PreparedObject},
};

/// A dry run in one snapshot.
pub(super) struct BulkDryRun<'a> {
    pub(super) caller: &'a Caller,
    pub(super) reader: &'a Reader<'a>,
    pub(super) catalog: &'a Catalog,
    pub(super) content_type: &'a CompiledType,
    pub(super) context: &'a Context,
    pub(super) change: &'a RequestedChange,
}

/// The properties that a patch changes, before and after it, and its errors.
type Difference = (Map<String, Value>, Map<String, Value>, FieldErrors);

impl BulkDryRun<'_> {
    pub(super) fn response(&self, pks: &[i64]) -> Result<BulkDryRunResponse> {
        let matched: HashSet<i64> = pks.iter().copied().collect();
        let mut sample = Vec::new();
        for pk in pks.iter().take(limits::BULK_SAMPLE_OBJECTS) {
            let mut stored = None;
            self.reader.object_rows(Edition::Current, &[*pk], Columns::All, |_, found| {
                stored = Some(found.into_owned());
                Ok(())
            })?;
            if let Some(stored) = stored {
                sample.push(self.sample(&stored, &matched)?);
            }
        }
        Ok(BulkDryRunResponse { matched: pks.len() as u64, sample })
    }

    fn sample(&self, stored: &StoredObject<'_>, matched: &HashSet<i64>) -> Result<BulkSample> {
        let kind = rights::kind(self.change.action);
        let (before, after, mut errors) = match self.change.action {
            BulkAction::Patch => self.patched(stored)?,
            BulkAction::Transition => {
                let (workflow, state) =
                    (&self.content_type.workflow, &stored.internal.workflow_state);
                let next = transition::next_state(workflow, state, &self.change.transition());
                (Map::new(), Map::new(), next.err().unwrap_or_default())
            }
            BulkAction::Delete => {
                let is_used = self.is_used(stored, matched)?;
                let errors = is_used.then(|| FieldErrors::one("id", message::IN_USE));
                (Map::new(), Map::new(), errors.unwrap_or_default())
            }
            BulkAction::Publish(_) => (Map::new(), Map::new(), FieldErrors::default()),
        };
        if !may_change(self.caller, self.content_type, stored, kind) {
            errors = rights::forbidden();
        }
        let (id, object_title) = (stored.id.to_string(), stored.internal.title.to_string());
        Ok(BulkSample { id, object_title, before, after, errors })
    }

    fn patched(&self, stored: &StoredObject<'_>) -> Result<Difference> {
        let (content_type, budget) = (self.content_type, &mut StepBudget::per_object());
        let patch = self.change.patch(content_type, stored)?;
        let prepared =
            PreparedObject::edit(content_type, Edit::Patch, patch, stored, self.context, budget);
        let mut prepared = match prepared {
            Ok(prepared) => prepared,
            Err(error @ Error::ObjectTooLarge { .. }) => {
                let errors = FieldErrors::one("id", error.to_string());
                return Ok((Map::new(), Map::new(), errors));
            }
            Err(error) => return Err(error),
        };
        prepared.check_against_database(
            self.reader,
            self.catalog,
            content_type,
            Some(stored.pk),
        )?;
        let (before, after) = (write::parse(&stored.data)?, prepared.object()?);
        let changed = prepared.changed_names()?;
        let changed_values = |object: &Map<String, Value>| {
            let value = |name: &String| Some((name.clone(), object.get(name)?.clone()));
            changed.iter().filter_map(value).collect()
        };
        Ok((changed_values(&before), changed_values(&after), prepared.errors))
    }

    /// Returns whether an object that the job does not delete links to this one.
    fn is_used(&self, stored: &StoredObject<'_>, matched: &HashSet<i64>) -> Result<bool> {
        let target = (self.content_type.name(), &*stored.id);
        let enough = matched.len() + 1;
        let sources = self.reader.linking_objects(target, stored.pk, enough)?;
        Ok(sources.iter().any(|source| !matched.contains(source)))
    }
}
