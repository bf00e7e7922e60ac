//! Limits on the complexity of a query (see docs/reference/limits.md#lists-search-and-graphql).
//!
//! The text is checked before it is parsed, so that the parser cannot be exhausted. The document is
//! checked before it is validated, without expanding fragments: a few of them, each used twice by
//! the next, would expand to more selections than memory holds. [`super::plan`] limits the depth of
//! selected content, which depends on types.

use std::collections::HashMap;

use async_graphql::{
    Positioned,
    parser::types::{Directive, ExecutableDocument, Selection, SelectionSet},
};
use async_graphql_value::Value;

use super::{error::QueryError, escapes::token_length};
use crate::limits;

/// Maximum depth of nested selections, fragments included.
const MAX_SELECTION_DEPTH: usize = 3 * limits::MAX_GRAPHQL_BRACKET_DEPTH;
/// Introspection lists that lead from types to types: when nested, their sizes multiply.
const RECURSIVE_LISTS: [&str; 4] = ["fields", "interfaces", "possibleTypes", "inputFields"];
/// The other lists of introspection.
const OTHER_LISTS: [&str; 4] = ["types", "directives", "enumValues", "args"];

/// Rejects a text that is too long or nested too deep.
pub fn check_text(query: &str) -> Result<(), QueryError> {
    if query.len() > limits::MAX_GRAPHQL_QUERY_BYTES {
        let limit = limits::MAX_GRAPHQL_QUERY_BYTES / 1024;
        return Err(QueryError::too_complex(format!("Query is too long, limit: {limit} KiB")));
    }
    if nesting(query) > limits::MAX_GRAPHQL_BRACKET_DEPTH {
        let limit = limits::MAX_GRAPHQL_BRACKET_DEPTH;
        return Err(QueryError::too_complex(format!("Too many nested brackets, limit: {limit}")));
    }
    Ok(())
}

pub fn too_deep() -> QueryError {
    QueryError::too_complex(format!(
        "Query is nested too deep, limit: {}",
        limits::MAX_GRAPHQL_DEPTH
    ))
}

/// The maximum nesting of brackets in a text, outside strings and comments.
fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest, mut rest) = (0_usize, 0, text);
    while let Some(start) = rest.find(['{', '[', '(', '}', ']', ')', '"', '#']) {
        rest = &rest[start..];
        let mut length = 1;
        match rest.as_bytes()[0] {
            b'{' | b'[' | b'(' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            _ => length = token_length(rest),
        }
        rest = &rest[length..];
    }
    deepest
}

/// The size of a selection with its fragments expanded.
#[derive(Clone, Copy, Default)]
struct Cost {
    /// Number of selections, arguments, values and directives.
    nodes: usize,
    /// Depth of nested selections.
    depth: usize,
    /// Number of introspection lists.
    lists: usize,
    /// Depth of nested [`RECURSIVE_LISTS`].
    recursive_lists: usize,
    /// `lists` and `recursive_lists`, counting only lists inside `__schema` and `__type`.
    introspection: (usize, usize),
}

impl Cost {
    /// The cost of two sibling selections.
    fn combined_with(self, other: Self) -> Self {
        let (lists, recursive_lists) = self.introspection;
        Self {
            nodes: self.nodes.saturating_add(other.nodes),
            depth: self.depth.max(other.depth),
            lists: self.lists.saturating_add(other.lists),
            recursive_lists: self.recursive_lists.max(other.recursive_lists),
            introspection: (
                lists.saturating_add(other.introspection.0),
                recursive_lists.max(other.introspection.1),
            ),
        }
    }
}

/// Rejects a document that exceeds a limit.
pub fn check_document(document: &ExecutableDocument) -> Result<(), QueryError> {
    let mut measure = Measure { document, fragments: HashMap::new() };
    let mut total = Cost::default();
    for (_, operation) in document.operations.iter() {
        let operation = &operation.node;
        let directives = directive_nodes(&operation.directives);
        total.nodes += directives + operation.variable_definitions.len();
        total = total.combined_with(measure.selection_set(&operation.selection_set.node, 1)?);
        check_cost(total)?;
    }
    for (name, fragment) in &document.fragments {
        total.nodes += directive_nodes(&fragment.node.directives);
        total = total.combined_with(Cost { introspection: (0, 0), ..measure.fragment(name, 1)? });
        check_cost(total)?;
    }
    Ok(())
}

fn check_cost(cost: Cost) -> Result<(), QueryError> {
    let (lists, recursive_lists) = cost.introspection;
    if recursive_lists > limits::MAX_INTROSPECTION_LIST_DEPTH
        || lists > limits::MAX_INTROSPECTION_LISTS
    {
        return Err(QueryError::too_complex("Maximum introspection depth exceeded"));
    }
    if cost.nodes > limits::MAX_GRAPHQL_SELECTIONS {
        let limit = limits::MAX_GRAPHQL_SELECTIONS;
        return Err(QueryError::too_complex(format!("Query selects too much, limit: {limit}")));
    }
    Ok(())
}

struct Measure<'d> {
    document: &'d ExecutableDocument,
    /// `None` while the fragment is being measured. A spread that finds `None` is inside a fragment
    /// that contains itself, which validation rejects.
    fragments: HashMap<&'d str, Option<Cost>>,
}

impl<'d> Measure<'d> {
    fn selection_set(
        &mut self,
        selection_set: &'d SelectionSet,
        level: usize,
    ) -> Result<Cost, QueryError> {
        let mut sum = Cost::default();
        for selection in &selection_set.items {
            if level > MAX_SELECTION_DEPTH {
                return Err(too_deep());
            }
            let mut cost = match &selection.node {
                Selection::Field(field) => {
                    let mut cost = self.selection_set(&field.node.selection_set.node, level + 1)?;
                    let arguments = field.node.arguments.iter();
                    cost.nodes +=
                        arguments.map(|(_, value)| 1 + nested_values(&value.node)).sum::<usize>();
                    match field.node.name.node.as_str() {
                        "__schema" | "__type" => {
                            cost.introspection = (cost.lists, cost.recursive_lists);
                        }
                        name if RECURSIVE_LISTS.contains(&name) => {
                            cost.lists += 1;
                            cost.recursive_lists += 1;
                        }
                        name if OTHER_LISTS.contains(&name) => cost.lists += 1,
                        _ => {}
                    }
                    cost
                }
                Selection::InlineFragment(fragment) => {
                    self.selection_set(&fragment.node.selection_set.node, level + 1)?
                }
                Selection::FragmentSpread(spread) => {
                    self.fragment(&spread.node.fragment_name.node, level + 1)?
                }
            };
            cost.nodes =
                cost.nodes.saturating_add(1 + directive_nodes(selection.node.directives()));
            cost.depth += 1;
            if level + cost.depth > MAX_SELECTION_DEPTH {
                return Err(too_deep());
            }
            sum = sum.combined_with(cost);
        }
        Ok(sum)
    }

    fn fragment(&mut self, name: &'d str, level: usize) -> Result<Cost, QueryError> {
        if let Some(measured) = self.fragments.get(name) {
            return Ok(measured.unwrap_or_default());
        }
        let Some(fragment) = self.document.fragments.get(name) else { return Ok(Cost::default()) };
        self.fragments.insert(name, None);
        let cost = self.selection_set(&fragment.node.selection_set.node, level)?;
        self.fragments.insert(name, Some(cost));
        Ok(cost)
    }
}

fn directive_nodes(directives: &[Positioned<Directive>]) -> usize {
    directives.iter().map(|directive| 1 + directive.node.arguments.len()).sum()
}

/// The number of values inside a value.
fn nested_values(value: &Value) -> usize {
    match value {
        Value::List(items) => items.iter().map(|item| 1 + nested_values(item)).sum(),
        Value::Object(fields) => fields.values().map(|field| 1 + nested_values(field)).sum(),
        _ => 0,
    }
}
