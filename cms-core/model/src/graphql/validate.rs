//! Whether a document is right by the types of a schema, and what is wrong otherwise.
//!
//! The rules and sentences are those of the reference implementation, so that tools and people know
//! what is meant. `variables` has the rules on variables and on fragments as a whole. That two
//! fields of one name are the same is found by [`super::plan`], which puts them together.

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

use super::{
    fault::Fault,
    input,
    model::{Model, Named, QUERY, TypeRef},
};

/// Where a directive stands, as messages call it.
const FIELD: &str = "FIELD";
const FRAGMENT_SPREAD: &str = "FRAGMENT_SPREAD";
const INLINE_FRAGMENT: &str = "INLINE_FRAGMENT";
/// Directives that exist, but for schemas only.
const SCHEMA_DIRECTIVES: [&str; 3] = ["deprecated", "specifiedBy", "oneOf"];

/// Returns all faults of a document, in the order in which they stand.
pub fn validate(model: &Model, document: &ExecutableDocument) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut parts = Vec::new();
    for (name, operation) in document.operations.iter() {
        let mut walk = Walk::new(model, document, &mut faults);
        walk.operation(operation);
        parts.push(variables::Part::operation(name, operation, walk.uses, walk.spreads));
    }
    for (name, fragment) in &document.fragments {
        let mut walk = Walk::new(model, document, &mut faults);
        walk.directives(&fragment.node.directives, "FRAGMENT_DEFINITION");
        let condition = &fragment.node.type_condition.node.on;
        let object = walk.condition(condition, Some(name));
        walk.set(&fragment.node.selection_set.node, object);
        parts.push(variables::Part::fragment(name, fragment.pos, walk.uses, walk.spreads));
    }
    variables::check(model, document, &parts, &mut faults);
    faults.sort_by_key(|fault| {
        fault.locations.first().map_or((0, 0), |place| (place.line, place.column))
    });
    faults.dedup();
    faults
}

/// A variable where it is used, and what is expected there.
struct Use<'d> {
    name: &'d str,
    place: Pos,
    /// None where nothing is known to be expected.
    expected: Option<String>,
}

/// Goes through one operation or fragment.
struct Walk<'a, 'd> {
    model: &'a Model,
    document: &'d ExecutableDocument,
    faults: &'a mut Vec<Fault>,
    uses: Vec<Use<'d>>,
    spreads: Vec<(&'d str, Pos)>,
}

impl<'a, 'd> Walk<'a, 'd> {
    fn new(model: &'a Model, document: &'d ExecutableDocument, faults: &'a mut Vec<Fault>) -> Self {
        Self { model, document, faults, uses: Vec::new(), spreads: Vec::new() }
    }

    fn fault(&mut self, message: String, place: Pos) {
        self.faults.push(Fault::invalid(message, &[place]));
    }

    fn operation(&mut self, operation: &'d Positioned<OperationDefinition>) {
        let (place, operation) = (operation.pos, &operation.node);
        let kind = match operation.ty {
            OperationType::Query => "QUERY",
            OperationType::Mutation => "MUTATION",
            OperationType::Subscription => "SUBSCRIPTION",
        };
        if operation.ty != OperationType::Query {
            let kind = kind.to_lowercase();
            self.fault(format!("Schema is not configured to execute {kind} operation."), place);
            return;
        }
        self.directives(&operation.directives, kind);
        let mut names = HashSet::new();
        for definition in &operation.variable_definitions {
            let name = &definition.node.name.node;
            if !names.insert(name) {
                let message = format!("There can be only one variable named \"${name}\".");
                self.fault(message, definition.pos);
            }
            self.variable_type(name, &definition.node.var_type);
            self.directives(&definition.node.directives, "VARIABLE_DEFINITION");
            if let Some(default) = &definition.node.default_value {
                let wanted = definition.node.var_type.node.to_string();
                self.literal(&default.node.clone().into_value(), default.pos, &wanted);
            }
        }
        self.set(&operation.selection_set.node, Some(QUERY));
    }

    fn variable_type(&mut self, name: &Name, wanted: &'d Positioned<Type>) {
        let mut inner = &wanted.node;
        let named = loop {
            match &inner.base {
                BaseType::List(list) => inner = list,
                BaseType::Named(named) => break named,
            }
        };
        let message = match self.model.find(named) {
            None => format!("Unknown type \"{named}\"."),
            Some(Named::Object(_)) => {
                format!("Variable \"${name}\" cannot be non-input type \"{}\".", wanted.node)
            }
            Some(Named::Scalar(_) | Named::Input(_)) => return,
        };
        self.fault(message, wanted.pos);
    }

    /// Finds the type that a fragment is for.
    fn condition(&mut self, on: &Positioned<Name>, fragment: Option<&str>) -> Option<usize> {
        match self.model.find(&on.node) {
            Some(Named::Object(index)) => Some(index),
            Some(Named::Scalar(_) | Named::Input(_)) => {
                let fragment = fragment.map_or(String::new(), |name| format!(" \"{name}\""));
                let message = format!(
                    "Fragment{fragment} cannot condition on non composite type \"{}\".",
                    on.node
                );
                self.fault(message, on.pos);
                None
            }
            None => {
                self.fault(format!("Unknown type \"{}\".", on.node), on.pos);
                None
            }
        }
    }

    /// Goes through the selections on an object; none when it is not known which.
    fn set(&mut self, set: &'d SelectionSet, object: Option<usize>) {
        for selection in &set.items {
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
                        self.fits(object, on, &format!(" \"{name}\""), spread.pos);
                    } else {
                        let place = spread.node.fragment_name.pos;
                        self.fault(format!("Unknown fragment \"{name}\"."), place);
                    }
                }
                Selection::InlineFragment(fragment) => {
                    self.directives(&fragment.node.directives, INLINE_FRAGMENT);
                    let inside = match &fragment.node.type_condition {
                        None => object,
                        Some(condition) => {
                            let on = &condition.node.on;
                            let inside = self.condition(on, None);
                            self.fits(object, &on.node, "", fragment.pos);
                            inside
                        }
                    };
                    self.set(&fragment.node.selection_set.node, inside);
                }
            }
        }
    }

    /// Refuses a fragment that is for another object than the one it is used on.
    fn fits(&mut self, object: Option<usize>, on: &str, fragment: &str, place: Pos) {
        let (Some(object), Some(Named::Object(other))) = (object, self.model.find(on)) else {
            return;
        };
        if object != other {
            let message = format!(
                "Fragment{fragment} cannot be spread here as objects of type \"{}\" can never be of \
                 type \"{on}\".",
                self.model.object(object).name
            );
            self.fault(message, place);
        }
    }

    fn field(&mut self, field: &'d Positioned<Field>, object: Option<usize>) {
        let (place, name) = (field.pos, field.node.name.node.as_str());
        let inner = &field.node.selection_set.node;
        let Some(object) = object else {
            self.unknown_arguments(&field.node);
            self.set(inner, None);
            return;
        };
        if name == "__typename" {
            let parent = &self.model.object(object).name;
            self.arguments(&field.node.arguments, &[], parent, place, "__typename");
            self.leaf("__typename", "String!", inner, place);
            return;
        }
        let parent = self.model.object(object);
        if object == QUERY && (name == "__schema" || name == "__type") {
            let (wanted, required) = match name {
                "__schema" => ("__Schema!", None),
                _ => ("__Type", Some(("name", "String!"))),
            };
            let required: Vec<(&str, &str)> = required.into_iter().collect();
            self.arguments(&field.node.arguments, &required, &parent.name, place, name);
            let Some(Named::Object(index)) = self.model.find(wanted.trim_end_matches('!')) else {
                return;
            };
            self.composite(name, wanted, inner, place, index);
            return;
        }
        let Some(known) = parent.fields.get(name) else {
            let message = format!("Cannot query field \"{name}\" on type \"{}\".", parent.name);
            if object == QUERY {
                self.faults.push(Fault::unknown_root(message, place));
            } else {
                self.fault(message, place);
            }
            self.unknown_arguments(&field.node);
            self.set(inner, None);
            return;
        };
        let declared: Vec<(&str, &str)> = known
            .arguments
            .iter()
            .map(|(name, wanted)| (name.as_str(), wanted.text.as_str()))
            .collect();
        self.arguments(&field.node.arguments, &declared, &parent.name, place, name);
        let TypeRef { named, text } = &known.type_ref;
        match named {
            Named::Object(index) => self.composite(name, text, inner, place, *index),
            Named::Scalar(_) | Named::Input(_) => self.leaf(name, text, inner, place),
        }
    }

    fn leaf(&mut self, name: &str, wanted: &str, inner: &'d SelectionSet, place: Pos) {
        if !inner.items.is_empty() {
            let message = format!(
                "Field \"{name}\" must not have a selection since type \"{wanted}\" has no subfields."
            );
            self.fault(message, place);
        }
    }

    fn composite(
        &mut self,
        name: &str,
        wanted: &str,
        inner: &'d SelectionSet,
        place: Pos,
        object: usize,
    ) {
        if inner.items.is_empty() {
            let message = format!(
                "Field \"{name}\" of type \"{wanted}\" must have a selection of subfields. Did you \
                 mean \"{name} {{ ... }}\"?"
            );
            self.fault(message, place);
        }
        self.set(inner, Some(object));
    }

    /// Notes variables in arguments of which nothing is known.
    fn unknown_arguments(&mut self, field: &'d Field) {
        for (_, value) in &field.arguments {
            self.variables(&value.node, value.pos, None);
        }
    }

    /// Checks the arguments of a field or, without a parent, of what stands for itself.
    fn arguments(
        &mut self,
        given: &'d [(Positioned<Name>, Positioned<Value>)],
        declared: &[(&str, &str)],
        parent: &str,
        place: Pos,
        owner: &str,
    ) {
        let mut names = HashSet::new();
        for (name, value) in given {
            if !names.insert(&name.node) {
                let message = format!("There can be only one argument named \"{}\".", name.node);
                self.fault(message, name.pos);
            }
            let Some((_, wanted)) = declared.iter().find(|(known, _)| *known == name.node.as_str())
            else {
                let of = match owner.strip_prefix('@') {
                    Some(_) => format!("directive \"{owner}\""),
                    None => format!("field \"{parent}.{owner}\""),
                };
                self.fault(format!("Unknown argument \"{}\" on {of}.", name.node), name.pos);
                self.variables(&value.node, value.pos, None);
                continue;
            };
            self.literal(&value.node, value.pos, wanted);
            self.variables(&value.node, value.pos, Some(wanted));
        }
        for (name, wanted) in declared.iter().filter(|(_, wanted)| wanted.ends_with('!')) {
            if !given.iter().any(|(known, _)| known.node.as_str() == *name) {
                let owner = match owner.strip_prefix('@') {
                    Some(_) => format!("Directive \"{owner}\""),
                    None => format!("Field \"{owner}\""),
                };
                let message = format!(
                    "{owner} argument \"{name}\" of type \"{wanted}\" is required, but it was not \
                     provided."
                );
                self.fault(message, place);
            }
        }
    }

    fn literal(&mut self, literal: &Value, place: Pos, wanted: &str) {
        let mut reasons = Vec::new();
        input::check_literal(self.model, literal, wanted, &mut reasons);
        for reason in reasons {
            self.fault(reason, place);
        }
    }

    /// Notes the variables of a value.
    fn variables(&mut self, value: &'d Value, place: Pos, wanted: Option<&str>) {
        match value {
            Value::Variable(name) => {
                self.uses.push(Use { name, place, expected: wanted.map(str::to_owned) });
            }
            Value::List(items) => {
                let inner = wanted.and_then(|wanted| {
                    wanted.trim_end_matches('!').strip_prefix('[')?.strip_suffix(']')
                });
                for item in items {
                    self.variables(item, place, inner);
                }
            }
            Value::Object(fields) => {
                let input = wanted.and_then(|wanted| self.model.find(wanted.trim_end_matches('!')));
                for (name, value) in fields {
                    let expected = match input {
                        Some(Named::Input(index)) => {
                            let field = self.model.inputs[index].fields.get(name.as_str());
                            field.map(|field| field.type_ref.text.as_str())
                        }
                        _ => None,
                    };
                    self.variables(value, place, expected);
                }
            }
            _ => {}
        }
    }

    fn directives(&mut self, directives: &'d [Positioned<Directive>], place: &str) {
        let mut names = HashSet::new();
        for directive in directives {
            let (at, name) = (directive.pos, directive.node.name.node.as_str());
            let is_ours = name == "skip" || name == "include";
            if !is_ours && !SCHEMA_DIRECTIVES.contains(&name) {
                self.fault(format!("Unknown directive \"@{name}\"."), at);
                self.unknown_directive(&directive.node);
                continue;
            }
            if !is_ours || ![FIELD, FRAGMENT_SPREAD, INLINE_FRAGMENT].contains(&place) {
                self.fault(format!("Directive \"@{name}\" may not be used on {place}."), at);
            }
            if !names.insert(name) {
                let message =
                    format!("The directive \"@{name}\" can only be used once at this location.");
                self.fault(message, at);
            }
            if is_ours {
                let declared = [("if", "Boolean!")];
                let owner = format!("@{name}");
                self.arguments(&directive.node.arguments, &declared, "", at, &owner);
            } else {
                self.unknown_directive(&directive.node);
            }
        }
    }

    fn unknown_directive(&mut self, directive: &'d Directive) {
        for (_, value) in &directive.arguments {
            self.variables(&value.node, value.pos, None);
        }
    }
}
