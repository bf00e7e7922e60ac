//! Workflows of project files: the short form becomes the API's, and the other way round.
//!
//! `transitions: [draft>review]` stands for the API's
//! `[{"name": "_draft_review", "froms": ["draft"], "tos": ["review"]}]`, which is taken as well.

use cms_core::wire::workflow::Workflow;
use serde_json::{Map, Value, json};

use super::read::{Faults, Node, did_you_mean};

/// Keys of a workflow. `initial_state` is what the API calls `initial`.
pub(super) const KEYS: [&str; 6] =
    ["id", "name", "initial", "initial_state", "states", "transitions"];
const TRANSITION_KEYS: [&str; 3] = ["name", "froms", "tos"];

/// The workflow of types that name none; it has one state.
pub(crate) const DEFAULT: &str = "generic";

/// Ids of the workflows that every space has and nobody can change.
pub(super) const BUILT_IN: [&str; 2] = [DEFAULT, "publishing"];

/// Tells whether every space has a workflow of this id.
pub(crate) fn is_built_in(id: &str) -> bool {
    BUILT_IN.contains(&id)
}

/// Returns the definition that the API takes; incomplete where there are mistakes.
pub(super) fn expand(node: &Node<'_>, faults: &mut Faults) -> Map<String, Value> {
    let mut definition = Map::new();
    if !faults.is_mapping(node) {
        return definition;
    }
    faults.unknown_keys(node, &KEYS);
    let id = faults.required_text(node, "id").unwrap_or_default();
    if is_built_in(id) {
        let place = node.get("id").unwrap_or_else(|| node.clone());
        faults.value(&place, format!("the workflow \"{id}\" is built in and cannot be changed"));
    }
    let name = faults.text(node, "name").unwrap_or(id);
    if node.get("states").is_none() {
        faults.value(node, "\"states\" is missing");
    }
    let states = faults.texts(node, "states").unwrap_or_default();
    if let Some(empty) = node.get("states").filter(|states| states.value == &json!([])) {
        faults.value(&empty, "a workflow needs a state");
    }
    let mut initial = states.first().copied().unwrap_or_default();
    for key in ["initial", "initial_state"] {
        if let Some(state) = faults.text(node, key) {
            initial = state;
            let place = node.get(key).unwrap_or_else(|| node.clone());
            require_state(state, &states, &place, faults);
        }
    }
    definition.insert("id".to_owned(), json!(id));
    definition.insert("name".to_owned(), json!(name));
    definition.insert("initial_state".to_owned(), json!(initial));
    definition.insert("states".to_owned(), json!(states));
    definition.insert("transitions".to_owned(), transitions(node, &states, faults));
    definition
}

fn transitions(node: &Node<'_>, states: &[&str], faults: &mut Faults) -> Value {
    let mut transitions = Vec::new();
    let Some(list) = node.get("transitions").filter(|list| faults.is_sequence(list)) else {
        return json!([]);
    };
    for item in list.items() {
        if item.value.is_object() {
            transitions.push(as_sent(&item, states, faults));
            continue;
        }
        let text = item.value.as_str().unwrap_or_default();
        let Some((from, to)) = text.split_once('>') else {
            let message = format!("{} is no transition of the form from>to", item.value);
            faults.value(&item, message);
            continue;
        };
        let (from, to) = (from.trim(), to.trim());
        for state in [from, to] {
            require_state(state, states, &item, faults);
        }
        transitions.push(json!({
            "name": format!("_{from}_{to}"), "froms": [from], "tos": [to],
        }));
    }
    Value::Array(transitions)
}

/// A transition in the API's form: the rest is checked where it is applied.
fn as_sent(item: &Node<'_>, states: &[&str], faults: &mut Faults) -> Value {
    faults.unknown_keys(item, &TRANSITION_KEYS);
    for end in ["froms", "tos"].into_iter().filter_map(|key| item.get(key)) {
        for state in end.items() {
            require_state(state.value.as_str().unwrap_or_default(), states, &state, faults);
        }
    }
    item.value.clone()
}

fn require_state(state: &str, states: &[&str], place: &Node<'_>, faults: &mut Faults) {
    if !states.contains(&state) {
        let near = did_you_mean(state, states.iter().copied());
        faults.value(place, format!("there is no state \"{state}\"{near}"));
    }
}

/// Returns the workflow as a project file holds it.
pub(super) fn shorten(workflow: &Workflow) -> Value {
    let mut short = Map::new();
    short.insert("id".to_owned(), json!(workflow.id));
    if workflow.name != workflow.id {
        short.insert("name".to_owned(), json!(workflow.name));
    }
    if workflow.states.first() != Some(&workflow.initial_state) {
        short.insert("initial".to_owned(), json!(workflow.initial_state));
    }
    short.insert("states".to_owned(), json!(workflow.states));
    let ways = workflow.transitions.iter();
    let ways = ways.map(|way| format!("{}>{}", way.froms.join(","), way.tos.join(",")));
    short.insert("transitions".to_owned(), ways.collect());
    Value::Object(short)
}
