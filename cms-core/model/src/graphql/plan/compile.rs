//! Compiles a valid query to a [`Plan`].
//!
//! This module makes the checks that need merged fields: conflicts between fields, and depth.

use async_graphql::{
    Name, Pos, Positioned,
    parser::types::{
        Directive, ExecutableDocument, Field as QueryField, FragmentDefinition,
        OperationDefinition, Selection as AstSelection, SelectionSet,
    },
};
use async_graphql_value::Value;
use indexmap::IndexMap;
use serde_json::Value as Json;

use super::{
    Action, ConnectionField, HasNextPage, Keyed, KeyedField, Plan, PlannedRelation, Root,
    SelectedField, Selection,
};
use crate::{
    graphql::{
        complexity,
        error::QueryError,
        input::{self, Values},
        model::{Field, FieldSource, Model, NamedType, QUERY},
    },
    limits,
};

/// Compiles an operation.
pub fn compile(
    model: &Model,
    document: &ExecutableDocument,
    operation: &OperationDefinition,
    variables: &Values,
) -> Result<Plan, QueryError> {
    let argument_budget = limits::MAX_GRAPHQL_ARGUMENT_BYTES;
    let mut compiler =
        Compiler { model, document, variables, relations: Vec::new(), argument_budget };
    let fields = compiler.collect(&[&operation.selection_set.node])?;
    if fields.len() > limits::MAX_GRAPHQL_ROOT_FIELDS {
        let limit = limits::MAX_GRAPHQL_ROOT_FIELDS;
        return Err(QueryError::too_complex(format!(
            "Query has too many root fields, limit: {limit}"
        )));
    }
    let mut roots = Vec::with_capacity(fields.len());
    for (key, fields) in fields {
        let action = compiler.root(&fields)?;
        roots.push(Root { key: key.to_owned(), action });
    }
    Ok(Plan { roots, relations: compiler.relations })
}

/// The depth at one place of a query: number of nested selections, and of nested relations.
#[derive(Clone, Copy, Default)]
struct Nesting {
    depth: usize,
    relations: usize,
}

impl Nesting {
    fn deeper(self) -> Result<Self, QueryError> {
        let nesting = Self { depth: self.depth + 1, ..self };
        if nesting.depth > limits::MAX_GRAPHQL_DEPTH {
            Err(complexity::too_deep())
        } else {
            Ok(nesting)
        }
    }

    fn in_relation(self) -> Result<Self, QueryError> {
        let limit = limits::MAX_GRAPHQL_RELATION_DEPTH;
        if self.relations == limit {
            let message = format!("Query follows too many relations, limit: {limit}");
            return Err(QueryError::too_complex(message));
        }
        Ok(Self { relations: self.relations + 1, ..self })
    }
}

/// Fields by response key. The fields of one key are merged: they become one field with all selections.
type Collected<'d> = IndexMap<&'d str, Vec<&'d QueryField>>;

struct Compiler<'a> {
    model: &'a Model,
    document: &'a ExecutableDocument,
    variables: &'a Values,
    relations: Vec<PlannedRelation>,
    /// Remaining number of bytes for the arguments of root fields.
    argument_budget: usize,
}

impl<'a> Compiler<'a> {
    /// Expands fragments and merges fields of one response key.
    fn collect(&self, sets: &[&'a SelectionSet]) -> Result<Collected<'a>, QueryError> {
        let mut found = Found::default();
        for set in sets {
            self.collect_set(set, true, &mut found)?;
        }
        // `add` checks skipped fields for conflicts too, so they are removed only here.
        Ok(found
            .into_iter()
            .map(|(key, fields)| {
                let included = fields.into_iter().filter(|(_, _, is_included)| *is_included);
                (key, included.map(|(field, ..)| field).collect::<Vec<_>>())
            })
            .filter(|(_, fields)| !fields.is_empty())
            .collect())
    }

    fn collect_set(
        &self,
        set: &'a SelectionSet,
        is_included: bool,
        found: &mut Found<'a>,
    ) -> Result<(), QueryError> {
        for selection in &set.items {
            let is_included = is_included && self.is_included(selection.node.directives());
            match &selection.node {
                AstSelection::Field(field) => add(found, field, is_included)?,
                AstSelection::InlineFragment(fragment) => {
                    self.collect_set(&fragment.node.selection_set.node, is_included, found)?;
                }
                AstSelection::FragmentSpread(spread) => {
                    if let Some(fragment) = self.fragment(&spread.node.fragment_name.node) {
                        self.collect_set(&fragment.selection_set.node, is_included, found)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn fragment(&self, name: &Name) -> Option<&'a FragmentDefinition> {
        self.document.fragments.get(name).map(|fragment| &fragment.node)
    }

    fn is_included(&self, directives: &[Positioned<Directive>]) -> bool {
        directives.iter().all(|directive| {
            let holds = directive.node.get_argument("if");
            let holds = holds.is_some_and(|value| input::condition(value, self.variables));
            match directive.node.name.node.as_str() {
                "skip" => !holds,
                "include" => holds,
                _ => true,
            }
        })
    }

    /// Collects the subfields of fields of one response key.
    fn subfields(&self, fields: &[&'a QueryField]) -> Result<Collected<'a>, QueryError> {
        let sets: Vec<&SelectionSet> =
            fields.iter().map(|field| &field.selection_set.node).collect();
        self.collect(&sets)
    }

    fn root(&mut self, fields: &[&'a QueryField]) -> Result<Action, QueryError> {
        let first = fields[0];
        let field = match first.name.node.as_str() {
            "__typename" => return Ok(Action::TypeName),
            "__schema" | "__type" => return Ok(Action::Introspection),
            name => self.field(QUERY, name),
        };
        let size: usize = first
            .arguments
            .iter()
            .map(|(_, value)| input::text_size(&value.node, self.variables))
            .sum();
        self.argument_budget = self.argument_budget.checked_sub(size).ok_or_else(|| {
            let limit = limits::MAX_GRAPHQL_ARGUMENT_BYTES / 1024;
            QueryError::too_complex(format!("Arguments are too long, limit: {limit} KiB"))
        })?;
        let mut arguments = input::arguments(first, &field.arguments, self.variables);
        self.replace_names_by_paths(field, &mut arguments);
        let inside = self.subfields(fields)?;
        let nesting = Nesting::default().deeper()?;
        let object = object_of(field);
        Ok(match &field.source {
            FieldSource::One(content_type) => Action::One {
                content_type: content_type.clone(),
                arguments,
                selection: self.selection(inside, object, nesting)?,
            },
            FieldSource::List(content_type) => Action::List {
                content_type: content_type.clone(),
                arguments,
                selection: self.selection(inside, object, nesting)?,
            },
            FieldSource::Connection(content_type) => Action::Connection {
                content_type: content_type.clone(),
                arguments,
                parts: self.connection(inside, object, nesting)?,
            },
            _ => unreachable!("root fields have only content and introspection sources"),
        })
    }

    /// Replaces the field names of a filter by property paths.
    fn replace_names_by_paths(&self, field: &Field, arguments: &mut Values) {
        for (name, argument) in &field.arguments {
            if let NamedType::Input(index) = argument.named
                && let Some(Json::Object(filter)) = arguments.get_mut(name)
            {
                let fields = &self.model.inputs[index].fields;
                let path = |name: &String| fields.get(name).map(|field| field.path.clone());
                let given = std::mem::take(filter).into_iter();
                *filter = given.filter_map(|(name, value)| Some((path(&name)?, value))).collect();
            }
        }
    }

    /// The field of a type, which exists because the query is valid.
    fn field(&self, object: usize, name: &str) -> &'a Field {
        self.model.object(object).fields.get(name).expect("the query was found valid")
    }

    /// Plans the fields of an object type; `plan` plans those that the type declares.
    fn fields<T>(
        &mut self,
        collected: Collected<'a>,
        object: usize,
        mut plan: impl FnMut(&mut Self, &'a Field, &[&'a QueryField]) -> Result<T, QueryError>,
    ) -> Result<Vec<Keyed<T>>, QueryError> {
        let fields = collected.into_iter().map(|(key, fields)| {
            let field = match fields[0].name.node.as_str() {
                "__typename" => {
                    let name = &self.model.object(object).name;
                    KeyedField::TypeName(format!("\"{name}\"").into_bytes())
                }
                name => KeyedField::Declared(plan(self, self.field(object, name), &fields)?),
            };
            // GraphQL names need no escapes in JSON.
            Ok(Keyed { key: format!("\"{key}\":").into_bytes(), field })
        });
        fields.collect()
    }

    fn connection(
        &mut self,
        collected: Collected<'a>,
        object: usize,
        nesting: Nesting,
    ) -> Result<Vec<Keyed<ConnectionField>>, QueryError> {
        let inside = nesting.deeper()?;
        self.fields(collected, object, |compiler, field, merged| {
            Ok(match field.source {
                FieldSource::Edges => {
                    let edges = compiler.subfields(merged)?;
                    let edges =
                        compiler.fields(edges, object_of(field), |compiler, node, merged| {
                            let selected = compiler.subfields(merged)?;
                            compiler.selection(selected, object_of(node), nesting)
                        });
                    ConnectionField::Edges(edges?)
                }
                FieldSource::PageInfo => {
                    let info = compiler.subfields(merged)?;
                    inside.deeper()?;
                    let info = compiler.fields(info, object_of(field), |_, _, _| Ok(HasNextPage));
                    ConnectionField::PageInfo(info?)
                }
                _ => ConnectionField::TotalCount,
            })
        })
    }

    fn selection(
        &mut self,
        collected: Collected<'a>,
        object: usize,
        nesting: Nesting,
    ) -> Result<Selection, QueryError> {
        let nesting = nesting.deeper()?;
        let mut members = Vec::new();
        let fields = self.fields(collected, object, |compiler, field, merged| {
            compiler.selected_field(field, merged, nesting, &mut members)
        })?;
        Ok(Selection { fields, members })
    }

    fn selected_field(
        &mut self,
        field: &'a Field,
        merged: &[&'a QueryField],
        nesting: Nesting,
        members: &mut Vec<String>,
    ) -> Result<SelectedField, QueryError> {
        Ok(match &field.source {
            FieldSource::Id => SelectedField::Id,
            FieldSource::Internal => {
                nesting.deeper()?;
                let inside = self.subfields(merged)?;
                let fields =
                    self.fields(inside, object_of(field), |_, field, _| match field.source {
                        FieldSource::InternalField(field) => Ok(field),
                        _ => unreachable!("`internal` has no other fields"),
                    });
                SelectedField::Internal(fields?)
            }
            FieldSource::Member { name, shape } => {
                let inner = match field.type_ref.named {
                    NamedType::Object(inner) => {
                        self.selection(self.subfields(merged)?, inner, nesting)?
                    }
                    NamedType::Scalar(_) | NamedType::Input(_) => Selection::default(),
                };
                SelectedField::Member {
                    member: member_index(members, name),
                    shape: *shape,
                    required: field.type_ref.is_required(),
                    inner,
                }
            }
            FieldSource::Relation { name, target } => {
                let inside = self.subfields(merged)?;
                let selection = self.selection(inside, object_of(field), nesting.in_relation()?)?;
                let (content_type, level) = (target.clone(), nesting.relations);
                self.relations.push(PlannedRelation { content_type, selection, level });
                SelectedField::Relation {
                    member: member_index(members, name),
                    relation: self.relations.len() - 1,
                }
            }
            _ => unreachable!("the other sources are not of content"),
        })
    }
}

/// Fields by response key: each with its position, and whether it is included.
type Found<'d> = IndexMap<&'d str, Vec<(&'d QueryField, Pos, bool)>>;

/// Adds a field to the fields of its response key. All of them must have the same name and arguments.
fn add<'d>(
    found: &mut Found<'d>,
    field: &'d Positioned<QueryField>,
    is_included: bool,
) -> Result<(), QueryError> {
    let (field, position) = (&field.node, field.pos);
    let key = field.response_key().node.as_str();
    let others = found.entry(key).or_default();
    if let Some((other, other_position, _)) = others.first() {
        let (one, two) = (&other.name.node, &field.name.node);
        let reason = if one != two {
            format!("\"{one}\" and \"{two}\" are different fields")
        } else if have_same_arguments(&other.arguments, &field.arguments) {
            others.push((field, position, is_included));
            return Ok(());
        } else {
            "they have differing arguments".to_owned()
        };
        let message = format!(
            "Fields \"{key}\" conflict because {reason}. Use different aliases on the fields to \
             fetch both if this was intentional."
        );
        return Err(QueryError::invalid(message, &[*other_position, position]));
    }
    others.push((field, position, is_included));
    Ok(())
}

/// Whether two fields have the same arguments, in any order.
fn have_same_arguments(
    one: &[(Positioned<Name>, Positioned<Value>)],
    two: &[(Positioned<Name>, Positioned<Value>)],
) -> bool {
    let find = |name: &Name| two.iter().find(|(other, _)| other.node == *name);
    one.len() == two.len()
        && one.iter().all(|(name, value)| {
            find(&name.node).is_some_and(|(_, other)| other.node == value.node)
        })
}

/// The object type of a field, which has one because the query is valid.
fn object_of(field: &Field) -> usize {
    match field.type_ref.named {
        NamedType::Object(object) => object,
        NamedType::Scalar(_) | NamedType::Input(_) => unreachable!("the query was found valid"),
    }
}

/// Returns the index of a name in `members`, after adding the name if it is missing.
fn member_index(members: &mut Vec<String>, name: &str) -> usize {
    let known = members.iter().position(|member| member == name);
    known.unwrap_or_else(|| {
        members.push(name.to_owned());
        members.len() - 1
    })
}
