//! Restoring statuses and workflow states.
//!
//! Only an object that is stored exactly as the file contains it is published. An object that was
//! refused, or edited meanwhile, keeps its status.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::Value;

use super::{
    Importer,
    compare::{difference, is_unchanged},
    fetch::fetch,
    importer::{BATCH_SIZE, ImportOutcome},
    object::{ImportObject, MODIFIED, address},
};
use cms_model::{
    error::{Error, FieldErrors, Result},
    object::model::Edition,
    wire::{content_type::ContentType, publish::PublishAction, workflow::Workflow},
    workflow::model::{DEFAULT_WORKFLOW, PUBLIC_STATE},
};

/// An object of a file whose status is to be set, with the stored object.
struct PendingStatus {
    object: ImportObject,
    stored: Value,
}

impl PendingStatus {
    fn stored_internal(&self, member: &str) -> &str {
        self.stored["internal"][member].as_str().unwrap_or_default()
    }

    fn id(&self) -> &str {
        self.stored["id"].as_str().unwrap_or_default()
    }

    fn current(&self) -> &Value {
        &self.object.value
    }

    /// The version to publish of a modified object.
    fn published(&self) -> &Value {
        match self.object.published() {
            Some(Ok(published)) => published,
            _ => &Value::Null,
        }
    }
}

impl Importer<'_> {
    /// Number of objects whose status may have to be set.
    pub fn pending_statuses(&self) -> u64 {
        if self.options.dry_run { 0 } else { self.stored.len() as u64 }
    }

    /// Sets the status of an object that [`Importer::push`] has stored. Returns whether it was pending.
    pub fn push_status(
        &mut self,
        content_type: &ContentType,
        location: String,
        value: Value,
    ) -> Result<bool> {
        // An object with errors was refused before.
        let (object, _) = self.object(content_type, location, value);
        let at = address(&content_type.name, object.id().unwrap_or_default());
        let is_pending = !object.is_deleted
            && self.stored.contains_key(&at)
            && object.value["internal"].is_object();
        if is_pending {
            self.status_chunk.push(object);
        }
        if self.status_chunk.len() == BATCH_SIZE {
            self.end_statuses(content_type)?;
        }
        Ok(is_pending)
    }

    /// Sets the remaining statuses of a type.
    pub fn end_statuses(&mut self, content_type: &ContentType) -> Result<()> {
        let objects = std::mem::take(&mut self.status_chunk);
        if objects.is_empty() || self.is_stopped() {
            return Ok(());
        }
        let ids: Vec<&str> = objects.iter().filter_map(ImportObject::id).collect();
        let mut stored = fetch(self.target, &content_type.name, &ids, Edition::Current)?;
        let changes = objects.into_iter().filter_map(|object| {
            let stored = stored.remove(&object.id()?.to_lowercase())?;
            let change = PendingStatus { object, stored };
            let is_same = [change.current(), change.published()]
                .iter()
                .any(|version| is_unchanged(version, &change.stored, content_type));
            is_same.then_some(change)
        });
        let changes: Vec<PendingStatus> = changes.collect();
        if content_type.draft_public {
            return self.set_statuses(content_type, &changes);
        }
        match self.workflow(&content_type.workflow_id)? {
            Some(workflow) => self.set_states(content_type, &workflow, &changes),
            None => Ok(()),
        }
    }

    fn workflow(&mut self, id: &str) -> Result<Option<Workflow>> {
        if self.workflows.is_none() {
            self.workflows = Some(self.target.workflows()?);
        }
        Ok(self.workflows.iter().flatten().find(|workflow| workflow.id == id).cloned())
    }

    /// If the file has a stored object in another state than `public`, moves the object out of the state `public` before
    /// its content is replaced: an edit in `public` would approve the new content. Returns why that is refused.
    pub(super) fn leave_public_state(
        &mut self,
        content_type: &ContentType,
        object: &ImportObject,
        stored: &Value,
    ) -> Result<Option<String>> {
        let from = stored["internal"]["workflowState"].as_str().unwrap_or_default();
        let to = object.internal("workflowState");
        let stays = from != PUBLIC_STATE || to == from || to.is_empty();
        if stays || !self.options.from_export || self.options.dry_run {
            return Ok(None);
        }
        let Some(workflow) = self.workflow(&content_type.workflow_id)? else { return Ok(None) };
        self.set_state(content_type, &workflow, object.id().unwrap_or_default(), (from, to))
    }

    /// Records an object that is stored as the file contains it, if the type has statuses to set.
    pub(super) fn mark_stored(
        &mut self,
        content_type: &ContentType,
        object: &ImportObject,
        outcome: ImportOutcome,
    ) {
        let has_statuses =
            content_type.draft_public || content_type.workflow_id != DEFAULT_WORKFLOW;
        if let Some(id) = object.id()
            && self.options.from_export
            && has_statuses
            && !object.is_deleted
        {
            self.stored.insert(address(&content_type.name, id), outcome);
        }
    }

    /// Returns whether an object is created from its published version.
    pub(super) fn restores_published(
        &self,
        content_type: &ContentType,
        object: &ImportObject,
    ) -> bool {
        self.options.from_export
            && content_type.draft_public
            && matches!(object.published(), Some(Ok(_)))
    }

    fn set_statuses(
        &mut self,
        content_type: &ContentType,
        changes: &[PendingStatus],
    ) -> Result<()> {
        let actions = [
            ("public", PublishAction::Publish),
            ("draft", PublishAction::Unpublish),
            ("archived", PublishAction::Archive),
        ];
        for (status, action) in actions {
            let changes = changes.iter().filter(|change| {
                change.object.internal("status") == status
                    && change.stored_internal("status") != status
            });
            let mut ids = Vec::new();
            for change in changes {
                let difference = match action {
                    PublishAction::Publish => {
                        difference(change.current(), &change.stored, content_type)
                    }
                    PublishAction::Unpublish | PublishAction::Archive => None,
                };
                match difference {
                    None => ids.push(change.id().to_owned()),
                    Some(reason) => {
                        self.refuse_status(content_type, change, "internal.status", reason);
                    }
                }
            }
            if !ids.is_empty() {
                self.target.set_statuses(&content_type.name, &ids, action)?;
            }
            self.counts.statuses += ids.len() as u64;
        }
        let mut modified = Vec::new();
        for change in changes {
            match change.object.published() {
                None => {}
                Some(Ok(_)) => modified.push(change),
                Some(Err(reason)) => {
                    self.refuse_status(content_type, change, "internal.published", reason);
                }
            }
        }
        self.reproduce_modified(content_type, modified)
    }

    /// Gives objects the status `modified`: publishes their published version, then saves their current one. There is no
    /// other way to this status. Objects that have both versions already are left as they are.
    fn reproduce_modified(
        &mut self,
        content_type: &ContentType,
        mut changes: Vec<&PendingStatus>,
    ) -> Result<()> {
        let is_published = |change: &PendingStatus, versions: &HashMap<String, Value>| {
            let version = versions.get(&change.id().to_lowercase());
            version.is_some_and(|v| difference(change.published(), v, content_type).is_none())
        };
        let ids: Vec<&str> = changes.iter().map(|change| change.id()).collect();
        let published = fetch(self.target, &content_type.name, &ids, Edition::Published)?;
        changes.retain(|change| {
            !(change.stored_internal("status") == MODIFIED
                && is_unchanged(change.current(), &change.stored, content_type)
                && is_published(change, &published))
        });
        let (mut already_published, not_published): (Vec<_>, Vec<_>) =
            changes.into_iter().partition(|change| is_published(change, &published));
        let (mut to_publish, to_save): (Vec<_>, Vec<_>) =
            not_published.into_iter().partition(|change| {
                difference(change.published(), &change.stored, content_type).is_none()
            });

        // An object that already holds the current version is first set back to the published one.
        let saved = self.save_versions(content_type, to_save, PendingStatus::published)?;
        let ids: Vec<&str> = saved.iter().map(|change| change.id()).collect();
        let stored = fetch(self.target, &content_type.name, &ids, Edition::Current)?;
        let mut to_revert: Vec<&Value> = Vec::new();
        for change in saved {
            let version = stored.get(&change.id().to_lowercase()).unwrap_or(&Value::Null);
            match difference(change.published(), version, content_type) {
                None => to_publish.push(change),
                Some(reason) => {
                    self.refuse_status(content_type, change, "internal.published", reason);
                    to_revert.push(change.current());
                }
            }
        }
        // These objects are refused, whether or not their current version can be saved again.
        self.save(&content_type.name, &to_revert, true, None)?;

        let ids: Vec<String> = to_publish.iter().map(|change| change.id().to_owned()).collect();
        if !ids.is_empty() {
            self.target.set_statuses(&content_type.name, &ids, PublishAction::Publish)?;
        }
        already_published.append(&mut to_publish);
        let modified =
            self.save_versions(content_type, already_published, PendingStatus::current)?;
        self.counts.statuses += modified.len() as u64;
        Ok(())
    }

    /// Saves a version of each object; returns those that were not refused.
    fn save_versions<'c>(
        &mut self,
        content_type: &ContentType,
        changes: Vec<&'c PendingStatus>,
        version: fn(&PendingStatus) -> &Value,
    ) -> Result<Vec<&'c PendingStatus>> {
        let values: Vec<&Value> = changes.iter().map(|change| version(change)).collect();
        let mut refused = self.save(&content_type.name, &values, true, None)?;
        let mut saved = Vec::new();
        for (number, change) in changes.into_iter().enumerate() {
            match refused.remove(&number) {
                None => saved.push(change),
                Some(errors) => self.refuse_stored(content_type, change, errors),
            }
        }
        Ok(saved)
    }

    fn refuse_status(
        &mut self,
        content_type: &ContentType,
        change: &PendingStatus,
        path: &str,
        reason: String,
    ) {
        self.refuse_stored(content_type, change, FieldErrors::one(path, reason));
    }

    /// Refuses an object that has been counted with another outcome.
    fn refuse_stored(
        &mut self,
        content_type: &ContentType,
        change: &PendingStatus,
        errors: FieldErrors,
    ) {
        if let Some(outcome) = self.stored.remove(&address(&content_type.name, change.id())) {
            self.counts.remove(outcome);
        }
        self.refuse(&content_type.name, change.object.clone(), errors);
    }

    /// Moves objects through the workflow by the fewest transitions.
    fn set_states(
        &mut self,
        content_type: &ContentType,
        workflow: &Workflow,
        changes: &[PendingStatus],
    ) -> Result<()> {
        for change in changes {
            let from = change.stored_internal("workflowState");
            let to = change.object.internal("workflowState");
            if to.is_empty() || from == to {
                continue;
            }
            let refusal = self.set_state(content_type, workflow, change.id(), (from, to))?;
            if let Some(reason) = refusal {
                self.refuse_status(content_type, change, "internal.workflowState", reason);
            }
        }
        Ok(())
    }

    /// Moves an object to another state; returns why that is refused.
    fn set_state(
        &mut self,
        content_type: &ContentType,
        workflow: &Workflow,
        id: &str,
        (from, to): (&str, &str),
    ) -> Result<Option<String>> {
        let Some(transitions) = shortest_path(workflow, from, to) else {
            return Ok(Some(format!("there is no transition path from \"{from}\" to \"{to}\"")));
        };
        for transition in transitions {
            match self.target.run_transition(&content_type.name, id, transition) {
                Ok(_) => {}
                Err(error @ (Error::Invalid(_) | Error::NotFound { .. })) => {
                    return Ok(Some(error.reason()));
                }
                Err(error) => return Err(error),
            }
        }
        self.counts.statuses += 1;
        Ok(None)
    }
}

/// Names of the transitions that lead from one state to another, as few as possible.
pub(super) fn shortest_path<'w>(
    workflow: &'w Workflow,
    from: &'w str,
    to: &str,
) -> Option<Vec<&'w str>> {
    let mut reached_by: HashMap<&str, (&str, &str)> = HashMap::new();
    let mut visited: HashSet<&str> = HashSet::from([from]);
    let mut next = VecDeque::from([from]);
    while let Some(state) = next.pop_front() {
        if state == to {
            let mut names = Vec::new();
            let mut at = state;
            while let Some((before, name)) = reached_by.get(at) {
                names.push(*name);
                at = before;
            }
            names.reverse();
            return Some(names);
        }
        let leaving = workflow.transitions.iter().filter(|t| t.froms.iter().any(|f| f == state));
        for transition in leaving {
            for target in &transition.tos {
                if visited.insert(target) {
                    reached_by.insert(target, (state, &transition.name));
                    next.push_back(target);
                }
            }
        }
    }
    None
}
