//! Workflows in the API, see docs/reference/workflows.md#definitions

use serde::{Deserialize, Serialize};

/// States of objects, and transitions between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workflow {
    pub id: String,
    pub name: String,
    /// State of a new object.
    pub initial_state: String,
    pub states: Vec<String>,
    pub transitions: Vec<Transition>,
}

/// A transition from one state to another, named `_<from>_<to>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transition {
    pub name: String,
    pub froms: Vec<String>,
    pub tos: Vec<String>,
}

/// The state of an object, and the transitions from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowState {
    pub state: String,
    pub enabled_transitions: Vec<Transition>,
}
