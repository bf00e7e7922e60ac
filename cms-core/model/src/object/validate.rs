//! Validates objects, see docs/reference/objects.md#validation-messages
//!
//! | validated by | errors |
//! |---|---|
//! | the schema of a property ([`crate::content_type::schema`]) | type, required, length, counts, range, additional properties |
//! | the patterns of a property ([`crate::pattern`]) | pattern |
//! | the rules of a property ([`super::rules`]) | options, links, blocks, uniqueness within a list |
//! | this module | required and undeclared properties, ids, read-only properties |
//!
//! The services check what needs storage: used ids and values, missing link targets.

use jsonschema::{
    ValidationError,
    error::{TypeKind, ValidationErrorKind as ErrorKind},
    paths::LocationSegment,
};
use serde_json::{Map, Value};

use super::{path::ValuePath, rules};
use crate::{
    content_type::{
        model::Property,
        schema::{LINK_TYPES, Patterns, PropertySchema},
    },
    error::FieldErrors,
    ids::{ID_PATTERN, MAX_ID_CHARS, has_only_id_characters},
    message::{self, NOT_VALID},
    pattern::StepBudget,
    query::value::canonical,
};

/// Keys of an object that are not properties.
const SYSTEM_KEYS: [&str; 2] = ["id", "internal"];

/// Validates the properties of an object, not `id` and `internal`.
///
/// `schemas` must be compiled from the same properties. Without a budget, patterns are not checked.
pub fn validate(
    properties: &[Property],
    schemas: &[PropertySchema],
    object: &Map<String, Value>,
    mut budget: Option<&mut StepBudget>,
) -> FieldErrors {
    let mut errors = FieldErrors::default();
    let mut declared = 0;
    for (property, schema) in properties.iter().zip(schemas) {
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
            if !is_declared && !SYSTEM_KEYS.contains(&key) {
                errors.add(key, message::undeclared(key));
            }
        }
    }
    errors
}

/// Validates the value of one property, without patterns if there is no budget.
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

/// Validates the texts in a value against their patterns.
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
                errors.add(path.to_string(), message::no_match(&pattern.text));
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

/// Validates the value of one property against a schema only.
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

/// Validates an object id, see docs/reference/objects.md#object-ids
pub fn validate_id(id: &Value) -> FieldErrors {
    let mut errors = FieldErrors::default();
    let Some(id) = id.as_str() else {
        errors.add("id", message::wrong_type(id, "string"));
        return errors;
    };
    errors.check_length("id", id, 1..=MAX_ID_CHARS);
    if !has_only_id_characters(id) {
        errors.add("id", message::no_match(ID_PATTERN));
    }
    errors
}

/// Checks that no read-only property changes after the object is created, see
/// docs/reference/objects.md#read-only-properties
pub fn validate_readonly(
    properties: &[Property],
    stored: &Map<String, Value>,
    new: &Map<String, Value>,
) -> FieldErrors {
    let mut errors = FieldErrors::default();
    for Property { name, .. } in properties.iter().filter(|property| property.readonly) {
        let (new, stored) = (new.get(name), stored.get(name));
        // Clients may write 5.0 as 5, and encode the id in a link.
        let is_equal = || new.map(canonical) == stored.map(canonical);
        if new.is_some() && new != stored && !is_equal() {
            errors.add(name, "This field is read only");
        }
    }
    errors
}

/// Adds the schema errors of a value, in the documented order of messages.
#[cold]
fn add_schema_errors(
    property: &Property,
    schema: &PropertySchema,
    value: &Value,
    errors: &mut FieldErrors,
) {
    let mut found: Vec<ValidationError> = schema.validator().iter_errors(value).collect();
    found.sort_by_key(|error| message_order(error.kind()));
    for error in found {
        let path = error_path(&property.name, &error);
        match error.kind() {
            ErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                errors.add(format!("{path}.{name}"), message::required(name));
            }
            ErrorKind::AdditionalProperties { unexpected } => {
                for name in unexpected {
                    errors.add(format!("{path}.{name}"), message::undeclared(name));
                }
            }
            kind => errors.add(path, error_message(kind, &error)),
        }
    }
}

/// Sort key of the messages of one property.
fn message_order(kind: &ErrorKind) -> u8 {
    match kind {
        ErrorKind::Required { .. } | ErrorKind::Type { .. } => 0,
        ErrorKind::MinLength { .. } | ErrorKind::MaxLength { .. } => 1,
        _ => 2,
    }
}

fn error_message(kind: &ErrorKind, error: &ValidationError) -> String {
    match kind {
        ErrorKind::Type { kind: TypeKind::Single(expected) } => {
            message::wrong_type(error.instance(), expected.as_str())
        }
        ErrorKind::MinLength { limit } => message::too_short(*limit),
        ErrorKind::MaxLength { limit } => message::too_long(limit),
        ErrorKind::MinItems { limit } => message::too_few(*limit),
        ErrorKind::MaxItems { limit } => message::too_many(limit),
        ErrorKind::Minimum { limit } => message::below_minimum(limit),
        ErrorKind::Maximum { limit } => message::above_maximum(limit),
        // The only enumeration in a compiled schema is the type of a link.
        ErrorKind::Enum { .. } => message::not_in_enumeration(&LINK_TYPES),
        _ => NOT_VALID.to_owned(),
    }
}

/// The path of an error: `list[0].name`.
fn error_path(property: &str, error: &ValidationError) -> String {
    error.instance_path().segments().fold(property.to_owned(), |path, segment| match segment {
        LocationSegment::Property(name) => format!("{path}.{name}"),
        LocationSegment::Index(index) => format!("{path}[{index}]"),
    })
}

#[cfg(test)]
mod tests;
