//! Lines of a plan about types whose Draft & Public setting or workflow changes, with the number of
//! objects that get another status or state.

use std::collections::BTreeMap;

use cms_core::wire::{
    content_type::ContentType,
    plan::{PlanAction, PlanRequest, ProjectPlan},
    workflow::Workflow,
};
use serde_json::{Map, Value, json};

use super::{count_objects, counted, plan_text::payload};
use crate::{failure::Result, target::Target};

/// Lines by content type.
#[derive(Default)]
pub(super) struct PublishingChanges(BTreeMap<String, Vec<String>>);

impl PublishingChanges {
    /// Finds the types whose publishing changes, and counts the affected objects.
    pub(super) fn find(
        target: &dyn Target,
        wanted: &PlanRequest,
        plan: &ProjectPlan,
    ) -> Result<Self> {
        let mut changes = Self::default();
        let updates = plan.content_types.iter().filter(|t| t.action == PlanAction::Update);
        for planned in updates.filter(|planned| planned.blockers.is_empty()) {
            let Some(payload) = payload(wanted, &planned.name) else { continue };
            let present = target.get_type(&planned.name)?;
            let lines = lines(target, wanted, &present, payload)?;
            if !lines.is_empty() {
                changes.0.insert(planned.name.clone(), lines);
            }
        }
        Ok(changes)
    }

    /// The lines of a type.
    pub(super) fn of(&self, content_type: &str) -> &[String] {
        self.0.get(content_type).map_or(&[], Vec::as_slice)
    }
}

fn lines(
    target: &dyn Target,
    wanted: &PlanRequest,
    present: &ContentType,
    payload: &Map<String, Value>,
) -> Result<Vec<String>> {
    // Counts the objects whose `internal.<member>` has none of the values.
    let count = |member: &str, values: &[&str]| {
        let path = format!("internal.{member}");
        let filters = json!({ path: { "type": "notEqual", "filter": values } });
        count_objects(target, &present.name, Some(filters.to_string()))
    };
    let mut lines = Vec::new();
    match payload.get("draftPublic").and_then(Value::as_bool) {
        Some(true) if !present.draft_public => {
            let all = count("status", &[])?;
            lines.push(line("Draft & Public enabled", all, "stay public"));
        }
        Some(false) if present.draft_public => {
            let not_public = count("status", &["public"])?;
            lines.push(line(
                "Draft & Public disabled",
                not_public,
                "become public in the current version",
            ));
        }
        _ => {}
    }
    let id = payload.get("workflowId").and_then(Value::as_str);
    if let Some(id) = id.filter(|id| *id != present.workflow_id) {
        let what = format!("workflow {} -> {id}", present.workflow_id);
        lines.push(match find(target, wanted, id)? {
            Some(after) => {
                let states: Vec<&str> = after.states.iter().map(String::as_str).collect();
                let effect = format!("move to state {}", after.initial_state);
                line(&what, count("workflowState", &states)?, &effect)
            }
            None => what,
        });
    }
    Ok(lines)
}

/// Formats a change and its effect on objects.
fn line(what: &str, objects: u64, effect: &str) -> String {
    match objects {
        0 => what.to_owned(),
        _ => format!("{what}, {} {effect}", counted(objects, "object")),
    }
}

/// The workflow with this id after an apply of the plan.
fn find(target: &dyn Target, wanted: &PlanRequest, id: &str) -> Result<Option<Workflow>> {
    let mut defined = wanted.workflows.iter();
    let defined = defined.find(|workflow| workflow.get("id") == Some(&json!(id)));
    if let Some(defined) = defined {
        return Ok(serde_json::from_value(Value::Object(defined.clone())).ok());
    }
    Ok(target.workflows()?.into_iter().find(|workflow| workflow.id == id))
}
