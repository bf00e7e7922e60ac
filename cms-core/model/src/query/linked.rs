//! Conditions on linked objects: through relations (`author.country`) and on incoming links
//! (`internal.incoming`), see docs/reference/filters.md#linked-objects
//!
//! Resolves paths with the content types and the rights of the caller; `cms-store` translates the
//! result to SQL.

use std::{collections::HashSet, sync::Arc};

use super::{
    ListQuery,
    eval::ConditionMatcher,
    filter::{Condition, Operator, error},
    path::{PathRoot, PathStep, PropertyPath},
};
use crate::{
    auth::scope::Access,
    content_type::{
        catalog::{Catalog, CompiledType},
        model::{InputType, Property},
    },
    context::Caller,
    error::FieldErrors,
    limits, message,
    object::view::View,
};

/// A condition on the objects at the other end of the links from or to the objects of a list (here called the listed
/// objects).
#[derive(Clone, Debug)]
pub struct LinkedCondition {
    /// An object matches if none of its linked objects does.
    pub negated: bool,
    pub links: Links,
}

/// The links of a condition, and the objects at their other end.
#[derive(Clone, Debug)]
pub enum Links {
    /// Links at `path` of the listed objects, to the objects in `targets`.
    Outgoing { path: PropertyPath, targets: Vec<LinkTargets> },
    /// Links to the listed objects, from the objects in `sources`. `address` is a condition on the paths of the linking
    /// objects (`internal.incoming[*].dataUrl`).
    Incoming {
        sources: Vec<LinkSources>,
        address: Option<Condition>,
        /// Whether `sources` is complete: it has every type with relations, each with all its relations.
        is_complete: bool,
    },
}

/// Objects of one type that links lead to.
#[derive(Clone, Debug)]
pub struct LinkTargets {
    pub content_type: Arc<CompiledType>,
    pub query: ListQuery,
}

/// Objects of one type whose links lead to the listed objects.
#[derive(Clone, Debug)]
pub struct LinkSources {
    pub content_type: Arc<CompiledType>,
    pub view: View,
    /// The relations whose links the condition covers.
    pub paths: Vec<PropertyPath>,
    /// The type also has relations that are not in `paths`.
    pub is_partial: bool,
}

/// Decides what a request sees of the objects at the other end of a link.
#[derive(Clone, Copy)]
pub struct LinkScope<'a> {
    pub catalog: &'a Catalog,
    pub caller: &'a Caller,
    pub view: fn(&Caller, &CompiledType) -> View,
}

impl LinkScope<'_> {
    fn types(&self) -> impl Iterator<Item = &Arc<CompiledType>> {
        let may_read =
            |content_type: &&Arc<CompiledType>| self.caller.may(Access::READ, content_type.name());
        self.catalog.types().iter().filter(may_read)
    }

    /// The types that links of a relation lead to.
    fn targets(&self, relation: &Property) -> impl Iterator<Item = &Arc<CompiledType>> {
        let target = relation.relation.as_ref().and_then(|relation| relation.target.as_deref());
        self.types()
            .filter(move |content_type| target.is_none_or(|target| target == content_type.name()))
    }

    /// Returns whether a type with these properties declares the path of a filter.
    pub fn declares(&self, path: &PropertyPath, text: &str, properties: &[Property]) -> bool {
        let Some((relation, rest)) = through_relation(path, properties) else {
            return path.is_declared(text, properties);
        };
        self.targets(relation).any(|target| {
            let path = PropertyPath::from_steps(rest.to_vec(), &target.properties);
            self.declares(&path, "", &target.properties)
        })
    }
}

/// Adds conditions to a query. Conditions on linked objects are resolved. In the others, paths to
/// secret header values of webhooks are masked if the view masks these values.
///
/// # Errors
/// Paths through too many relations, or to too many types.
pub fn add_conditions(
    query: &mut ListQuery,
    conditions: Vec<Condition>,
    (properties, view): (&[Property], View),
    scope: LinkScope<'_>,
) -> Result<(), FieldErrors> {
    let mut resolver = Resolver { scope, targets: 0 };
    for condition in conditions {
        resolver.add(query, condition, (properties, view), 0)?;
    }
    Ok(())
}

struct Resolver<'a> {
    scope: LinkScope<'a>,
    /// Number of types that paths through relations lead to.
    targets: usize,
}

impl Resolver<'_> {
    fn add(
        &mut self,
        query: &mut ListQuery,
        mut condition: Condition,
        (properties, view): (&[Property], View),
        relations: usize,
    ) -> Result<(), FieldErrors> {
        if condition.path.root == PathRoot::Incoming {
            return self.add_incoming(query, condition);
        }
        let Some((relation, rest)) = through_relation(&condition.path, properties) else {
            condition.path = view.mask_path(condition.path);
            query.conditions.push(condition);
            return Ok(());
        };
        if relations == limits::MAX_FILTER_RELATIONS {
            let limit = limits::MAX_FILTER_RELATIONS;
            return Err(error(format!("Too many relations in a path, limit: {limit}")));
        }
        let (operator, negated) = positive(condition.operator);
        let mut targets = Vec::new();
        let scope = self.scope;
        for content_type in scope.targets(relation) {
            let path = PropertyPath::from_steps(rest.to_vec(), &content_type.properties);
            if path.root == PathRoot::Unknown {
                continue;
            }
            self.targets += 1;
            if self.targets > limits::MAX_FILTER_TARGETS {
                let limit = limits::MAX_FILTER_TARGETS;
                return Err(error(format!("Too many content types in paths, limit: {limit}")));
            }
            let view = (scope.view)(scope.caller, content_type);
            let dates = operator.is_ordered() && path.is_date(&content_type.properties);
            let condition = Condition { path, operator, dates, ..condition.clone() };
            let mut query = ListQuery {
                edition: view.edition,
                only_approved: view.only_approved,
                ..ListQuery::default()
            };
            let properties = &content_type.properties;
            self.add(&mut query, condition, (properties, view), relations + 1)?;
            targets.push(LinkTargets { content_type: Arc::clone(content_type), query });
        }
        let steps = condition.path.steps.len() - rest.len();
        condition.path.steps.truncate(steps);
        let links = Links::Outgoing { path: condition.path, targets };
        query.linked.push(LinkedCondition { negated, links });
        Ok(())
    }

    fn add_incoming(&self, query: &mut ListQuery, condition: Condition) -> Result<(), FieldErrors> {
        let member = match condition.path.steps.as_slice() {
            [] | [PathStep::Each] => IncomingMember::Link,
            [PathStep::Key(name)] | [PathStep::Each, PathStep::Key(name)] => match name.as_str() {
                "contentType" => IncomingMember::ContentType,
                "property" => IncomingMember::Property,
                "dataUrl" => IncomingMember::DataUrl,
                _ => IncomingMember::Unknown,
            },
            _ => IncomingMember::Unknown,
        };
        let (operator, negated) = positive(condition.operator);
        if member == IncomingMember::Link && operator != Operator::NotEmpty {
            let name = condition.operator.as_str();
            return Err(error(message::unknown_filter_type(name, "internal.incoming")));
        }
        // A link has one value per member. So `overlaps` is `equals` with several values, and
        // `includes` becomes one condition per value: different links may match them.
        let (operator, values) = match operator {
            Operator::Overlaps => (Operator::Equals, vec![condition.values]),
            // An empty `includes` matches every non-empty list, so every object with incoming links.
            Operator::Includes if condition.values.is_empty() => {
                (Operator::NotEmpty, vec![condition.values])
            }
            Operator::Includes => {
                let mut texts = HashSet::new();
                let mut values = condition.values;
                values.retain(|value| texts.insert(value.to_string()));
                if values.len() > limits::MAX_FILTER_INCOMING_VALUES {
                    let limit = limits::MAX_FILTER_INCOMING_VALUES;
                    let message = format!(
                        "Too many values of includes for internal.incoming, limit: {limit}"
                    );
                    return Err(error(message));
                }
                (Operator::Equals, values.into_iter().map(|value| vec![value]).collect())
            }
            operator => (operator, vec![condition.values]),
        };
        for values in values {
            // A placeholder: the values are compared with the `member` of links, not with this path.
            let path = PathRoot::Id.into();
            let upper = condition.upper.clone();
            let single = Condition { path, operator, values, upper, dates: false };
            let links = self.incoming(single, member);
            query.linked.push(LinkedCondition { negated, links });
        }
        Ok(())
    }

    fn incoming(&self, condition: Condition, member: IncomingMember) -> Links {
        let matcher = ConditionMatcher::new(&condition);
        let matches = |text: &str| matcher.matches(Some(&text.into()));
        let mut sources = Vec::new();
        for content_type in self.scope.types() {
            let mut relations = relations(&content_type.properties);
            let all = relations.len();
            match member {
                IncomingMember::ContentType if !matches(content_type.name()) => continue,
                IncomingMember::Property => relations.retain(|(name, _)| matches(name)),
                IncomingMember::Unknown => continue,
                _ => {}
            }
            if !relations.is_empty() {
                sources.push(LinkSources {
                    content_type: Arc::clone(content_type),
                    view: (self.scope.view)(self.scope.caller, content_type),
                    is_partial: relations.len() < all,
                    paths: relations.into_iter().map(|(_, path)| path).collect(),
                });
            }
        }
        let has_address =
            member == IncomingMember::DataUrl && condition.operator != Operator::NotEmpty;
        let of_types = self.scope.catalog.types().iter();
        let linking =
            of_types.filter(|content_type| content_type.properties.iter().any(Property::may_link));
        let is_complete =
            sources.len() == linking.count() && sources.iter().all(|source| !source.is_partial);
        let address = has_address.then_some(condition);
        Links::Incoming { sources, address, is_complete }
    }
}

/// What a path below `internal.incoming` names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IncomingMember {
    Link,
    ContentType,
    Property,
    DataUrl,
    Unknown,
}

/// The relation that a path leads through, and the steps from its targets.
fn through_relation<'p>(
    path: &'p PropertyPath,
    properties: &'p [Property],
) -> Option<(&'p Property, &'p [PathStep])> {
    let (relation, steps) = path.relation(properties)?;
    let rest = &path.steps[steps..];
    match rest.first()? {
        PathStep::Key(name) if relation.input_type.fixed_members().contains(&name.as_str()) => None,
        _ => Some((relation, rest)),
    }
}

/// The relations of a type: their dotted names, such as `rows.author`, and their paths.
fn relations(properties: &[Property]) -> Vec<(String, PropertyPath)> {
    fn collect(
        properties: &[Property],
        names: &[&str],
        steps: &[PathStep],
        found: &mut Vec<(String, PropertyPath)>,
    ) {
        for property in properties.iter().filter(|property| property.may_link()) {
            let names = [names, &[property.name.as_str()]].concat();
            let mut steps = [steps, &[PathStep::Key(property.name.clone())]].concat();
            if property.relation.is_some() {
                let root = PathRoot::Property(names[0].to_owned());
                found.push((names.join("."), PropertyPath { root, steps: steps[1..].to_vec() }));
            }
            if property.input_type == InputType::Object {
                steps.push(PathStep::Each);
            }
            collect(&property.nested, &names, &steps, found);
        }
    }
    let mut found = Vec::new();
    collect(properties, &[], &[], &mut found);
    found
}

/// Returns the positive form of an operator, which is evaluated on objects at the other end of a link, and whether
/// the operator is negative: then the listed object must have no link to an object that matches the positive form.
fn positive(operator: Operator) -> (Operator, bool) {
    match operator {
        Operator::Empty => (Operator::NotEmpty, true),
        other => other.negates().map_or((other, false), |positive| (positive, true)),
    }
}
