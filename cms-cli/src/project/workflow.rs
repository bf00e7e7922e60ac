//! Workflows of project files: the short form becomes the API's, and the other way round.
//!
//! `transitions: [draft>review]` stands for the API's
//! `[{"name": "_draft_review", "froms": ["draft"], "tos": ["review"]}]`, which is taken as well. What
//! the API refuses in a definition (contract 5.1) is found here, with its place.

use std::collections::HashMap;

use cms_core::{limits, wire::workflow::Workflow};
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
    if let Some(place) = node.get("id").filter(|_| !id.is_empty()) {
        require_word(id, "the id of a workflow", &place, faults);
    }
    let name = match node.get("name") {
        Some(_) => faults.required_text(node, "name").unwrap_or(id),
        None => id,
    };
    if let Some(place) = node.get("name").filter(|_| name.chars().count() > limits::MAX_NAME_CHARS)
    {
        faults.value(&place, format!("a name has at most {} characters", limits::MAX_NAME_CHARS));
    }
    let states = states(node, faults);
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

fn states<'a>(node: &Node<'a>, faults: &mut Faults) -> Vec<&'a str> {
    let Some(list) = node.get("states") else {
        faults.value(node, "\"states\" is missing");
        return Vec::new();
    };
    let states = faults.texts(node, "states").unwrap_or_default();
    if list.value == &json!([]) {
        faults.value(&list, "a workflow needs a state");
    }
    not_too_many(&list, faults);
    let mut known: Vec<&str> = Vec::new();
    for (item, state) in list.items().filter_map(|item| Some((item.clone(), item.value.as_str()?)))
    {
        if known.contains(&state) {
            faults.value(&item, format!("the state \"{state}\" stands here twice"));
        } else {
            require_word(state, "the name of a state", &item, faults);
        }
        known.push(state);
    }
    states
}

fn transitions(node: &Node<'_>, states: &[&str], faults: &mut Faults) -> Value {
    let mut transitions = Vec::new();
    let Some(list) = node.get("transitions").filter(|list| faults.is_sequence(list)) else {
        return json!([]);
    };
    not_too_many(&list, faults);
    // What leads where, by name.
    let mut known: HashMap<String, (&str, &str)> = HashMap::new();
    for item in list.items() {
        let ends = match item.value {
            Value::Object(_) => as_sent(&item, states, faults),
            _ => as_arrow(&item, states, faults),
        };
        let Some((from, to)) = ends else { continue };
        let name = format!("_{from}_{to}");
        match known.get(&name) {
            Some(first) if *first == (from, to) => {
                faults.value(&item, format!("the transition {from}>{to} stands here twice"));
            }
            Some((other_from, other_to)) => faults.value(
                &item,
                format!("{from}>{to} has the name of {other_from}>{other_to}, \"{name}\""),
            ),
            None => {
                transitions.push(json!({ "name": name, "froms": [from], "tos": [to] }));
                known.insert(name, (from, to));
            }
        }
    }
    Value::Array(transitions)
}

/// The ends of a transition in the short form, `from>to`.
fn as_arrow<'a>(
    item: &Node<'a>,
    states: &[&str],
    faults: &mut Faults,
) -> Option<(&'a str, &'a str)> {
    let Some((from, to)) = item.value.as_str().and_then(|text| text.split_once('>')) else {
        let message = format!("{} is no transition of the form from>to", item.value);
        faults.value(item, message);
        return None;
    };
    let (from, to) = (from.trim(), to.trim());
    for state in [from, to] {
        require_state(state, states, item, faults);
    }
    Some((from, to))
}

/// The ends of a transition in the API's form.
fn as_sent<'a>(
    item: &Node<'a>,
    states: &[&str],
    faults: &mut Faults,
) -> Option<(&'a str, &'a str)> {
    faults.unknown_keys(item, &TRANSITION_KEYS);
    let [from, to] = ["froms", "tos"].map(|key| end(item, key, states, faults));
    let (from, to) = (from?, to?);
    let name = format!("_{from}_{to}");
    if let Some(other) = item.get("name").filter(|other| other.value != name.as_str()) {
        let message = format!("the transition is named \"{name}\", not {}", other.value);
        faults.value(&other, message);
    }
    Some((from, to))
}

/// One end of a transition: a list of one state.
fn end<'a>(item: &Node<'a>, key: &str, states: &[&str], faults: &mut Faults) -> Option<&'a str> {
    let Some(list) = item.get(key) else {
        faults.value(item, format!("\"{key}\" is missing"));
        return None;
    };
    let names = faults.texts(item, key)?;
    let given: Vec<Node<'_>> = list.items().collect();
    match (names.as_slice(), given.as_slice()) {
        ([name], [place]) => {
            require_state(name, states, place, faults);
            Some(name)
        }
        // What is no text is told already.
        (names, given) if names.len() < given.len() => None,
        _ => {
            faults.value(&list, format!("{} where a list of one state is expected", list.value));
            None
        }
    }
}

fn not_too_many(list: &Node<'_>, faults: &mut Faults) {
    let most = limits::MAX_WORKFLOW_ELEMENTS;
    if list.value.as_array().is_some_and(|items| items.len() > most) {
        faults.value(list, format!("a workflow has at most {most} of them"));
    }
}

/// Ids of workflows and names of states stand in paths and in names of transitions.
fn require_word(text: &str, what: &str, place: &Node<'_>, faults: &mut Faults) {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if text.is_empty() || !text.chars().all(is_allowed) {
        let message = format!("\"{text}\" is not {what}: letters, digits, - and _ are allowed");
        faults.value(place, message);
    } else if text.len() > limits::MAX_NAME_CHARS {
        faults.value(place, format!("{what} has at most {} characters", limits::MAX_NAME_CHARS));
    }
}

fn require_state(state: &str, states: &[&str], place: &Node<'_>, faults: &mut Faults) {
    // Without states there is one mistake, not one of each transition.
    if !states.is_empty() && !states.contains(&state) {
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
