//! Validates a document against the types of a schema.
//!
//! Rules and messages are those of the reference implementation, so that tools and people recognize
//! them. `variables` has the rules on variables and on the use of fragments. [`super::plan`] finds
//! conflicting fields when it merges them.

mod variables;

use std::collections::HashSet;

use async_graphql::{
    Name, Pos, Positioned,
    parser::types::{
        BaseType, Directive, ExecutableDocument, Field, OperationDefinition, OperationType,
        Selection, SelectionSet, Type,
    },
};
use async_graphql_value::Value;

use self::variables::DefinitionUse;
use super::{
    error::QueryError,
    input,
    model::{Model, NamedType, QUERY, type_name},
};

/// Locations of directives, as messages name them.
const FIELD: &str = "FIELD";
const FRAGMENT_SPREAD: &str = "FRAGMENT_SPREAD";
const INLINE_FRAGMENT: &str = "INLINE_FRAGMENT";
/// Directives that only a schema may contain.
const SCHEMA_DIRECTIVES: [&str; 3] = ["deprecated", "specifiedBy", "oneOf"];

/// Returns all errors of a document, ordered by position.
pub fn validate(model: &Model, document: &ExecutableDocument) -> Vec<QueryError> {
    let mut errors = Vec::new();
    let mut definitions = Vec::new();
    for (name, operation) in document.operations.iter() {
        let mut validator = Validator::new(model, document, &mut errors);
        validator.operation(operation);
        definitions.push(DefinitionUse {
            name: name.map(Name::as_str),
            position: operation.pos,
            operation: Some(&operation.node),
            uses: validator.uses,
            spreads: validator.spreads,
        });
    }
    for (name, fragment) in &document.fragments {
        let mut validator = Validator::new(model, document, &mut errors);
        validator.directives(&fragment.node.directives, "FRAGMENT_DEFINITION");
        let type_condition = &fragment.node.type_condition.node.on;
        let object = validator.type_condition(type_condition, Some(name));
        validator.selection_set(&fragment.node.selection_set.node, object);
        definitions.push(DefinitionUse {
            name: Some(name),
            position: fragment.pos,
            operation: None,
            uses: validator.uses,
            spreads: validator.spreads,
        });
    }
    variables::check(model, document, &definitions, &mut errors);
    errors.sort_by_key(|error| {
        error.locations.first().map_or((0, 0), |position| (position.line, position.column))
    });
    errors.dedup();
    errors
}

/// A use of a variable.
struct VariableUse<'d> {
    name: &'d str,
    position: Pos,
    /// The type expected there; none where it is unknown.
    expected: Option<String>,
}

/// Validates one operation or fragment.
struct Validator<'a, 'd> {
    model: &'a Model,
    document: &'d ExecutableDocument,
    errors: &'a mut Vec<QueryError>,
    uses: Vec<VariableUse<'d>>,
    spreads: Vec<(&'d str, Pos)>,
}

impl<'a, 'd> Validator<'a, 'd> {
    fn new(
        model: &'a Model,
        document: &'d ExecutableDocument,
        errors: &'a mut Vec<QueryError>,
    ) -> Self {
        Self { model, document, errors, uses: Vec::new(), spreads: Vec::new() }
    }

    fn error(&mut self, message: String, position: Pos) {
        self.errors.push(QueryError::invalid(message, &[position]));
    }

    fn operation(&mut self, operation: &'d Positioned<OperationDefinition>) {
        let (position, operation) = (operation.pos, &operation.node);
        let kind = match operation.ty {
            OperationType::Query => "QUERY",
            OperationType::Mutation => "MUTATION",
            OperationType::Subscription => "SUBSCRIPTION",
        };
        if operation.ty != OperationType::Query {
            let kind = kind.to_lowercase();
            self.error(format!("Schema is not configured to execute {kind} operation."), position);
            return;
        }
        self.directives(&operation.directives, kind);
        let mut names = HashSet::new();
        for definition in &operation.variable_definitions {
            let name = &definition.node.name.node;
            if !names.insert(name) {
                let message = format!("There can be only one variable named \"${name}\".");
                self.error(message, definition.pos);
            }
            self.variable_type(name, &definition.node.var_type);
            self.directives(&definition.node.directives, "VARIABLE_DEFINITION");
            if let Some(default) = &definition.node.default_value {
                let expected = definition.node.var_type.node.to_string();
                self.literal(&default.node.clone().into_value(), default.pos, &expected);
            }
        }
        self.selection_set(&operation.selection_set.node, Some(QUERY));
    }

    fn variable_type(&mut self, name: &Name, expected: &'d Positioned<Type>) {
        let mut inner = &expected.node;
        let named = loop {
            match &inner.base {
                BaseType::List(list) => inner = list,
                BaseType::Named(named) => break named,
            }
        };
        let message = match self.model.find(named) {
            None => format!("Unknown type \"{named}\"."),
            Some(NamedType::Object(_)) => {
                format!("Variable \"${name}\" cannot be non-input type \"{}\".", expected.node)
            }
            Some(NamedType::Scalar(_) | NamedType::Input(_)) => return,
        };
        self.error(message, expected.pos);
    }

    /// Finds the type of a type condition.
    fn type_condition(&mut self, on: &Positioned<Name>, fragment: Option<&str>) -> Option<usize> {
        match self.model.find(&on.node) {
            Some(NamedType::Object(index)) => Some(index),
            Some(NamedType::Scalar(_) | NamedType::Input(_)) => {
                let fragment = fragment.map_or(String::new(), |name| format!(" \"{name}\""));
                let message = format!(
                    "Fragment{fragment} cannot condition on non composite type \"{}\".",
                    on.node
                );
                self.error(message, on.pos);
                None
            }
            None => {
                self.error(format!("Unknown type \"{}\".", on.node), on.pos);
                None
            }
        }
    }

    /// Validates a selection set on an object type; `object` is none if the type is unknown.
    fn selection_set(&mut self, selection_set: &'d SelectionSet, object: Option<usize>) {
        for selection in &selection_set.items {
            match &selection.node {
                Selection::Field(field) => {
                    self.directives(&field.node.directives, FIELD);
                    self.field(field, object);
                }
                Selection::FragmentSpread(spread) => {
                    self.directives(&spread.node.directives, FRAGMENT_SPREAD);
                    let name = &spread.node.fragment_name.node;
                    self.spreads.push((name, spread.pos));
                    if let Some(fragment) = self.document.fragments.get(name) {
                        let on = &fragment.node.type_condition.node.on.node;
                        self.check_spread(object, on, &format!(" \"{name}\""), spread.pos);
                    } else {
                        let position = spread.node.fragment_name.pos;
                        self.error(format!("Unknown fragment \"{name}\"."), position);
                    }
                }
                Selection::InlineFragment(fragment) => {
                    self.directives(&fragment.node.directives, INLINE_FRAGMENT);
                    let inside = match &fragment.node.type_condition {
                        None => object,
                        Some(type_condition) => {
                            let on = &type_condition.node.on;
                            let inside = self.type_condition(on, None);
                            self.check_spread(object, &on.node, "", fragment.pos);
                            inside
                        }
                    };
                    self.selection_set(&fragment.node.selection_set.node, inside);
                }
            }
        }
    }

    /// Rejects a fragment whose type differs from the type of the selection set that contains it.
    fn check_spread(&mut self, object: Option<usize>, on: &str, fragment: &str, position: Pos) {
        let (Some(object), Some(NamedType::Object(other))) = (object, self.model.find(on)) else {
            return;
        };
        if object != other {
            let message = format!(
                "Fragment{fragment} cannot be spread here as objects of type \"{}\" can never be of \
                 type \"{on}\".",
                self.model.object(object).name
            );
            self.error(message, position);
        }
    }

    fn field(&mut self, field: &'d Positioned<Field>, object: Option<usize>) {
        let (position, name) = (field.pos, field.node.name.node.as_str());
        let inner = &field.node.selection_set.node;
        let Some(object) = object else {
            self.unknown_arguments(&field.node.arguments);
            self.selection_set(inner, None);
            return;
        };
        let parent = self.model.object(object);
        let (expected, declared) = match (name, parent.fields.get(name)) {
            ("__typename", _) => ("String!", Vec::new()),
            ("__schema", _) if object == QUERY => ("__Schema!", Vec::new()),
            ("__type", _) if object == QUERY => ("__Type", vec![("name", "String!")]),
            (_, Some(known)) => {
                let declared = known.arguments.iter();
                let declared = declared.map(|(name, argument)| (&**name, &*argument.text));
                (&*known.type_ref.text, declared.collect())
            }
            (_, None) => {
                let message = format!("Cannot query field \"{name}\" on type \"{}\".", parent.name);
                if object == QUERY {
                    self.errors.push(QueryError::unknown_root(message, position));
                } else {
                    self.error(message, position);
                }
                self.unknown_arguments(&field.node.arguments);
                self.selection_set(inner, None);
                return;
            }
        };
        self.arguments(&field.node.arguments, &declared, &parent.name, position, name);
        if let Some(NamedType::Object(object)) = self.model.find(type_name(expected)) {
            if inner.items.is_empty() {
                let message = format!(
                    "Field \"{name}\" of type \"{expected}\" must have a selection of subfields. Did \
                     you mean \"{name} {{ ... }}\"?"
                );
                self.error(message, position);
            }
            self.selection_set(inner, Some(object));
        } else if !inner.items.is_empty() {
            let message = format!(
                "Field \"{name}\" must not have a selection since type \"{expected}\" has no subfields."
            );
            self.error(message, position);
        }
    }

    /// Records variables in arguments of unknown fields and directives.
    fn unknown_arguments(&mut self, arguments: &'d [(Positioned<Name>, Positioned<Value>)]) {
        for (_, value) in arguments {
            self.variables(&value.node, value.pos, None);
        }
    }

    /// Checks the arguments of a field or, with an empty parent, of a directive.
    fn arguments(
        &mut self,
        given: &'d [(Positioned<Name>, Positioned<Value>)],
        declared: &[(&str, &str)],
        parent: &str,
        position: Pos,
        owner: &str,
    ) {
        let mut names = HashSet::new();
        for (name, value) in given {
            if !names.insert(&name.node) {
                let message = format!("There can be only one argument named \"{}\".", name.node);
                self.error(message, name.pos);
            }
            let Some((_, expected)) =
                declared.iter().find(|(known, _)| *known == name.node.as_str())
            else {
                let target = match owner.strip_prefix('@') {
                    Some(_) => format!("directive \"{owner}\""),
                    None => format!("field \"{parent}.{owner}\""),
                };
                self.error(format!("Unknown argument \"{}\" on {target}.", name.node), name.pos);
                self.variables(&value.node, value.pos, None);
                continue;
            };
            self.literal(&value.node, value.pos, expected);
            self.variables(&value.node, value.pos, Some(expected));
        }
        for (name, expected) in declared.iter().filter(|(_, expected)| expected.ends_with('!')) {
            if !given.iter().any(|(known, _)| known.node.as_str() == *name) {
                let owner = match owner.strip_prefix('@') {
                    Some(_) => format!("Directive \"{owner}\""),
                    None => format!("Field \"{owner}\""),
                };
                let message = format!(
                    "{owner} argument \"{name}\" of type \"{expected}\" is required, but it was not \
                     provided."
                );
                self.error(message, position);
            }
        }
    }

    fn literal(&mut self, literal: &Value, position: Pos, expected: &str) {
        let mut reasons = Vec::new();
        input::check_literal(self.model, literal, expected, &mut reasons);
        for reason in reasons {
            self.error(reason, position);
        }
    }

    /// Records the variables of a value.
    fn variables(&mut self, value: &'d Value, position: Pos, expected: Option<&str>) {
        match value {
            Value::Variable(name) => {
                self.uses.push(VariableUse {
                    name,
                    position,
                    expected: expected.map(str::to_owned),
                });
            }
            Value::List(items) => {
                let inner = expected.and_then(|expected| {
                    expected.trim_end_matches('!').strip_prefix('[')?.strip_suffix(']')
                });
                for item in items {
                    self.variables(item, position, inner);
                }
            }
            Value::Object(fields) => {
                let input =
                    expected.and_then(|expected| self.model.find(expected.trim_end_matches('!')));
                for (name, value) in fields {
                    let expected = match input {
                        Some(NamedType::Input(index)) => {
                            let field = self.model.inputs[index].fields.get(name.as_str());
                            field.map(|field| field.type_ref.text.as_str())
                        }
                        _ => None,
                    };
                    self.variables(value, position, expected);
                }
            }
            _ => {}
        }
    }

    fn directives(&mut self, directives: &'d [Positioned<Directive>], location: &str) {
        let mut names = HashSet::new();
        for directive in directives {
            let (position, name) = (directive.pos, directive.node.name.node.as_str());
            let is_executable = name == "skip" || name == "include";
            if !is_executable && !SCHEMA_DIRECTIVES.contains(&name) {
                self.error(format!("Unknown directive \"@{name}\"."), position);
                self.unknown_arguments(&directive.node.arguments);
                continue;
            }
            if !is_executable || ![FIELD, FRAGMENT_SPREAD, INLINE_FRAGMENT].contains(&location) {
                self.error(
                    format!("Directive \"@{name}\" may not be used on {location}."),
                    position,
                );
            }
            if !names.insert(name) {
                let message =
                    format!("The directive \"@{name}\" can only be used once at this location.");
                self.error(message, position);
            }
            if is_executable {
                let declared = [("if", "Boolean!")];
                let owner = format!("@{name}");
                self.arguments(&directive.node.arguments, &declared, "", position, &owner);
            } else {
                self.unknown_arguments(&directive.node.arguments);
            }
        }
    }
}
