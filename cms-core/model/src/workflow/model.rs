//! The built-in workflows, and the parser of custom ones.

use std::{collections::HashSet, sync::Arc};

use serde_json::{Map, Value};

use crate::{
    error::FieldErrors,
    limits, message,
    read::{join, optional, read, required},
    wire::workflow::{Transition, Workflow},
};

/// Workflow of types without `workflowId`.
pub const DEFAULT_WORKFLOW: &str = "generic";

/// The state of approved objects, see docs/reference/workflows.md#approved-content
pub const PUBLIC_STATE: &str = "public";

/// All workflows, in the order in which they are listed.
#[derive(Clone, Debug)]
pub struct WorkflowSet(Vec<Arc<Workflow>>);

impl WorkflowSet {
    /// The built-in workflows.
    pub fn built_in() -> Self {
        let publishing = [
            ("draft", "draft"),
            ("draft", "review"),
            ("review", "draft"),
            ("review", PUBLIC_STATE),
            (PUBLIC_STATE, "archive"),
        ];
        let publishing = workflow(
            "publishing",
            &["draft", "review", PUBLIC_STATE, "archive"],
            publishing.map(|(from, to)| transition(from, to)).to_vec(),
        );
        Self(vec![
            Arc::new(workflow(DEFAULT_WORKFLOW, &["saved"], Vec::new())),
            Arc::new(publishing),
        ])
    }

    /// The built-in workflows, then custom ones.
    pub fn with_custom(defined: Vec<Workflow>) -> Self {
        let mut all = Self::built_in();
        all.0.extend(defined.into_iter().map(Arc::new));
        all
    }

    pub fn all(&self) -> &[Arc<Workflow>] {
        &self.0
    }

    /// The workflow of types without `workflowId`.
    pub fn default_workflow(&self) -> &Arc<Workflow> {
        &self.0[0]
    }

    pub fn find(&self, id: &str) -> Option<&Arc<Workflow>> {
        self.0.iter().find(|workflow| workflow.id == id)
    }
}

impl Default for WorkflowSet {
    fn default() -> Self {
        Self::built_in()
    }
}

/// Returns whether a workflow is built in, so that it cannot be changed.
pub fn is_built_in(id: &str) -> bool {
    WorkflowSet::built_in().find(id).is_some()
}

/// Returns whether the workflow has the state `public`.
pub fn has_public_state(workflow: &Workflow) -> bool {
    workflow.states.iter().any(|state| state == PUBLIC_STATE)
}

fn workflow(id: &str, states: &[&str], transitions: Vec<Transition>) -> Workflow {
    Workflow {
        id: id.to_owned(),
        name: id.to_owned(),
        initial_state: states[0].to_owned(),
        states: states.iter().map(|&state| state.to_owned()).collect(),
        transitions,
    }
}

fn transition(from: &str, to: &str) -> Transition {
    Transition {
        name: format!("_{from}_{to}"),
        froms: vec![from.to_owned()],
        tos: vec![to.to_owned()],
    }
}

/// Parses the definition of a custom workflow.
///
/// `name` defaults to the id, `initial_state` to the first state, `transitions` to none, and the
/// name of a transition follows from its states.
pub fn parse(payload: &Map<String, Value>) -> Result<Workflow, FieldErrors> {
    let mut errors = FieldErrors::default();
    let id = required(payload, "id", "", &mut errors);
    let id = id.and_then(|id| valid_name(id, "id", &mut errors)).unwrap_or_default();
    let name: Option<&str> = optional(payload, "name", "", &mut errors);
    if let Some(name) = name {
        errors.check_length("name", name, 1..=limits::MAX_NAME_CHARS);
    }
    let states = states(payload, &mut errors);
    let initial_state: Option<&str> = optional(payload, "initial_state", "", &mut errors);
    if initial_state.is_some_and(|state| !states.contains(&state)) {
        errors.add("initial_state", message::NOT_VALID);
    }
    let initial_state = initial_state.or(states.first().copied()).unwrap_or_default();
    let transitions = transitions(payload, &states, &mut errors);
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(Workflow {
        id: id.to_owned(),
        name: name.unwrap_or(id).to_owned(),
        initial_state: initial_state.to_owned(),
        states: states.into_iter().map(str::to_owned).collect(),
        transitions,
    })
}

/// Returns whether a text has only characters that are allowed in paths and names of transitions.
fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

/// Validates a name: allowed characters and length.
fn valid_name<'p>(text: &'p str, path: &str, errors: &mut FieldErrors) -> Option<&'p str> {
    if !is_word(text) {
        errors.add(path, message::NOT_VALID);
    } else if text.len() > limits::MAX_NAME_CHARS {
        errors.add(path, message::too_long(limits::MAX_NAME_CHARS));
    } else {
        return Some(text);
    }
    None
}

/// Validates the length of an array.
fn bounded<'p>(items: &'p [Value], path: &str, errors: &mut FieldErrors) -> Option<&'p [Value]> {
    if items.len() > limits::MAX_WORKFLOW_ELEMENTS {
        errors.add(path, message::too_many(limits::MAX_WORKFLOW_ELEMENTS));
        return None;
    }
    Some(items)
}

fn states<'p>(payload: &'p Map<String, Value>, errors: &mut FieldErrors) -> Vec<&'p str> {
    let mut found: Vec<&str> = Vec::new();
    let items = required(payload, "states", "", errors);
    let items = items.and_then(|items| bounded(items, "states", errors));
    if items.is_some_and(<[_]>::is_empty) {
        errors.add("states", message::too_few(1));
    }
    for (index, item) in items.unwrap_or_default().iter().enumerate() {
        let path = format!("states[{index}]");
        let name = read(item, path.as_str(), errors);
        let Some(name) = name.and_then(|name| valid_name(name, &path, errors)) else { continue };
        if found.contains(&name) {
            errors.add("states", message::DUPLICATES);
        } else {
            found.push(name);
        }
    }
    found
}

fn transitions(
    payload: &Map<String, Value>,
    states: &[&str],
    errors: &mut FieldErrors,
) -> Vec<Transition> {
    let mut found = Vec::new();
    let mut names = HashSet::new();
    let items = optional(payload, "transitions", "", errors);
    let items = items.and_then(|items| bounded(items, "transitions", errors));
    for (index, item) in items.unwrap_or_default().iter().enumerate() {
        let path = format!("transitions[{index}]");
        let Some(item) = read::<&Map<_, _>>(item, path.as_str(), errors) else { continue };
        let from = single_state(item, "froms", &path, states, errors);
        let to = single_state(item, "tos", &path, states, errors);
        let (Some(from), Some(to)) = (from, to) else { continue };
        let transition = transition(from, to);
        if item.get("name").is_some_and(|name| *name != transition.name) {
            errors.add(format!("{path}.name"), message::NOT_VALID);
        }
        if !names.insert(transition.name.clone()) {
            errors.add("transitions", message::DUPLICATES);
        }
        found.push(transition);
    }
    found
}

/// Parses `froms` or `tos` of a transition: an array with exactly one known state.
fn single_state<'p>(
    transition: &'p Map<String, Value>,
    key: &str,
    path: &str,
    states: &[&str],
    errors: &mut FieldErrors,
) -> Option<&'p str> {
    let items = required(transition, key, path, errors)?;
    let path = join(path, key);
    let name = match bounded(items, &path, errors)? {
        [only] => valid_name(read(only, path.as_str(), errors)?, &path, errors)?,
        _ => "",
    };
    if states.contains(&name) {
        return Some(name);
    }
    errors.add(path, message::NOT_VALID);
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Parses an edited definition; returns the workflow or the errors.
    fn parsed(edit: impl FnOnce(&mut Value)) -> Value {
        let mut payload = json!({
            "id": "editorial",
            "states": ["draft", "public"],
            "transitions": [{"froms": ["draft"], "tos": ["public"]}],
        });
        edit(&mut payload);
        match parse(payload.as_object().unwrap()) {
            Ok(workflow) => json!(workflow),
            Err(errors) => json!(errors),
        }
    }

    #[test]
    fn definition_is_completed_with_defaults() {
        let complete = json!({
            "id": "editorial",
            "name": "editorial",
            "initial_state": "draft",
            "states": ["draft", "public"],
            "transitions": [{"name": "_draft_public", "froms": ["draft"], "tos": ["public"]}],
        });
        assert_eq!(parsed(|_| {}), complete);
        // A complete definition stays unchanged.
        assert_eq!(parsed(|payload| *payload = complete.clone()), complete);
    }

    #[test]
    fn invalid_definitions_have_messages() {
        let not_valid = "This value is not valid.";
        let table = [
            ("id", json!(null), json!({"id": ["NULL value found, but a string is required"]})),
            ("id", json!("a b"), json!({"id": [not_valid]})),
            ("name", json!(""), json!({"name": ["Must be at least 1 characters long"]})),
            ("name", json!(1), json!({"name": ["Integer value found, but a string is required"]})),
            ("initial_state", json!("review"), json!({"initial_state": [not_valid]})),
            (
                "states",
                json!("draft"),
                json!({
                    "states": ["String value found, but an array is required"],
                    "transitions[0].froms": [not_valid],
                    "transitions[0].tos": [not_valid],
                }),
            ),
            (
                "states",
                json!(["draft", "public", "draft", "", 3]),
                json!({
                    "states": ["There are no duplicates allowed in the array"],
                    "states[3]": [not_valid],
                    "states[4]": ["Integer value found, but a string is required"],
                }),
            ),
            (
                "transitions",
                json!([
                    {"froms": ["draft"], "tos": ["public"], "name": "go"},
                    {"froms": ["draft"], "tos": ["public"]},
                    {"froms": ["draft", "public"], "tos": ["gone"]},
                    {"tos": 1},
                    "draft>public",
                ]),
                json!({
                    "transitions[0].name": [not_valid],
                    "transitions": ["There are no duplicates allowed in the array"],
                    "transitions[2].froms": [not_valid],
                    "transitions[2].tos": [not_valid],
                    "transitions[3].froms": ["The property froms is required"],
                    "transitions[3].tos": ["Integer value found, but an array is required"],
                    "transitions[4]": ["String value found, but an object is required"],
                }),
            ),
        ];
        for (key, value, expected) in table {
            assert_eq!(parsed(|payload| payload[key] = value.clone()), expected, "{key} {value}");
        }
        let states = json!({"states": ["There must be a minimum of 1 items in the array"]});
        let empty = parsed(|payload| {
            payload["states"] = json!([]);
            payload["transitions"] = json!([]);
        });
        assert_eq!(empty, states);
        let missing = parsed(|payload| *payload = json!({}));
        let expected = json!({
            "id": ["The property id is required"],
            "states": ["The property states is required"],
        });
        assert_eq!(missing, expected);
    }
}
