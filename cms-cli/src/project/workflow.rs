//! Converts workflows between the short form of project files and the API form.
//!
//! `transitions: [draft>review]` is short for
//! `[{"name": "_draft_review", "froms": ["draft"], "tos": ["review"]}]`, which is allowed too.
//! Definitions that the API would refuse are reported here with their location.

use std::collections::HashMap;

use cms_core::{DEFAULT_WORKFLOW, limits, wire::workflow::Workflow};
use serde_json::{Map, Value, json};

use super::node::{Diagnostics, YamlNode, did_you_mean};

/// Keys of a workflow. `initial_state` is the API's name of `initial`.
pub(super) const KEYS: [&str; 6] =
    ["id", "name", "initial", "initial_state", "states", "transitions"];
const TRANSITION_KEYS: [&str; 3] = ["name", "froms", "tos"];

/// Ids of the built-in workflows.
pub(super) const BUILT_IN: [&str; 2] = [DEFAULT_WORKFLOW, "publishing"];

/// Returns whether a workflow is built in: it exists everywhere and cannot be changed.
pub(crate) fn is_built_in(id: &str) -> bool {
    BUILT_IN.contains(&id)
}

/// Returns the definition in the API form; incomplete after errors.
pub(super) fn expand(node: &YamlNode<'_>, diagnostics: &mut Diagnostics) -> Map<String, Value> {
    let mut definition = Map::new();
    if !diagnostics.is_mapping(node) {
        return definition;
    }
    diagnostics.unknown_keys(node, &KEYS);
    let id = diagnostics.required_text(node, "id").unwrap_or_default();
    if is_built_in(id) {
        let message =
            format!("workflow \"{id}\" is built in and cannot be changed: use another id");
        diagnostics.error_at(&node.at("id"), message);
    }
    if let Some(member) = node.get("id").filter(|_| !id.is_empty()) {
        require_word(id, "workflow id", &member, diagnostics);
    }
    let name = match node.get("name") {
        Some(_) => diagnostics.required_text(node, "name").unwrap_or(id),
        None => id,
    };
    if let Some(member) = node.get("name").filter(|_| name.chars().count() > limits::MAX_NAME_CHARS)
    {
        diagnostics.error_at(
            &member,
            format!("the name is too long: use at most {} characters", limits::MAX_NAME_CHARS),
        );
    }
    let states = states(node, diagnostics);
    let mut initial = states.first().copied().unwrap_or_default();
    for key in ["initial", "initial_state"] {
        if let Some(state) = diagnostics.text(node, key) {
            initial = state;
            require_state(state, &states, &node.at(key), diagnostics);
        }
    }
    definition.insert("id".to_owned(), json!(id));
    definition.insert("name".to_owned(), json!(name));
    definition.insert("initial_state".to_owned(), json!(initial));
    definition.insert("states".to_owned(), json!(states));
    definition.insert("transitions".to_owned(), transitions(node, &states, diagnostics));
    definition
}

fn states<'a>(node: &YamlNode<'a>, diagnostics: &mut Diagnostics) -> Vec<&'a str> {
    let Some(list) = node.get("states") else {
        diagnostics.error_at(node, "\"states\" is missing");
        return Vec::new();
    };
    let states = diagnostics.texts(node, "states").unwrap_or_default();
    if list.value == &json!([]) {
        diagnostics.error_at(&list, "\"states\" is empty: add a state");
    }
    not_too_many(&list, diagnostics);
    let mut known: Vec<&str> = Vec::new();
    for (item, state) in list.items().filter_map(|item| Some((item.clone(), item.value.as_str()?)))
    {
        if known.contains(&state) {
            diagnostics.error_at(&item, format!("state \"{state}\" is repeated"));
        } else {
            require_word(state, "state", &item, diagnostics);
        }
        known.push(state);
    }
    states
}

fn transitions(node: &YamlNode<'_>, states: &[&str], diagnostics: &mut Diagnostics) -> Value {
    let mut transitions = Vec::new();
    let Some(list) = node.get("transitions").filter(|list| diagnostics.is_sequence(list)) else {
        return json!([]);
    };
    not_too_many(&list, diagnostics);
    // Source and target states by name.
    let mut known: HashMap<String, (&str, &str)> = HashMap::new();
    for item in list.items() {
        let from_and_to = match item.value {
            Value::Object(_) => as_sent(&item, states, diagnostics),
            _ => as_arrow(&item, states, diagnostics),
        };
        let Some((from, to)) = from_and_to else { continue };
        let name = format!("_{from}_{to}");
        match known.get(&name) {
            Some(first) if *first == (from, to) => {
                diagnostics.error_at(&item, format!("transition {from}>{to} is repeated"));
            }
            Some((other_from, other_to)) => diagnostics.error_at(
                &item,
                format!("transition {from}>{to} has the same name as {other_from}>{other_to}: \"{name}\""),
            ),
            None => {
                transitions.push(json!({ "name": name, "froms": [from], "tos": [to] }));
                known.insert(name, (from, to));
            }
        }
    }
    Value::Array(transitions)
}

/// The states of a transition in the short form, `from>to`.
fn as_arrow<'a>(
    item: &YamlNode<'a>,
    states: &[&str],
    diagnostics: &mut Diagnostics,
) -> Option<(&'a str, &'a str)> {
    let Some((from, to)) = item.value.as_str().and_then(|text| text.split_once('>')) else {
        let message = format!("transition {} is not valid: use \"from>to\"", item.value);
        diagnostics.error_at(item, message);
        return None;
    };
    let (from, to) = (from.trim(), to.trim());
    for state in [from, to] {
        require_state(state, states, item, diagnostics);
    }
    Some((from, to))
}

/// The states of a transition in the API form.
fn as_sent<'a>(
    item: &YamlNode<'a>,
    states: &[&str],
    diagnostics: &mut Diagnostics,
) -> Option<(&'a str, &'a str)> {
    diagnostics.unknown_keys(item, &TRANSITION_KEYS);
    let [from, to] = ["froms", "tos"].map(|key| single_state(item, key, states, diagnostics));
    let (from, to) = (from?, to?);
    let name = format!("_{from}_{to}");
    if let Some(other) = item.get("name").filter(|other| other.value != name.as_str()) {
        let message = format!("transition name {} is not valid: use \"{name}\"", other.value);
        diagnostics.error_at(&other, message);
    }
    Some((from, to))
}

/// Returns the state in `froms` or `tos`, which must be a list of one state.
fn single_state<'a>(
    item: &YamlNode<'a>,
    key: &str,
    states: &[&str],
    diagnostics: &mut Diagnostics,
) -> Option<&'a str> {
    let Some(list) = item.get(key) else {
        diagnostics.error_at(item, format!("\"{key}\" is missing"));
        return None;
    };
    let names = diagnostics.texts(item, key)?;
    let given: Vec<YamlNode<'_>> = list.items().collect();
    match (names.as_slice(), given.as_slice()) {
        ([name], [item]) => {
            require_state(name, states, item, diagnostics);
            Some(name)
        }
        // Values that are not text are reported already.
        (names, given) if names.len() < given.len() => None,
        _ => {
            diagnostics
                .error_at(&list, format!("{} is not valid: use a list of one state", list.value));
            None
        }
    }
}

fn not_too_many(list: &YamlNode<'_>, diagnostics: &mut Diagnostics) {
    let max = limits::MAX_WORKFLOW_ELEMENTS;
    if list.value.as_array().is_some_and(|items| items.len() > max) {
        diagnostics.error_at(list, format!("the list is too long: use at most {max} items"));
    }
}

/// Requires a text without special characters: ids and states are parts of paths and of names of
/// transitions.
fn require_word(text: &str, what: &str, node: &YamlNode<'_>, diagnostics: &mut Diagnostics) {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if text.is_empty() || !text.chars().all(is_allowed) {
        let message =
            format!("{what} \"{text}\" is not valid: use letters, digits, \"-\" and \"_\"");
        diagnostics.error_at(node, message);
    } else if text.len() > limits::MAX_NAME_CHARS {
        diagnostics.error_at(
            node,
            format!("{what} is too long: use at most {} characters", limits::MAX_NAME_CHARS),
        );
    }
}

fn require_state(state: &str, states: &[&str], node: &YamlNode<'_>, diagnostics: &mut Diagnostics) {
    // A missing list of states is one error, not one for each transition.
    if !states.is_empty() && !states.contains(&state) {
        let near = did_you_mean(state, states.iter().copied());
        diagnostics.error_at(node, format!("unknown state \"{state}\"{near}"));
    }
}

/// Returns the workflow in the short form.
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
    let transitions = workflow.transitions.iter();
    let transitions = transitions
        .map(|transition| format!("{}>{}", transition.froms.join(","), transition.tos.join(",")));
    short.insert("transitions".to_owned(), transitions.collect());
    Value::Object(short)
}
