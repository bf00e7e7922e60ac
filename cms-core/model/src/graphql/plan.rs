//! What a query asks for, with fragments, aliases and variables out of the way: a tree that is
//! walked once per object.
//!
//! The query was found valid. What is left to find here depends on the whole of it: fields of one
//! name that are not the same, and selections that go too deep.

use async_graphql::{
    Name, Pos, Positioned,
    parser::types::{
        Directive, ExecutableDocument, Field as Asked, FragmentDefinition, OperationDefinition,
        Selection as Selected, SelectionSet,
    },
};
use async_graphql_value::Value;
use indexmap::IndexMap;
use serde_json::Value as Json;

use super::{
    bounds,
    fault::Fault,
    input::{self, Values},
    model::{Field, Model, Named, QUERY, Shape, Source},
};
use crate::{limits, query::path::InternalField};

/// What is to be done for one operation.
pub struct Plan {
    /// In the order of the answer.
    pub roots: Vec<Root>,
    /// Relations that are followed, each after the one that it stands in.
    pub relations: Vec<Relation>,
}

/// A field at the root: the key of its answer, and what that is.
pub struct Root {
    pub key: String,
    pub action: Action,
}

pub enum Action {
    TypeName,
    Introspection,
    One { content_type: String, arguments: Values, selection: Selection },
    List { content_type: String, arguments: Values, selection: Selection },
    Connection { content_type: String, arguments: Values, parts: Vec<Keyed<Part>> },
}

/// Something, and the JSON text of the key that it stands at, with the colon.
pub struct Keyed<T> {
    pub key: Vec<u8>,
    pub value: T,
}

/// A part of a connection.
pub enum Part {
    Edges(Vec<Keyed<Edge>>),
    PageInfo(Vec<Keyed<PageInfo>>),
    TotalCount,
    Text(Vec<u8>),
}

pub enum Edge {
    Node(Selection),
    Text(Vec<u8>),
}

pub enum PageInfo {
    HasNextPage,
    Text(Vec<u8>),
}

/// A relation that is followed.
pub struct Relation {
    pub content_type: String,
    pub selection: Selection,
    /// How many relations it stands in.
    pub level: usize,
}

/// What is selected of an object.
#[derive(Default)]
pub struct Selection {
    pub fields: Vec<Keyed<Picked>>,
    /// Names of the stored members that are needed; fields speak of their places here.
    pub members: Vec<String>,
}

pub enum Picked {
    /// JSON that is the same for all objects.
    Text(Vec<u8>),
    Id,
    Internal(Vec<Keyed<Internal>>),
    /// A stored value.
    Member {
        member: usize,
        shape: Shape,
        required: bool,
        inner: Selection,
    },
    /// Objects in the place of links.
    Relation {
        member: usize,
        relation: usize,
    },
}

pub enum Internal {
    Field(InternalField),
    Text(Vec<u8>),
}

/// Works out what an operation asks for.
pub fn compile(
    model: &Model,
    document: &ExecutableDocument,
    operation: &OperationDefinition,
    variables: &Values,
) -> Result<Plan, Fault> {
    let room = limits::MAX_GRAPHQL_ARGUMENT_BYTES;
    let mut compiler = Compiler { model, document, variables, relations: Vec::new(), room };
    let asked = compiler.collect(&[&operation.selection_set.node])?;
    if asked.len() > limits::MAX_GRAPHQL_ROOT_FIELDS {
        let limit = limits::MAX_GRAPHQL_ROOT_FIELDS;
        return Err(Fault::too_complex(format!("Query has too many root fields, limit: {limit}")));
    }
    let mut roots = Vec::with_capacity(asked.len());
    for (key, fields) in asked {
        let action = compiler.root(&fields)?;
        roots.push(Root { key: key.to_owned(), action });
    }
    Ok(Plan { roots, relations: compiler.relations })
}

/// Where a selection stands: selections, and relations, around it.
#[derive(Clone, Copy, Default)]
struct Place {
    depth: usize,
    relations: usize,
}

impl Place {
    fn deeper(self) -> Result<Self, Fault> {
        let place = Self { depth: self.depth + 1, ..self };
        if place.depth > limits::MAX_GRAPHQL_DEPTH { Err(bounds::too_deep()) } else { Ok(place) }
    }

    fn related(self) -> Result<Self, Fault> {
        let limit = limits::MAX_GRAPHQL_RELATION_DEPTH;
        if self.relations == limit {
            let message = format!("Query follows too many relations, limit: {limit}");
            return Err(Fault::too_complex(message));
        }
        Ok(Self { relations: self.relations + 1, ..self })
    }
}

/// Fields by the key of their answer; those of one key are one field with all their selections.
type Collected<'d> = IndexMap<&'d str, Vec<&'d Asked>>;

struct Compiler<'a> {
    model: &'a Model,
    document: &'a ExecutableDocument,
    variables: &'a Values,
    relations: Vec<Relation>,
    /// Bytes that arguments may still have.
    room: usize,
}

impl<'a> Compiler<'a> {
    /// Puts fragments in their places, and fields of one key together.
    fn collect(&self, sets: &[&'a SelectionSet]) -> Result<Collected<'a>, Fault> {
        let mut found = Found::default();
        for set in sets {
            self.collect_set(set, true, &mut found)?;
        }
        // What is skipped must agree with the rest, but is not there.
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
    ) -> Result<(), Fault> {
        for selection in &set.items {
            let is_included = is_included && self.is_included(selection.node.directives());
            match &selection.node {
                Selected::Field(field) => add(found, field, is_included)?,
                Selected::InlineFragment(fragment) => {
                    self.collect_set(&fragment.node.selection_set.node, is_included, found)?;
                }
                Selected::FragmentSpread(spread) => {
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

    /// Collects what is selected inside fields of one key.
    fn inside(&self, fields: &[&'a Asked]) -> Result<Collected<'a>, Fault> {
        let sets: Vec<&SelectionSet> =
            fields.iter().map(|field| &field.selection_set.node).collect();
        self.collect(&sets)
    }

    fn root(&mut self, fields: &[&'a Asked]) -> Result<Action, Fault> {
        let asked = fields[0];
        let field = match asked.name.node.as_str() {
            "__typename" => return Ok(Action::TypeName),
            "__schema" | "__type" => return Ok(Action::Introspection),
            name => self.field(QUERY, name),
        };
        let weight: usize = asked
            .arguments
            .iter()
            .map(|(_, value)| input::weight(&value.node, self.variables))
            .sum();
        self.room = self.room.checked_sub(weight).ok_or_else(|| {
            let limit = limits::MAX_GRAPHQL_ARGUMENT_BYTES / 1024;
            Fault::too_complex(format!("Arguments are too long, limit: {limit} KiB"))
        })?;
        let mut arguments = input::arguments(asked, &field.arguments, self.variables);
        self.name_paths(field, &mut arguments);
        let inside = self.inside(fields)?;
        let place = Place::default().deeper()?;
        let object = object_of(field);
        Ok(match &field.source {
            Source::One(content_type) => Action::One {
                content_type: content_type.clone(),
                arguments,
                selection: self.selection(inside, object, place)?,
            },
            Source::List(content_type) => Action::List {
                content_type: content_type.clone(),
                arguments,
                selection: self.selection(inside, object, place)?,
            },
            Source::Connection(content_type) => Action::Connection {
                content_type: content_type.clone(),
                arguments,
                parts: self.connection(inside, object, place)?,
            },
            _ => unreachable!("only roots of content stand at the root"),
        })
    }

    /// Puts paths of the content in the place of the names that a filter has for them.
    fn name_paths(&self, field: &Field, arguments: &mut Values) {
        for (name, argument) in &field.arguments {
            if let Named::Input(index) = argument.named
                && let Some(Json::Object(filter)) = arguments.get_mut(name)
            {
                let fields = &self.model.inputs[index].fields;
                let path = |name: &String| fields.get(name).map(|field| field.path.clone());
                let given = std::mem::take(filter).into_iter();
                *filter = given.filter_map(|(name, value)| Some((path(&name)?, value))).collect();
            }
        }
    }

    /// The field of a type that was found to have it.
    fn field(&self, object: usize, name: &str) -> &'a Field {
        self.model.object(object).fields.get(name).expect("the query was found valid")
    }

    fn type_name(&self, object: usize) -> Vec<u8> {
        json_text(&self.model.object(object).name)
    }

    fn connection(
        &mut self,
        asked: Collected<'a>,
        object: usize,
        place: Place,
    ) -> Result<Vec<Keyed<Part>>, Fault> {
        let mut parts = Vec::with_capacity(asked.len());
        for (key, fields) in asked {
            let name = fields[0].name.node.as_str();
            if name == "__typename" {
                place.deeper()?;
                parts.push(keyed(key, Part::Text(self.type_name(object))));
                continue;
            }
            let field = self.field(object, name);
            let part = match field.source {
                Source::Edges => {
                    let inside = self.inside(&fields)?;
                    Part::Edges(self.edges(inside, object_of(field), place)?)
                }
                Source::PageInfo => {
                    let (inside, info) = (self.inside(&fields)?, object_of(field));
                    place.deeper()?.deeper()?;
                    let parts = inside.into_iter().map(|(key, fields)| {
                        let is_name = fields[0].name.node.as_str() == "__typename";
                        let text = || PageInfo::Text(self.type_name(info));
                        keyed(key, if is_name { text() } else { PageInfo::HasNextPage })
                    });
                    Part::PageInfo(parts.collect())
                }
                _ => {
                    place.deeper()?;
                    Part::TotalCount
                }
            };
            parts.push(keyed(key, part));
        }
        Ok(parts)
    }

    fn edges(
        &mut self,
        asked: Collected<'a>,
        object: usize,
        place: Place,
    ) -> Result<Vec<Keyed<Edge>>, Fault> {
        let mut edges = Vec::with_capacity(asked.len());
        for (key, fields) in asked {
            let name = fields[0].name.node.as_str();
            let edge = if name == "__typename" {
                Edge::Text(self.type_name(object))
            } else {
                let node = object_of(self.field(object, name));
                Edge::Node(self.selection(self.inside(&fields)?, node, place)?)
            };
            edges.push(keyed(key, edge));
        }
        Ok(edges)
    }

    fn selection(
        &mut self,
        asked: Collected<'a>,
        object: usize,
        place: Place,
    ) -> Result<Selection, Fault> {
        let place = place.deeper()?;
        let mut selection = Selection::default();
        for (key, fields) in asked {
            let name = fields[0].name.node.as_str();
            let picked = if name == "__typename" {
                Picked::Text(self.type_name(object))
            } else {
                self.pick(self.field(object, name), &fields, place, &mut selection.members)?
            };
            selection.fields.push(keyed(key, picked));
        }
        Ok(selection)
    }

    fn pick(
        &mut self,
        field: &'a Field,
        asked: &[&'a Asked],
        place: Place,
        members: &mut Vec<String>,
    ) -> Result<Picked, Fault> {
        Ok(match &field.source {
            Source::Id => Picked::Id,
            Source::Internal => {
                place.deeper()?;
                let object = object_of(field);
                let inside = self.inside(asked)?.into_iter().map(|(key, fields)| {
                    let name = fields[0].name.node.as_str();
                    match self.model.object(object).fields.get(name).map(|field| &field.source) {
                        Some(Source::InternalField(field)) => keyed(key, Internal::Field(*field)),
                        _ => keyed(key, Internal::Text(self.type_name(object))),
                    }
                });
                Picked::Internal(inside.collect())
            }
            Source::Member { name, shape } => {
                let inner = match field.type_ref.named {
                    Named::Object(inner) => self.selection(self.inside(asked)?, inner, place)?,
                    Named::Scalar(_) | Named::Input(_) => Selection::default(),
                };
                Picked::Member {
                    member: member(members, name),
                    shape: *shape,
                    required: field.type_ref.is_required(),
                    inner,
                }
            }
            Source::Relation { name, target } => {
                let (inside, level) = (self.inside(asked)?, place.relations);
                let selection = self.selection(inside, object_of(field), place.related()?)?;
                self.relations.push(Relation { content_type: target.clone(), selection, level });
                Picked::Relation {
                    member: member(members, name),
                    relation: self.relations.len() - 1,
                }
            }
            _ => unreachable!("the other sources are not of content"),
        })
    }
}

/// Fields by key: each with its place, and whether it is not skipped.
type Found<'d> = IndexMap<&'d str, Vec<(&'d Asked, Pos, bool)>>;

/// Adds a field to those of its key, which must ask the same.
fn add<'d>(
    found: &mut Found<'d>,
    field: &'d Positioned<Asked>,
    is_included: bool,
) -> Result<(), Fault> {
    let (asked, place) = (&field.node, field.pos);
    let key = asked.response_key().node.as_str();
    let others = found.entry(key).or_default();
    if let Some((other, other_place, _)) = others.first() {
        let (one, two) = (&other.name.node, &asked.name.node);
        let reason = if one != two {
            format!("\"{one}\" and \"{two}\" are different fields")
        } else if are_same(&other.arguments, &asked.arguments) {
            others.push((asked, place, is_included));
            return Ok(());
        } else {
            "they have differing arguments".to_owned()
        };
        let message = format!(
            "Fields \"{key}\" conflict because {reason}. Use different aliases on the fields to \
             fetch both if this was intentional."
        );
        return Err(Fault::invalid(message, &[*other_place, place]));
    }
    others.push((asked, place, is_included));
    Ok(())
}

/// Tells whether two fields have the same arguments, in whatever order.
fn are_same(
    one: &[(Positioned<Name>, Positioned<Value>)],
    two: &[(Positioned<Name>, Positioned<Value>)],
) -> bool {
    let find = |name: &Name| two.iter().find(|(other, _)| other.node == *name);
    one.len() == two.len()
        && one.iter().all(|(name, value)| {
            find(&name.node).is_some_and(|(_, other)| other.node == value.node)
        })
}

/// The type of a field that is known to have fields of its own.
fn object_of(field: &Field) -> usize {
    match field.type_ref.named {
        Named::Object(object) => object,
        Named::Scalar(_) | Named::Input(_) => unreachable!("the query was found valid"),
    }
}

/// Place of a member among those needed.
fn member(members: &mut Vec<String>, name: &str) -> usize {
    let known = members.iter().position(|member| member == name);
    known.unwrap_or_else(|| {
        members.push(name.to_owned());
        members.len() - 1
    })
}

fn keyed<T>(key: &str, value: T) -> Keyed<T> {
    // Names of the language never need an escape.
    Keyed { key: format!("\"{key}\":").into_bytes(), value }
}

fn json_text(name: &str) -> Vec<u8> {
    format!("\"{name}\"").into_bytes()
}
