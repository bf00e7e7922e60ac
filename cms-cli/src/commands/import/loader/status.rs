//! Brings objects into the status or the workflow state that an export says.
//!
//! Nothing is published that is not exactly what the file holds: an object that was refused, or that
//! somebody edits meanwhile, keeps the status that it has.

use std::collections::{HashMap, HashSet, VecDeque};

use cms_core::{
    Error, FieldErrors,
    wire::{ctd::ContentType, publish::PublishAction, workflow::Workflow},
};
use serde_json::Value;

use super::{
    super::{
        super::many::{self, reason},
        Job,
        element::{Element, address, is_unchanged},
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

    /// The published version of an object that was edited since.
    fn published(&self) -> &Value {
        &self.element.value["internal"]["published"]
    }
}

impl Loader<'_> {
    /// Remembers an object that is as the file says, if the type has statuses to be set.
    pub(super) fn settle(&mut self, content_type: &ContentType, element: &Element) {
        let has_statuses =
            content_type.draft_public || content_type.workflow_id != DEFAULT_WORKFLOW;
        if let Some(id) = element.id()
            && self.options.statuses
            && has_statuses
        {
            self.settled.insert(address(&content_type.name, id));
        }
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
                    let element = Element { place: row.place, value };
                    let at = address(&job.content_type.name, element.id().unwrap_or_default());
                    if self.settled.contains(&at) && element.value["internal"].is_object() {
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
            let is_same = is_unchanged(&element.value, &stored, content_type);
            is_same.then_some(Wanted { element, stored })
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
            let ids: Vec<String> = others.map(|wanted| wanted.id().to_owned()).collect();
            self.act(job, &ids, action)?;
            self.counts.statuses += ids.len() as u64;
        }
        let modified: Vec<&Wanted> =
            wanted.iter().filter(|wanted| wanted.internal("status") == "modified").collect();
        let (modified, incomplete): (Vec<_>, Vec<_>) =
            modified.into_iter().partition(|wanted| wanted.published().is_object());
        for wanted in incomplete {
            let errors = FieldErrors::one("internal.published", "the published version is missing");
            self.refuse(job, &wanted.element, &errors, printer)?;
        }
        self.modify(job, modified, printer)
    }

    /// Publishes the published version and then brings the current one back. It is the only way to
    /// a modified object.
    fn modify(&mut self, job: &Job, mut wanted: Vec<&Wanted>, printer: &mut Printer) -> Result<()> {
        let content_type = &job.content_type;
        let ids = wanted.iter().map(|wanted| wanted.id());
        let public = many::stored(self.target, &content_type.name, ids, Edition::Published)?;
        wanted.retain(|wanted| {
            let public = public.get(&wanted.id().to_lowercase());
            let is_so = wanted.stored_internal("status") == "modified"
                && public.is_some_and(|p| is_unchanged(wanted.published(), p, content_type));
            !is_so
        });
        let published: Vec<&Value> = wanted.iter().map(|wanted| wanted.published()).collect();
        let refused = self.send(job, &published, true)?;
        for (number, errors) in &refused {
            self.refuse(job, &wanted[*number].element, errors, printer)?;
        }
        let mut number = 0;
        wanted.retain(|_| {
            number += 1;
            !refused.contains_key(&(number - 1))
        });
        let ids: Vec<String> = wanted.iter().map(|wanted| wanted.id().to_owned()).collect();
        self.act(job, &ids, PublishAction::Publish)?;
        let current: Vec<&Value> = wanted.iter().map(|wanted| &wanted.element.value).collect();
        let refused = self.send(job, &current, true)?;
        for (number, errors) in &refused {
            self.refuse(job, &wanted[*number].element, errors, printer)?;
        }
        self.counts.statuses += (wanted.len() - refused.len()) as u64;
        Ok(())
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
                    let errors = FieldErrors::one("internal.workflowState", message);
                    self.refuse(job, &wanted.element, &errors, printer)?;
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
