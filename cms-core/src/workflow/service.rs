//! Lists and defines workflows, reads the state of objects, and applies transitions (see
//! docs/reference/workflows.md).

use std::sync::Arc;

use cms_model::{
    auth::scope::Access,
    content_type::catalog::{Catalog, CompiledType},
    context::{Caller, Stamp},
    error::{Error, FieldErrors, Result},
    limits, message,
    object::{model::StoredObject, view::View},
    publish::right::{ChangeKind, is_public_transition},
    wire::{
        list::List,
        workflow::{Workflow, WorkflowState},
    },
    workflow::{
        model::{self, PUBLIC_STATE, has_public_state, is_built_in},
        transition,
    },
};
use cms_store::{Event, ManagementEvent, WriteTransaction};
use serde_json::{Map, Value};

use crate::{
    cms::service,
    object::{
        service::{find, find_to_change},
        write,
    },
};

service! {
    /// Operations on workflows.
    Workflows, workflows
}

impl Workflows<'_> {
    /// Lists all workflows on one page; every caller may do this.
    pub fn list(&self) -> Result<List<Workflow>> {
        let catalog = self.cms.current_catalog()?;
        Ok(List::single_page(
            catalog.workflows.all().iter().map(|workflow| (**workflow).clone()).collect(),
        ))
    }

    /// Returns one workflow.
    pub fn get(&self, caller: &Caller, id: &str) -> Result<Workflow> {
        caller.require_admin()?;
        let catalog = self.cms.current_catalog()?;
        let found = catalog.workflows.find(id).ok_or_else(|| Error::not_found("workflow", id))?;
        Ok((**found).clone())
    }

    /// Returns the state of an object of type `name`.
    pub fn state(&self, caller: &Caller, name: &str, id: &str) -> Result<WorkflowState> {
        self.cms.objects().read(caller, name, Access::READ, |reader, _, content_type| {
            let stored = find(reader, content_type, View::for_object(caller, content_type), id)?;
            Ok(transition::describe(&content_type.workflow, &stored.internal.workflow_state))
        })
    }

    /// Applies the transition `action` of the payload; returns the new state.
    pub fn run_transition(
        &self,
        caller: &Caller,
        name: &str,
        id: &str,
        payload: Map<String, Value>,
    ) -> Result<WorkflowState> {
        self.cms.objects().content_type(caller, name, Access::UPDATE)?;
        let stamp = caller.stamp(self.cms.now());
        let (caller, id) = (caller.clone(), id.to_owned());
        self.cms.objects().write(name, move |writer, _, content_type| {
            let action = payload.get("action").and_then(Value::as_str).unwrap_or_default();
            let change = if is_public_transition(&content_type.workflow, action) {
                ChangeKind::PublicTransition
            } else {
                ChangeKind::Status
            };
            let stored = find_to_change(writer, content_type, &caller, &id, change)?;
            let next = apply(writer, content_type, &stored, &payload, stamp)?;
            Ok(transition::describe(&content_type.workflow, next))
        })
    }

    /// Defines a workflow under a new id.
    pub fn create(&self, caller: &Caller, payload: Map<String, Value>) -> Result<Workflow> {
        self.define(caller, move |catalog| {
            let wanted = model::parse(&payload).map_err(Error::Invalid)?;
            if catalog.workflows.find(&wanted.id).is_some() {
                return Err(Error::invalid("id", message::ALREADY_USED));
            }
            Ok(wanted)
        })
    }

    /// Replaces the definition of a workflow.
    ///
    /// # Errors
    /// [`Error::Invalid`] also when the definition lacks a state of an existing object.
    pub fn replace(
        &self,
        caller: &Caller,
        id: &str,
        mut payload: Map<String, Value>,
    ) -> Result<Workflow> {
        let id = id.to_owned();
        self.define(caller, move |catalog| {
            require_custom(catalog, &id)?;
            let sent = payload.entry("id").or_insert_with(|| Value::from(id.as_str()));
            if *sent != id {
                return Err(Error::invalid("id", message::ID_MISMATCH));
            }
            model::parse(&payload).map_err(Error::Invalid)
        })
    }

    /// Deletes a workflow that no content type uses.
    pub fn delete(&self, caller: &Caller, id: &str) -> Result<()> {
        caller.require_admin()?;
        let id = id.to_owned();
        let stamp = caller.stamp(self.cms.now());
        self.cms.write_with_catalog(move |writer, catalog| {
            let name = require_custom(catalog, &id)?.name.clone();
            let mut errors = FieldErrors::default();
            for content_type in types_using(catalog, &id) {
                errors.add(
                    "id",
                    format!("This workflow is used by content type: {}", content_type.name()),
                );
            }
            errors.into_result()?;
            writer.bump_content_types()?;
            writer.delete_workflow(&id)?;
            writer.append_management_to_journal(ManagementEvent::WorkflowDeleted, stamp, &id, &name)
        })
    }

    fn define(
        &self,
        caller: &Caller,
        wanted: impl FnOnce(&Catalog) -> Result<Workflow> + Send + 'static,
    ) -> Result<Workflow> {
        caller.require_admin()?;
        let stamp = caller.stamp(self.cms.now());
        self.cms.write_with_catalog(move |writer, catalog| {
            let workflow = wanted(catalog)?;
            put(writer, catalog, &workflow, stamp)?;
            lost_states(writer, catalog, &workflow, |_| true)?.into_result()?;
            Ok(workflow)
        })
    }
}

/// Applies the transition `action` of a payload to an object; returns the new state.
pub(crate) fn apply<'t>(
    writer: &WriteTransaction<'_>,
    content_type: &'t CompiledType,
    stored: &StoredObject<'_>,
    payload: &Map<String, Value>,
    stamp: Stamp,
) -> Result<&'t str> {
    let (ctd, pk, internal) = (content_type.pk, stored.pk, &stored.internal);
    let workflow = &content_type.workflow;
    let next = transition::next_state(workflow, &internal.workflow_state, payload)
        .map_err(Error::Invalid)?;
    let approval = transition::approval(next, internal.version, stamp.at.seconds());
    if let (Some(approved), None) = (internal.workflow_public_version, approval) {
        writer.clear_approval(pk, approved)?;
    }
    writer.set_state(ctd, pk, next, approval, stamp)?;
    let changes_public_view = [&*internal.workflow_state, next].contains(&PUBLIC_STATE);
    let event = Event::ObjectTransitioned;
    let change =
        write::LoggedChange { event, stamp, stored, changed_properties: None, changes_public_view };
    write::log_change(writer, content_type, &change)?;
    Ok(next)
}

/// Stores a workflow and invalidates the cached types that use it.
pub(crate) fn put(
    writer: &WriteTransaction<'_>,
    catalog: &Catalog,
    workflow: &Workflow,
    stamp: Stamp,
) -> Result<()> {
    let before = catalog.workflows.find(&workflow.id);
    let is_new = before.is_none();
    if is_new && catalog.workflows.all().len() >= limits::MAX_WORKFLOWS {
        return Err(Error::Forbidden);
    }
    writer.put_workflow(workflow)?;
    let rev = writer.bump_content_types()?;
    let changes_public_view =
        before.is_some_and(|before| has_public_state(before) != has_public_state(workflow));
    for content_type in types_using(catalog, &workflow.id) {
        writer.touch_ctd(content_type.pk, rev)?;
        if changes_public_view {
            writer.append_type_to_journal(
                Event::TypeUpdated,
                stamp,
                (content_type.pk, content_type.name()),
            )?;
        }
    }
    let event =
        if is_new { ManagementEvent::WorkflowCreated } else { ManagementEvent::WorkflowUpdated };
    writer.append_management_to_journal(event, stamp, &workflow.id, &workflow.name)
}

/// Returns an error for each type that keeps the workflow and has objects in a state that the
/// workflow lacks.
pub(crate) fn lost_states(
    writer: &WriteTransaction<'_>,
    catalog: &Catalog,
    workflow: &Workflow,
    keeps_workflow: impl Fn(i64) -> bool,
) -> Result<FieldErrors> {
    let mut errors = FieldErrors::default();
    for content_type in
        types_using(catalog, &workflow.id).filter(|content_type| keeps_workflow(content_type.pk))
    {
        if let Some(state) = writer.state_outside(content_type.pk, &workflow.states)? {
            let name = content_type.name();
            errors.add("states", format!("State \"{state}\" is used by objects of type: {name}"));
        }
    }
    Ok(errors)
}

fn types_using<'c>(catalog: &'c Catalog, id: &str) -> impl Iterator<Item = &'c Arc<CompiledType>> {
    catalog.types().iter().filter(move |content_type| content_type.definition.workflow_id == id)
}

/// Returns a custom workflow: built-in workflows cannot be changed.
fn require_custom<'c>(catalog: &'c Catalog, id: &str) -> Result<&'c Arc<Workflow>> {
    if is_built_in(id) {
        return Err(Error::Forbidden);
    }
    catalog.workflows.find(id).ok_or_else(|| Error::not_found("workflow", id))
}
