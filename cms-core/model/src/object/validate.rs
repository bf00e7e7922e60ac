//! Whether an object is valid: the faults of contract 3.6, all of them in one pass.
//!
//! | found by | faults |
//! |---|---|
//! | the schema of a property ([`crate::content_type::schema`]) | type, required, length, counts, range, additional properties |
//! | the patterns of a property ([`crate::pattern`]) | pattern |
//! | the rules of a property ([`super::rules`]) | options, links, blocks, uniqueness within a list |
//! | this file | required and undeclared properties, ids, read-only properties |
//!
//! What only the store knows (a used id or value, a missing link target) is not here.

use jsonschema::{
    ValidationError,
    error::{TypeKind, ValidationErrorKind as Kind},
    paths::LocationSegment,
};
use serde_json::{Map, Value};

use super::{path::ValuePath, rules};
use crate::{
    content_type::{
        model::Property,
        schema::{CompiledSchema, LINK_TYPES, Patterns, PropertySchema},
    },
    error::FieldErrors,
    ids::{ID_MAX_CHARS, ID_PATTERN, has_only_id_characters},
    message::{self, NOT_VALID},
    pattern::StepBudget,
};

/// Keys of an object that are no properties.
const OWN_KEYS: [&str; 2] = ["id", "internal"];

/// Checks the properties of an object; `id` and `internal` are passed over.
///
/// `schema` was compiled from the same properties. Without a budget, patterns are not checked.
pub fn validate(
    properties: &[Property],
    schema: &CompiledSchema,
    object: &Map<String, Value>,
    mut budget: Option<&mut StepBudget>,
) -> FieldErrors {
    let mut errors = FieldErrors::default();
    let mut declared = 0;
    for (property, schema) in properties.iter().zip(&schema.properties) {
        let Some(value) = object.get(&property.name) else {
            if property.required {
                errors.add(&property.name, message::required(&property.name));
            }
            continue;
        };
        declared += 1;
        validate_value(property, schema, value, budget.as_deref_mut(), &mut errors);
    }
    if declared < object.len() {
        for key in object.keys().map(String::as_str) {
            let is_declared = properties.iter().any(|property| property.name == key);
            if !is_declared && !OWN_KEYS.contains(&key) {
                errors.add(key, message::undeclared(key));
            }
        }
    }
    errors
}

/// Checks the value of one property, but no patterns without a budget.
pub fn validate_value(
    property: &Property,
    schema: &PropertySchema,
    value: &Value,
    budget: Option<&mut StepBudget>,
    errors: &mut FieldErrors,
) {
    validate_schema(property, schema, value, errors);
    let root = ValuePath::Root;
    let path = root.key(&property.name);
    if let Some(budget) = budget {
        validate_patterns(schema.patterns(), value, &path, budget, errors);
    }
    rules::check(property, value, &path, errors);
}

/// Checks the texts of a value against the patterns at their places.
pub fn validate_patterns(
    patterns: &Patterns,
    value: &Value,
    path: &ValuePath,
    budget: &mut StepBudget,
    errors: &mut FieldErrors,
) {
    match value {
        Value::String(text) => {
            if let Some(pattern) = &patterns.own
                && let Some(compiled) = pattern.compiled()
                && !compiled.is_match(text, budget)
            {
                errors.add(path.to_string(), no_match(&pattern.text));
            }
        }
        Value::Array(items) => {
            if let Some(patterns) = &patterns.items {
                for (index, item) in items.iter().enumerate() {
                    validate_patterns(patterns, item, &path.index(index), budget, errors);
                }
            }
        }
        Value::Object(object) => {
            for (name, patterns) in &patterns.properties {
                if let Some(value) = object.get(name) {
                    validate_patterns(patterns, value, &path.key(name), budget, errors);
                }
            }
        }
        _ => {}
    }
}

/// Checks the value of one property against no more than a schema.
pub fn validate_schema(
    property: &Property,
    schema: &PropertySchema,
    value: &Value,
    errors: &mut FieldErrors,
) {
    if !schema.validator().is_valid(value) {
        add_schema_errors(property, schema, value, errors);
    }
}

/// Checks an object id (contract 1.7).
pub fn validate_id(id: &Value) -> FieldErrors {
    let mut errors = FieldErrors::default();
    let Some(id) = id.as_str() else {
        errors.add("id", message::wrong_type(id, "string"));
        return errors;
    };
    if id.is_empty() {
        errors.add("id", message::too_short(1));
    }
    if id.chars().count() > ID_MAX_CHARS {
        errors.add("id", message::too_long(ID_MAX_CHARS));
    }
    if !has_only_id_characters(id) {
        errors.add("id", no_match(ID_PATTERN));
    }
    errors
}

/// Checks that no read-only property changes: it is set when the object is made, or never.
pub fn validate_readonly(
    properties: &[Property],
    stored: &Map<String, Value>,
    new: &Map<String, Value>,
) -> FieldErrors {
    let mut errors = FieldErrors::default();
    for Property { name, .. } in properties.iter().filter(|property| property.readonly) {
        if new.contains_key(name) && new.get(name) != stored.get(name) {
            errors.add(name, "This field is read only");
        }
    }
    errors
}

/// Adds what a schema finds wrong with a value, in the contract's order of messages.
#[cold]
fn add_schema_errors(
    property: &Property,
    schema: &PropertySchema,
    value: &Value,
    errors: &mut FieldErrors,
) {
    let mut found: Vec<ValidationError> = schema.validator().iter_errors(value).collect();
    found.sort_by_key(|error| rank(error.kind()));
    for error in found {
        let path = spell(&property.name, &error);
        match error.kind() {
            Kind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                errors.add(format!("{path}.{name}"), message::required(name));
            }
            Kind::AdditionalProperties { unexpected } => {
                for name in unexpected {
                    errors.add(format!("{path}.{name}"), message::undeclared(name));
                }
            }
            kind => errors.add(path, sentence(kind, &error)),
        }
    }
}

/// Several messages of one field come in this order.
fn rank(kind: &Kind) -> u8 {
    match kind {
        Kind::Required { .. } | Kind::Type { .. } => 0,
        Kind::MinLength { .. } => 1,
        _ => 2,
    }
}

fn sentence(kind: &Kind, error: &ValidationError) -> String {
    match kind {
        Kind::Type { kind: TypeKind::Single(expected) } => {
            message::wrong_type(error.instance(), expected.as_str())
        }
        Kind::MinLength { limit } => message::too_short(*limit),
        Kind::MinItems { limit } => {
            format!("There must be a minimum of {limit} items in the array")
        }
        Kind::MaxItems { limit } => {
            format!("There must be a maximum of {limit} items in the array")
        }
        Kind::Minimum { limit } => format!("Must have a minimum value of {limit}"),
        Kind::Maximum { limit } => format!("Must have a maximum value of {limit}"),
        // The one enumeration in a compiled schema is the type of a link.
        Kind::Enum { .. } => message::not_in_enumeration(&LINK_TYPES),
        _ => NOT_VALID.to_owned(),
    }
}

fn no_match(pattern: &str) -> String {
    format!("Does not match the regex pattern {pattern}")
}

/// Spells the place of an error: `list[0].name`.
fn spell(property: &str, error: &ValidationError) -> String {
    error.instance_path().segments().fold(property.to_owned(), |path, segment| match segment {
        LocationSegment::Property(name) => format!("{path}.{name}"),
        LocationSegment::Index(index) => format!("{path}[{index}]"),
    })
}

#[cfg(test)]
mod tests;
