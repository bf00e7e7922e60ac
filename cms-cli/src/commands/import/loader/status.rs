//! Brings objects into the status or the workflow state that an export says.
//!
//! Nothing is published that is not exactly what the file holds: what is stored is compared with it
//! before. An object that was refused, or that somebody edits meanwhile, keeps the status that it
//! has.

use std::collections::{HashMap, HashSet, VecDeque};

use cms_core::{
    Error, FieldErrors,
    wire::{content_type::ContentType, publish::PublishAction, workflow::Workflow},
};
use serde_json::Value;

use super::{
    super::{
        super::many::{self, reason},
        Job,
        counts::Counted,
        element::{Element, address, difference, is_unchanged},
    },
    BATCH, Loader,
};
use crate::{
    content::Row,
    failure::Result,
    printer::{Printer, Progress},
    project::DEFAULT_WORKFLOW,
    target::Edition,
};

/// An object whose status is to be set.
struct Wanted {
    element: Element,
    /// The object as it is stored.
    stored: Value,
}

impl Wanted {
    fn internal(&self, member: &str) -> &str {
        self.element.value["internal"][member].as_str().unwrap_or_default()
    }

    fn stored_internal(&self, member: &str) -> &str {
        self.stored["internal"][member].as_str().unwrap_or_default()
    }

    fn id(&self) -> &str {
        self.stored["id"].as_str().unwrap_or_default()
    }

    /// The version to be published of an object that was edited since.
    fn published(&self) -> &Value {
        match self.element.published() {
            Some(Ok(published)) => published,
            _ => &Value::Null,
        }
    }

    fn current(&self) -> &Value {
        &self.element.value
    }
}

impl Loader<'_> {
    /// Remembers an object that is as the file says, if the type has statuses to be set.
    pub(super) fn settle(
        &mut self,
        content_type: &ContentType,
        element: &Element,
        counted: Counted,
    ) {
        let has_statuses =
            content_type.draft_public || content_type.workflow_id != DEFAULT_WORKFLOW;
        if let Some(id) = element.id()
            && self.options.from_folder
            && has_statuses
            && !element.is_deleted
        {
            self.settled.insert(address(&content_type.name, id), counted);
        }
    }

    /// Whether the published version of an object can be restored: that has to come first.
    pub(super) fn restores_published(&self, content_type: &ContentType, element: &Element) -> bool {
        self.options.from_folder
            && content_type.draft_public
            && matches!(element.published(), Some(Ok(_)))
    }

    /// Sets the statuses of all settled objects. The files are read once more.
    pub(super) fn set_statuses(&mut self, jobs: &[Job], printer: &mut Printer) -> Result<()> {
        if self.settled.is_empty() || self.options.dry_run {
            return Ok(());
        }
        let workflows = self.target.workflows()?;
        let mut progress = printer.progress("statuses", self.settled.len() as u64);
        for job in jobs {
            let mut chunk = Vec::new();
            for source in &job.sources {
                source.rows(&job.content_type, &mut |row: Row<Value>| {
                    let Ok(value) = row.value else { return Ok(()) };
                    let element = self.element(row.place, value);
                    let at = address(&job.content_type.name, element.id().unwrap_or_default());
                    let is_settled = !element.is_deleted && self.settled.contains_key(&at);
                    if is_settled && element.value["internal"].is_object() {
                        chunk.push(element);
                    }
                    if chunk.len() == BATCH {
                        let chunk = std::mem::take(&mut chunk);
                        self.status_chunk(job, chunk, &workflows, &mut progress, printer)?;
                    }
                    Ok(())
                })?;
            }
            self.status_chunk(job, chunk, &workflows, &mut progress, printer)?;
        }
        Ok(())
    }

    fn status_chunk(
        &mut self,
        job: &Job,
        elements: Vec<Element>,
        workflows: &[Workflow],
        progress: &mut Progress,
        printer: &mut Printer,
    ) -> Result<()> {
        if elements.is_empty() || self.stops() {
            return Ok(());
        }
        progress.advance(elements.len() as u64);
        let content_type = &job.content_type;
        let ids = elements.iter().filter_map(Element::id);
        let mut stored = many::stored(self.target, &content_type.name, ids, Edition::Current)?;
        let wanted = elements.into_iter().filter_map(|element| {
            let stored = stored.remove(&element.id()?.to_lowercase())?;
            let wanted = Wanted { element, stored };
            let is_same = [wanted.current(), wanted.published()]
                .iter()
                .any(|version| is_unchanged(version, &wanted.stored, content_type));
            is_same.then_some(wanted)
        });
        let wanted: Vec<Wanted> = wanted.collect();
        if content_type.draft_public {
            self.publish(job, &wanted, printer)
        } else {
            let workflow = workflows.iter().find(|w| w.id == content_type.workflow_id);
            match workflow {
                Some(workflow) => self.walk(job, workflow, &wanted, printer),
                None => Ok(()),
            }
        }
    }

    fn publish(&mut self, job: &Job, wanted: &[Wanted], printer: &mut Printer) -> Result<()> {
        let actions = [
            ("public", PublishAction::Publish),
            ("draft", PublishAction::Unpublish),
            ("archived", PublishAction::Archive),
        ];
        for (status, action) in actions {
            let others = wanted.iter().filter(|wanted| {
                wanted.internal("status") == status && wanted.stored_internal("status") != status
            });
            let mut ids = Vec::new();
            for wanted in others {
                let difference = match action {
                    PublishAction::Publish => {
                        difference(wanted.current(), &wanted.stored, &job.content_type)
                    }
                    PublishAction::Unpublish | PublishAction::Archive => None,
                };
                match difference {
                    None => ids.push(wanted.id().to_owned()),
                    Some(reason) => {
                        self.refuse_status(job, wanted, "internal.status", reason, printer)?;
                    }
                }
            }
            self.act(job, &ids, action)?;
            self.counts.statuses += ids.len() as u64;
        }
        let mut modified = Vec::new();
        for wanted in wanted {
            match wanted.element.published() {
                None => {}
                Some(Ok(_)) => modified.push(wanted),
                Some(Err(reason)) => {
                    self.refuse_status(job, wanted, "internal.published", reason, printer)?;
                }
            }
        }
        self.modify(job, modified, printer)
    }

    /// Publishes the published version and then saves the current one. It is the only way to a
    /// modified object.
    fn modify(&mut self, job: &Job, mut wanted: Vec<&Wanted>, printer: &mut Printer) -> Result<()> {
        let content_type = &job.content_type;
        let is_published = |wanted: &Wanted, versions: &HashMap<String, Value>| {
            let version = versions.get(&wanted.id().to_lowercase());
            version.is_some_and(|v| difference(wanted.published(), v, content_type).is_none())
        };
        let ids = wanted.iter().map(|wanted| wanted.id());
        let public = many::stored(self.target, &content_type.name, ids, Edition::Published)?;
        wanted.retain(|wanted| {
            !(wanted.stored_internal("status") == "modified"
                && is_unchanged(wanted.current(), &wanted.stored, content_type)
                && is_published(wanted, &public))
        });
        let (mut ready, rest): (Vec<_>, Vec<_>) =
            wanted.into_iter().partition(|wanted| is_published(wanted, &public));
        let (mut first, rest): (Vec<_>, Vec<_>) = rest.into_iter().partition(|wanted| {
            difference(wanted.published(), &wanted.stored, content_type).is_none()
        });

        // What is edited already has to become what readers are to see.
        let saved = self.save(job, rest, Wanted::published, printer)?;
        let ids = saved.iter().map(|wanted| wanted.id());
        let stored = many::stored(self.target, &content_type.name, ids, Edition::Current)?;
        let mut spoilt: Vec<&Value> = Vec::new();
        for wanted in saved {
            let version = stored.get(&wanted.id().to_lowercase()).unwrap_or(&Value::Null);
            match difference(wanted.published(), version, content_type) {
                None => first.push(wanted),
                Some(reason) => {
                    self.refuse_status(job, wanted, "internal.published", reason, printer)?;
                    spoilt.push(wanted.current());
                }
            }
        }
        // They are refused, whether or not they can be brought back.
        self.send(job, &spoilt, true)?;

        let ids: Vec<String> = first.iter().map(|wanted| wanted.id().to_owned()).collect();
        self.act(job, &ids, PublishAction::Publish)?;
        ready.append(&mut first);
        let modified = self.save(job, ready, Wanted::current, printer)?;
        self.counts.statuses += modified.len() as u64;
        Ok(())
    }

    /// Saves a version of each object; returns those that were not refused.
    fn save<'w>(
        &mut self,
        job: &Job,
        wanted: Vec<&'w Wanted>,
        version: fn(&Wanted) -> &Value,
        printer: &mut Printer,
    ) -> Result<Vec<&'w Wanted>> {
        let values: Vec<&Value> = wanted.iter().map(|wanted| version(wanted)).collect();
        let mut refused = self.send(job, &values, true)?;
        let mut saved = Vec::new();
        for (number, wanted) in wanted.into_iter().enumerate() {
            match refused.remove(&number) {
                None => saved.push(wanted),
                Some(errors) => self.refuse_settled(job, wanted, &errors, printer)?,
            }
        }
        Ok(saved)
    }

    fn refuse_status(
        &mut self,
        job: &Job,
        wanted: &Wanted,
        path: &str,
        reason: String,
        printer: &mut Printer,
    ) -> Result<()> {
        self.refuse_settled(job, wanted, &FieldErrors::one(path, reason), printer)
    }

    /// Refuses an object that counted as something else so far.
    fn refuse_settled(
        &mut self,
        job: &Job,
        wanted: &Wanted,
        errors: &FieldErrors,
        printer: &mut Printer,
    ) -> Result<()> {
        if let Some(counted) = self.settled.remove(&address(&job.content_type.name, wanted.id())) {
            self.counts.take_back(counted);
        }
        self.refuse(job, &wanted.element, errors, printer)
    }

    fn act(&self, job: &Job, ids: &[String], action: PublishAction) -> Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        Ok(self.target.act_on_many(&job.content_type.name, ids, action)?)
    }

    /// Moves objects along the shortest way through the workflow.
    fn walk(
        &mut self,
        job: &Job,
        workflow: &Workflow,
        wanted: &[Wanted],
        printer: &mut Printer,
    ) -> Result<()> {
        for wanted in wanted {
            let (from, to) =
                (wanted.stored_internal("workflowState"), wanted.internal("workflowState"));
            if to.is_empty() || from == to {
                continue;
            }
            let refusal = match way(workflow, from, to) {
                None => Some(format!("there is no way from state \"{from}\" to \"{to}\"")),
                Some(actions) => self.follow(job, wanted.id(), &actions)?,
            };
            match refusal {
                None => self.counts.statuses += 1,
                Some(message) => {
                    self.refuse_status(job, wanted, "internal.workflowState", message, printer)?;
                }
            }
        }
        Ok(())
    }

    /// Carries out transitions; returns why one of them was refused.
    fn follow(&self, job: &Job, id: &str, actions: &[&str]) -> Result<Option<String>> {
        for action in actions {
            match self.target.run_transition(&job.content_type.name, id, action) {
                Ok(_) => {}
                Err(error @ (Error::Invalid(_) | Error::NotFound { .. })) => {
                    return Ok(Some(reason(&error)));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }
}

/// Names of the transitions that lead from one state to another, as few as possible.
fn way<'w>(workflow: &'w Workflow, from: &'w str, to: &str) -> Option<Vec<&'w str>> {
    let mut reached_by: HashMap<&str, (&str, &str)> = HashMap::new();
    let mut known: HashSet<&str> = HashSet::from([from]);
    let mut next = VecDeque::from([from]);
    while let Some(state) = next.pop_front() {
        if state == to {
            let mut actions = Vec::new();
            let mut at = state;
            while let Some((before, action)) = reached_by.get(at) {
                actions.push(*action);
                at = before;
            }
            actions.reverse();
            return Some(actions);
        }
        let ways = workflow.transitions.iter().filter(|way| way.froms.iter().any(|f| f == state));
        for way in ways {
            for target in &way.tos {
                if known.insert(target) {
                    reached_by.insert(target, (state, &way.name));
                    next.push_back(target);
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use cms_core::wire::workflow::Transition;

    use super::*;

    #[test]
    fn ways_through_a_workflow_are_the_shortest_and_end() {
        let steps = [("a", "a"), ("a", "b"), ("b", "a"), ("b", "c"), ("a", "d"), ("d", "c")];
        let transitions = steps.map(|(from, to)| Transition {
            name: format!("_{from}_{to}"),
            froms: vec![from.to_owned()],
            tos: vec![to.to_owned()],
        });
        let workflow = Workflow {
            id: "w".to_owned(),
            name: "w".to_owned(),
            initial_state: "a".to_owned(),
            states: ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec(),
            transitions: transitions.to_vec(),
        };
        let table: [(&str, &str, Option<&[&str]>); 5] = [
            ("a", "a", Some(&[])),
            ("a", "b", Some(&["_a_b"])),
            ("a", "c", Some(&["_a_b", "_b_c"])),
            ("c", "a", None),
            ("a", "e", None),
        ];
        for (from, to, wanted) in table {
            assert_eq!(way(&workflow, from, to).as_deref(), wanted, "{from} to {to}");
        }
    }
}
