//! Workflows as the API shows them and as an operator defines them (contract 5, 10.1).

use serde::{Deserialize, Serialize};

/// States of content, and ways between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workflow {
    pub id: String,
    pub name: String,
    /// State of a new object.
    pub initial_state: String,
    pub states: Vec<String>,
    pub transitions: Vec<Transition>,
}

/// A way from one state to another, named `_<from>_<to>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transition {
    pub name: String,
    pub froms: Vec<String>,
    pub tos: Vec<String>,
}

/// Where an object stands, and where it can go from there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowState {
    pub state: String,
    pub enabled_transitions: Vec<Transition>,
}
