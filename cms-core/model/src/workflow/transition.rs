//! Steps of a workflow: what is enabled in a state, and what entering and leaving `public` does.

use serde_json::{Map, Value};

use super::model::PUBLIC;
use crate::{
    error::FieldErrors,
    read::required,
    wire::workflow::{Transition, Workflow, WorkflowState},
};

/// Describes a state with the ways out of it, in the order of the definition (contract 5.2).
pub fn describe(workflow: &Workflow, state: &str) -> WorkflowState {
    let enabled = workflow.transitions.iter().filter(|transition| leaves(transition, state));
    WorkflowState { state: state.to_owned(), enabled_transitions: enabled.cloned().collect() }
}

/// Returns the state that the action of a request leads to.
pub fn step<'w>(
    workflow: &'w Workflow,
    state: &str,
    payload: &Map<String, Value>,
) -> Result<&'w str, FieldErrors> {
    let mut errors = FieldErrors::default();
    let Some(action) = required::<&str>(payload, "action", "", &mut errors) else {
        return Err(errors);
    };
    let mut known = workflow.transitions.iter().filter(|transition| transition.name == action);
    known
        .find(|transition| leaves(transition, state))
        .and_then(|transition| transition.tos.first())
        .map(String::as_str)
        .ok_or_else(|| {
            let refusal = format!("Transition \"{action}\" is not enabled in state \"{state}\"");
            FieldErrors::one("action", refusal)
        })
}

fn leaves(transition: &Transition, state: &str) -> bool {
    transition.froms.iter().any(|from| from == state)
}

/// Version and time of the latest approved version, for an object that is in `state` after a
/// change at `at` (contract 5.3). Editing approved content approves the new version.
pub fn approval(state: &str, version: i64, at: i64) -> Option<(i64, i64)> {
    (state == PUBLIC).then_some((version, at))
}
