//! Rules on the complete document: every variable is declared and used, every fragment is used and
//! does not contain itself.

use std::collections::{HashMap, HashSet};

use async_graphql::{
    Pos, Positioned,
    parser::types::{ExecutableDocument, OperationDefinition, VariableDefinition},
};
use async_graphql_value::ConstValue;

use super::VariableUse;
use crate::graphql::{
    error::QueryError,
    model::{Model, type_name},
};

/// An operation or a fragment, with the variables and fragments that it uses.
pub(super) struct DefinitionUse<'d> {
    pub(super) name: Option<&'d str>,
    pub(super) position: Pos,
    /// None for a fragment.
    pub(super) operation: Option<&'d OperationDefinition>,
    pub(super) uses: Vec<VariableUse<'d>>,
    pub(super) spreads: Vec<(&'d str, Pos)>,
}

/// Checks variables and fragments.
pub(super) fn check(
    model: &Model,
    document: &ExecutableDocument,
    definitions: &[DefinitionUse<'_>],
    errors: &mut Vec<QueryError>,
) {
    let fragments: HashMap<&str, &DefinitionUse<'_>> = definitions
        .iter()
        .filter(|definition| definition.operation.is_none())
        .filter_map(|definition| Some((definition.name?, definition)))
        .collect();
    let mut used = HashSet::new();
    for definition in definitions {
        let Some(operation) = definition.operation else { continue };
        let used_definitions = transitive_uses(definition, &fragments);
        // The first is the operation itself.
        used.extend(used_definitions.iter().skip(1).filter_map(|used| used.name));
        check_operation(model, definition, operation, &used_definitions, errors);
    }
    for name in document.fragments.keys().filter(|name| !used.contains(name.as_str())) {
        let position = fragments[name.as_str()].position;
        errors
            .push(QueryError::invalid(format!("Fragment \"{name}\" is never used."), &[position]));
    }
    check_cycles(&fragments, errors);
}

/// Returns a definition and the fragments that it uses, directly or transitively.
fn transitive_uses<'p, 'd>(
    definition: &'p DefinitionUse<'d>,
    fragments: &HashMap<&'d str, &'p DefinitionUse<'d>>,
) -> Vec<&'p DefinitionUse<'d>> {
    let (mut used_definitions, mut names) = (vec![definition], HashSet::new());
    let mut next = 0;
    while let Some(definition) = used_definitions.get(next).copied() {
        next += 1;
        for (name, _) in &definition.spreads {
            if names.insert(*name) {
                used_definitions.extend(fragments.get(name));
            }
        }
    }
    used_definitions
}

fn check_operation(
    model: &Model,
    definition: &DefinitionUse<'_>,
    operation: &OperationDefinition,
    used_definitions: &[&DefinitionUse<'_>],
    errors: &mut Vec<QueryError>,
) {
    let declared: HashMap<&str, &Positioned<VariableDefinition>> = operation
        .variable_definitions
        .iter()
        .map(|declaration| (declaration.node.name.node.as_str(), declaration))
        .collect();
    let mut used = HashSet::new();
    let by =
        |word: &str| definition.name.map_or(String::new(), |name| format!(" {word} \"{name}\""));
    for usage in used_definitions.iter().flat_map(|used| &used.uses) {
        let name = usage.name;
        used.insert(name);
        let Some(declaration) = declared.get(name) else {
            let message = format!("Variable \"${name}\" is not defined{}.", by("by operation"));
            errors.push(QueryError::invalid(message, &[usage.position, definition.position]));
            continue;
        };
        let given = &declaration.node.var_type.node;
        let has_default = declaration.node.default_value.as_ref();
        let has_default = has_default.is_some_and(|default| default.node != ConstValue::Null);
        // Validation reports unknown types.
        let is_known = model.find(type_name(&given.to_string())).is_some();
        if let Some(expected) = &usage.expected
            && is_known
            && !is_allowed(&given.to_string(), has_default, expected)
        {
            let message = format!(
                "Variable \"${name}\" of type \"{given}\" used in position expecting type \
                 \"{expected}\"."
            );
            errors.push(QueryError::invalid(message, &[declaration.pos, usage.position]));
        }
    }
    for declaration in &operation.variable_definitions {
        let name = declaration.node.name.node.as_str();
        if !used.contains(name) {
            let message = format!("Variable \"${name}\" is never used{}.", by("in operation"));
            errors.push(QueryError::invalid(message, &[declaration.pos]));
        }
    }
}

/// Whether a variable of a type may be used where another type is expected.
fn is_allowed(given: &str, has_default: bool, expected: &str) -> bool {
    match expected.strip_suffix('!') {
        Some(expected) if !given.ends_with('!') => has_default && is_subtype(given, expected),
        _ => is_subtype(given, expected),
    }
}

/// Whether a type is a subtype of another; the texts of types suffice to compare them.
fn is_subtype(given: &str, expected: &str) -> bool {
    if let Some(expected) = expected.strip_suffix('!') {
        return given.strip_suffix('!').is_some_and(|given| is_subtype(given, expected));
    }
    let given = given.strip_suffix('!').unwrap_or(given);
    match (given.strip_prefix('['), expected.strip_prefix('[')) {
        (Some(given), Some(expected)) => {
            let inner = |list: &str| list.strip_suffix(']').unwrap_or(list).to_owned();
            is_subtype(&inner(given), &inner(expected))
        }
        (None, None) => given == expected,
        _ => false,
    }
}

/// Reports fragments that contain themselves: each cycle once.
fn check_cycles(fragments: &HashMap<&str, &DefinitionUse<'_>>, errors: &mut Vec<QueryError>) {
    let mut names: Vec<&str> = fragments.keys().copied().collect();
    names.sort_by_key(|name| (fragments[name].position.line, fragments[name].position.column));
    let mut done = HashSet::new();
    for start in names {
        // The current path: fragments, each with the index of its next spread.
        let mut path: Vec<(&str, usize)> = vec![(start, 0)];
        if !done.insert(start) {
            continue;
        }
        while let Some((name, next)) = path.last_mut() {
            let Some(&(spread, position)) = fragments[*name].spreads.get(*next) else {
                path.pop();
                continue;
            };
            *next += 1;
            if let Some(first) = path.iter().position(|(name, _)| *name == spread) {
                let via: Vec<String> =
                    path[first + 1..].iter().map(|(name, _)| format!("\"{name}\"")).collect();
                let via =
                    if via.is_empty() { String::new() } else { format!(" via {}", via.join(", ")) };
                let message = format!("Cannot spread fragment \"{spread}\" within itself{via}.");
                errors.push(QueryError::invalid(message, &[position]));
            } else if fragments.contains_key(spread) && done.insert(spread) {
                path.push((spread, 0));
            }
        }
    }
}
