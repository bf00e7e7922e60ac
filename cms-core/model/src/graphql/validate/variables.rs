//! Rules on the document as a whole: every variable is declared and used, every fragment is used and
//! does not contain itself.

use std::collections::{HashMap, HashSet};

use async_graphql::{
    Name, Pos, Positioned,
    parser::types::{ExecutableDocument, OperationDefinition, VariableDefinition},
};
use async_graphql_value::ConstValue;

use super::Use;
use crate::graphql::{fault::Fault, model::Model};

/// An operation or a fragment, and what it uses.
pub(super) struct Part<'d> {
    name: Option<&'d str>,
    place: Pos,
    operation: Option<&'d OperationDefinition>,
    uses: Vec<Use<'d>>,
    spreads: Vec<(&'d str, Pos)>,
}

impl<'d> Part<'d> {
    pub(super) fn operation(
        name: Option<&'d Name>,
        operation: &'d Positioned<OperationDefinition>,
        uses: Vec<Use<'d>>,
        spreads: Vec<(&'d str, Pos)>,
    ) -> Self {
        let name = name.map(Name::as_str);
        Self { name, place: operation.pos, operation: Some(&operation.node), uses, spreads }
    }

    pub(super) fn fragment(
        name: &'d Name,
        place: Pos,
        uses: Vec<Use<'d>>,
        spreads: Vec<(&'d str, Pos)>,
    ) -> Self {
        Self { name: Some(name), place, operation: None, uses, spreads }
    }
}

/// Notes what is wrong with variables and fragments.
pub(super) fn check(
    model: &Model,
    document: &ExecutableDocument,
    parts: &[Part<'_>],
    faults: &mut Vec<Fault>,
) {
    let fragments: HashMap<&str, &Part<'_>> = parts
        .iter()
        .filter(|part| part.operation.is_none())
        .filter_map(|part| Some((part.name?, part)))
        .collect();
    let mut used = HashSet::new();
    for part in parts {
        let Some(operation) = part.operation else { continue };
        let reached = reach(part, &fragments);
        // The first is the operation itself, whatever its name.
        used.extend(reached.iter().skip(1).filter_map(|part| part.name));
        check_operation(model, part, operation, &reached, faults);
    }
    for name in document.fragments.keys().filter(|name| !used.contains(name.as_str())) {
        let place = fragments[name.as_str()].place;
        faults.push(Fault::invalid(format!("Fragment \"{name}\" is never used."), &[place]));
    }
    check_cycles(&fragments, faults);
}

/// Returns a part and the fragments that it uses, directly or not.
fn reach<'p, 'd>(
    part: &'p Part<'d>,
    fragments: &HashMap<&'d str, &'p Part<'d>>,
) -> Vec<&'p Part<'d>> {
    let (mut reached, mut names) = (vec![part], HashSet::new());
    let mut next = 0;
    while let Some(part) = reached.get(next).copied() {
        next += 1;
        for (name, _) in &part.spreads {
            if names.insert(*name) {
                reached.extend(fragments.get(name));
            }
        }
    }
    reached
}

fn check_operation(
    model: &Model,
    part: &Part<'_>,
    operation: &OperationDefinition,
    reached: &[&Part<'_>],
    faults: &mut Vec<Fault>,
) {
    let declared: HashMap<&str, &Positioned<VariableDefinition>> = operation
        .variable_definitions
        .iter()
        .map(|definition| (definition.node.name.node.as_str(), definition))
        .collect();
    let mut used = HashSet::new();
    let by = |word: &str| part.name.map_or(String::new(), |name| format!(" {word} \"{name}\""));
    for usage in reached.iter().flat_map(|part| &part.uses) {
        let name = usage.name;
        used.insert(name);
        let Some(definition) = declared.get(name) else {
            let message = format!("Variable \"${name}\" is not defined{}.", by("by operation"));
            faults.push(Fault::invalid(message, &[usage.place, part.place]));
            continue;
        };
        let given = &definition.node.var_type.node;
        let has_default = definition.node.default_value.as_ref();
        let has_default = has_default.is_some_and(|default| default.node != ConstValue::Null);
        // A type that nobody knows is told as such.
        let is_known = model.find(given.to_string().trim_matches(['[', ']', '!'])).is_some();
        if let Some(expected) = &usage.expected
            && is_known
            && !is_allowed(&given.to_string(), has_default, expected)
        {
            let message = format!(
                "Variable \"${name}\" of type \"{given}\" used in position expecting type \
                 \"{expected}\"."
            );
            faults.push(Fault::invalid(message, &[definition.pos, usage.place]));
        }
    }
    for definition in &operation.variable_definitions {
        let name = definition.node.name.node.as_str();
        if !used.contains(name) {
            let message = format!("Variable \"${name}\" is never used{}.", by("in operation"));
            faults.push(Fault::invalid(message, &[definition.pos]));
        }
    }
}

/// Tells whether a variable of a type may stand where another is expected.
fn is_allowed(given: &str, has_default: bool, expected: &str) -> bool {
    match expected.strip_suffix('!') {
        Some(expected) if !given.ends_with('!') => has_default && is_part(given, expected),
        _ => is_part(given, expected),
    }
}

/// Tells whether every value of a type is one of another; written types tell all about that.
fn is_part(given: &str, expected: &str) -> bool {
    if let Some(expected) = expected.strip_suffix('!') {
        return given.strip_suffix('!').is_some_and(|given| is_part(given, expected));
    }
    let given = given.strip_suffix('!').unwrap_or(given);
    match (given.strip_prefix('['), expected.strip_prefix('[')) {
        (Some(given), Some(expected)) => {
            let inner = |list: &str| list.strip_suffix(']').unwrap_or(list).to_owned();
            is_part(&inner(given), &inner(expected))
        }
        (None, None) => given == expected,
        _ => false,
    }
}

/// Notes fragments that contain themselves: each circle once.
fn check_cycles(fragments: &HashMap<&str, &Part<'_>>, faults: &mut Vec<Fault>) {
    let mut names: Vec<&str> = fragments.keys().copied().collect();
    names.sort_by_key(|name| (fragments[name].place.line, fragments[name].place.column));
    let mut done = HashSet::new();
    for start in names {
        // The way to where we are: a fragment, and which of its spreads is next.
        let mut way: Vec<(&str, usize)> = vec![(start, 0)];
        if !done.insert(start) {
            continue;
        }
        while let Some((name, next)) = way.last_mut() {
            let Some(&(spread, place)) = fragments[*name].spreads.get(*next) else {
                way.pop();
                continue;
            };
            *next += 1;
            if let Some(first) = way.iter().position(|(name, _)| *name == spread) {
                let via: Vec<String> =
                    way[first + 1..].iter().map(|(name, _)| format!("\"{name}\"")).collect();
                let via =
                    if via.is_empty() { String::new() } else { format!(" via {}", via.join(", ")) };
                let message = format!("Cannot spread fragment \"{spread}\" within itself{via}.");
                faults.push(Fault::invalid(message, &[place]));
            } else if fragments.contains_key(spread) && done.insert(spread) {
                way.push((spread, 0));
            }
        }
    }
}
