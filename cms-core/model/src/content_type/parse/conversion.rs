//! Validates `renamedFrom`, `convert` and `backfill`, by which a change keeps stored values, see
//! docs/reference/content-types.md#keep-values
//!
//! `renamedFrom` stays in the definition after the rename, so it may name a property that no longer
//! exists. A new rename that cannot move values is an error, because they would be lost.

use serde_json::{Map, Value};

use super::super::{
    convert::is_none_or_empty,
    diff,
    model::{CONFIGS_PATH, Definition, InputType, PARSE, Property},
    schema::PropertySchema,
};
use crate::{
    error::FieldErrors, limits, message::NOT_VALID, object::validate::validate_value,
    pattern::StepBudget, read::optional,
};

/// Validates one config on its own.
pub(super) fn check_config(
    name: &str,
    config: &Map<String, Value>,
    path: &str,
    errors: &mut FieldErrors,
) {
    if optional::<&str>(config, "renamedFrom", path, errors) == Some(name) {
        errors.add(format!("{path}.renamedFrom"), NOT_VALID);
    }
    if config.get("convert").is_some_and(|way| way != PARSE) {
        errors.add(format!("{path}.convert"), NOT_VALID);
    }
}

/// Validates renames against the stored definition, and backfill values against their properties.
pub(super) fn check(definition: &Definition, base: Option<&Definition>, errors: &mut FieldErrors) {
    let properties = definition.properties();
    let schemas = definition.own_schemas();
    check_backfills(&properties, schemas, CONFIGS_PATH, errors);
    if let Some(base) = base {
        check_renames(&properties, &base.properties(), CONFIGS_PATH, errors);
    }
}

fn check_backfills(properties: &[Property], schemas: &Value, path: &str, errors: &mut FieldErrors) {
    for property in properties {
        let stored = &schemas[property.name.as_str()];
        let path = format!("{path}.{}", property.name);
        if let Some(backfill) = &property.conversion.backfill {
            let mut found = FieldErrors::default();
            let bytes = backfill.to_string().len();
            let budget = &mut StepBudget::of_bytes(bytes);
            let schema = PropertySchema::of(property, stored);
            validate_value(property, &schema, backfill, Some(budget), &mut found);
            let is_too_large = bytes > limits::MAX_OBJECT_BYTES;
            let is_missing = property.required && is_none_or_empty(Some(backfill));
            if !found.is_empty() || is_missing || is_too_large {
                errors.add(format!("{path}.backfill"), NOT_VALID);
            }
        }
        let nested =
            if property.input_type == InputType::Object { &stored["items"] } else { stored };
        check_backfills(
            &property.nested,
            &nested["properties"],
            &property.nested_configs(&path),
            errors,
        );
    }
}

fn check_renames(
    properties: &[Property],
    stored: &[Property],
    path: &str,
    errors: &mut FieldErrors,
) {
    let is_in = |properties: &[Property], name: &str| properties.iter().any(|p| p.name == name);
    let mut claimed = Vec::new();
    for property in properties {
        let path = format!("{path}.{}", property.name);
        let before = stored.iter().find(|stored| stored.name == property.name);
        let renamed_from = property.conversion.renamed_from.as_deref();
        // A rename that the stored definition already has was carried out before.
        let is_new =
            before.is_none_or(|before| before.conversion.renamed_from.as_deref() != renamed_from);
        if let Some(name) = renamed_from.filter(|name| is_new && is_in(stored, name)) {
            let message = if is_in(properties, name) {
                Some(format!("Property name {name} is not removed"))
            } else if before.is_some() {
                Some(format!("Property name {} has values of its own", property.name))
            } else if claimed.contains(&name) {
                Some(format!("Property name {name} is renamed twice"))
            } else {
                claimed.push(name);
                None
            };
            if let Some(message) = message {
                errors.add(format!("{path}.renamedFrom"), message);
            }
        }
        if let Some(before) = diff::source(property, stored, properties) {
            check_renames(
                &property.nested,
                &before.nested,
                &property.nested_configs(&path),
                errors,
            );
        }
    }
}
