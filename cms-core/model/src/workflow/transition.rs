//! Transitions of an object: which are enabled in a state, and approval by the state `public`.

use serde_json::{Map, Value};

use super::model::PUBLIC_STATE;
use crate::{
    error::FieldErrors,
    read::required,
    wire::workflow::{Transition, Workflow, WorkflowState},
};

/// Returns a state with its enabled transitions, see docs/reference/workflows.md#state-of-an-object
pub fn describe(workflow: &Workflow, state: &str) -> WorkflowState {
    let enabled = workflow.transitions.iter().filter(|transition| leaves(transition, state));
    WorkflowState { state: state.to_owned(), enabled_transitions: enabled.cloned().collect() }
}

/// Returns the state after the transition in a request.
pub fn next_state<'w>(
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
            let message = format!("Transition \"{action}\" is not enabled in state \"{state}\"");
            FieldErrors::one("action", message)
        })
}

fn leaves(transition: &Transition, state: &str) -> bool {
    transition.froms.iter().any(|from| from == state)
}

/// Version and time of the approved version, for an object in `state` after a change at `at`.
/// Editing an approved object approves the new version, see
/// docs/reference/workflows.md#approved-content
pub fn approval(state: &str, version: i64, at: i64) -> Option<(i64, i64)> {
    (state == PUBLIC_STATE).then_some((version, at))
}
