//! What a query may cost to look at, told before it is looked at closely (contract 8.5).
//!
//! The text is measured before it is parsed, so that the parser cannot be exhausted; the document
//! before it is judged, without ever putting a fragment in its place: a few of them, each used
//! twice by the next, would stand for more selections than there is memory. How deep the content is
//! that a query selects depends on types; [`super::plan`] counts that.

use std::collections::HashMap;

use async_graphql::{
    Positioned,
    parser::types::{Directive, ExecutableDocument, Selection, SelectionSet},
};
use async_graphql_value::Value;

use super::fault::Fault;
use crate::limits;

/// Longest chain of selections within each other, fragments included.
const HEIGHT: usize = 3 * limits::MAX_GRAPHQL_BRACKET_DEPTH;
/// Lists that lead from types to types; those within each other multiply.
const MULTIPLYING: [&str; 4] = ["fields", "interfaces", "possibleTypes", "inputFields"];
/// The other lists of the schema.
const LISTS: [&str; 4] = ["types", "directives", "enumValues", "args"];

/// Refuses a text that is too long or nested too deep.
pub fn check_text(query: &str) -> Result<(), Fault> {
    if query.len() > limits::MAX_GRAPHQL_QUERY_BYTES {
        let limit = limits::MAX_GRAPHQL_QUERY_BYTES / 1024;
        return Err(Fault::too_complex(format!("Query is too long, limit: {limit} KiB")));
    }
    if nesting(query.as_bytes()) > limits::MAX_GRAPHQL_BRACKET_DEPTH {
        return Err(too_deep());
    }
    Ok(())
}

pub fn too_deep() -> Fault {
    Fault::too_complex(format!("Query is nested too deep, limit: {}", limits::MAX_GRAPHQL_DEPTH))
}

/// The deepest brackets of a text, outside strings and comments.
fn nesting(text: &[u8]) -> usize {
    let (mut depth, mut deepest, mut at) = (0_usize, 0, 0);
    while at < text.len() {
        match text[at] {
            b'{' | b'[' | b'(' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            b'#' => at += text[at..].iter().take_while(|b| !matches!(b, b'\n' | b'\r')).count(),
            b'"' => {
                at += string_length(&text[at..]);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    deepest
}

/// Length of the string that a text begins with; one without an end goes up to the line's.
fn string_length(text: &[u8]) -> usize {
    let is_block = text.starts_with(b"\"\"\"");
    let mut at = if is_block { 3 } else { 1 };
    while at < text.len() {
        let rest = &text[at..];
        if is_block && rest.starts_with(b"\"\"\"") {
            return at + 3;
        }
        match rest[0] {
            b'\\' if is_block && rest.starts_with(b"\\\"\"\"") => at += 4,
            b'\\' if !is_block => at += 2,
            b'"' if !is_block => return at + 1,
            b'\n' | b'\r' if !is_block => return at,
            _ => at += 1,
        }
    }
    text.len()
}

/// What a selection stands for when fragments are put in their places.
#[derive(Clone, Copy, Default)]
struct Cost {
    /// Selections, arguments, values, directives.
    parts: usize,
    /// Selections within each other.
    height: usize,
    /// Lists of the schema.
    lists: usize,
    /// Lists that lead from types to types, within each other.
    multiplying: usize,
    /// As above, but only below a field that asks for the schema.
    introspection: (usize, usize),
}

impl Cost {
    /// Two selections beside each other.
    fn and(self, other: Self) -> Self {
        let (lists, multiplying) = self.introspection;
        Self {
            parts: self.parts.saturating_add(other.parts),
            height: self.height.max(other.height),
            lists: self.lists.saturating_add(other.lists),
            multiplying: self.multiplying.max(other.multiplying),
            introspection: (
                lists.saturating_add(other.introspection.0),
                multiplying.max(other.introspection.1),
            ),
        }
    }
}

/// Refuses a document that stands for too much.
pub fn check_document(document: &ExecutableDocument) -> Result<(), Fault> {
    let mut measure = Measure { document, fragments: HashMap::new() };
    let mut total = Cost::default();
    for (_, operation) in document.operations.iter() {
        let operation = &operation.node;
        let directives = parts_of(&operation.directives);
        total.parts += directives + operation.variable_definitions.len();
        total = total.and(measure.set(&operation.selection_set.node, 1)?);
        within(total)?;
    }
    for (name, fragment) in &document.fragments {
        total.parts += parts_of(&fragment.node.directives);
        total = total.and(Cost { introspection: (0, 0), ..measure.fragment(name, 1)? });
        within(total)?;
    }
    Ok(())
}

fn within(cost: Cost) -> Result<(), Fault> {
    let (lists, multiplying) = cost.introspection;
    if multiplying > limits::MAX_INTROSPECTION_LIST_DEPTH || lists > limits::MAX_INTROSPECTION_LISTS
    {
        return Err(Fault::too_complex("Maximum introspection depth exceeded"));
    }
    if cost.parts > limits::MAX_GRAPHQL_SELECTIONS {
        let limit = limits::MAX_GRAPHQL_SELECTIONS;
        return Err(Fault::too_complex(format!("Query selects too much, limit: {limit}")));
    }
    Ok(())
}

struct Measure<'d> {
    document: &'d ExecutableDocument,
    /// None while a fragment is being measured: it contains itself, which is refused later.
    fragments: HashMap<&'d str, Option<Cost>>,
}

impl<'d> Measure<'d> {
    fn set(&mut self, set: &'d SelectionSet, level: usize) -> Result<Cost, Fault> {
        let mut sum = Cost::default();
        for selection in &set.items {
            if level > HEIGHT {
                return Err(too_deep());
            }
            let mut cost = match &selection.node {
                Selection::Field(field) => {
                    let mut cost = self.set(&field.node.selection_set.node, level + 1)?;
                    let arguments = field.node.arguments.iter();
                    cost.parts +=
                        arguments.map(|(_, value)| 1 + values_of(&value.node)).sum::<usize>();
                    match field.node.name.node.as_str() {
                        "__schema" | "__type" => {
                            cost.introspection = (cost.lists, cost.multiplying);
                        }
                        name if MULTIPLYING.contains(&name) => {
                            cost.lists += 1;
                            cost.multiplying += 1;
                        }
                        name if LISTS.contains(&name) => cost.lists += 1,
                        _ => {}
                    }
                    cost
                }
                Selection::InlineFragment(fragment) => {
                    self.set(&fragment.node.selection_set.node, level + 1)?
                }
                Selection::FragmentSpread(spread) => {
                    self.fragment(&spread.node.fragment_name.node, level + 1)?
                }
            };
            cost.parts = cost.parts.saturating_add(1 + parts_of(selection.node.directives()));
            cost.height += 1;
            if level + cost.height > HEIGHT {
                return Err(too_deep());
            }
            sum = sum.and(cost);
        }
        Ok(sum)
    }

    fn fragment(&mut self, name: &'d str, level: usize) -> Result<Cost, Fault> {
        if let Some(known) = self.fragments.get(name) {
            return Ok(known.unwrap_or_default());
        }
        let Some(fragment) = self.document.fragments.get(name) else { return Ok(Cost::default()) };
        self.fragments.insert(name, None);
        let cost = self.set(&fragment.node.selection_set.node, level)?;
        self.fragments.insert(name, Some(cost));
        Ok(cost)
    }
}

fn parts_of(directives: &[Positioned<Directive>]) -> usize {
    directives.iter().map(|directive| 1 + directive.node.arguments.len()).sum()
}

/// Values inside a value.
fn values_of(value: &Value) -> usize {
    match value {
        Value::List(items) => items.iter().map(|item| 1 + values_of(item)).sum(),
        Value::Object(fields) => fields.values().map(|field| 1 + values_of(field)).sum(),
        _ => 0,
    }
}
