//! Validates the values that a definition offers for its properties: defaults and options, see
//! docs/reference/content-types.md#validation-errors
//!
//! Earlier versions stored defaults and options without validation. An error that the stored type
//! already has is not reported, so that other parts of the type can be changed.

use std::collections::HashSet;

use serde_json::Value;

use super::super::{
    defaults,
    model::{CONFIGS_PATH, Definition, InputType, Property},
    schema::PropertySchema,
    stored_level::StoredLevel,
};
use crate::{
    error::FieldErrors, message::DUPLICATES, object::validate::validate_value, pattern::StepBudget,
};

const SCHEMAS_PATH: &str = "schemaDefinition.allOf[1].properties";

pub(super) fn check(definition: &Definition, base: Option<&Definition>, errors: &mut FieldErrors) {
    // If this change switches `applyDefaults` on, stored errors are reported too: these defaults
    // were not used until now.
    let ignores_stored_errors =
        |base: &&Definition| base.applies_defaults() || !definition.applies_defaults();
    let stored = base.filter(ignores_stored_errors).map(errors_of).unwrap_or_default();
    for error in errors_of(definition) {
        if !stored.contains(&error) {
            errors.add(error.path, error.message);
        }
    }
}

/// An error of a value.
#[derive(PartialEq)]
struct ValueError<'a> {
    path: String,
    value: &'a Value,
    message: String,
}

fn errors_of(definition: &Definition) -> Vec<ValueError<'_>> {
    let (properties, level) = (definition.properties(), StoredLevel::of(definition));
    let mut found = Vec::new();
    collect(&properties, level, (SCHEMAS_PATH, CONFIGS_PATH), &mut found);
    found
}

fn collect<'a>(
    properties: &[Property],
    level: StoredLevel<'a>,
    (schemas_path, configs_path): (&str, &str),
    found: &mut Vec<ValueError<'a>>,
) {
    for property in properties {
        let name = property.name.as_str();
        let (schema, config) = (&level.schemas[name], &level.configs[name]);
        let schema_path = format!("{schemas_path}.{name}");
        let config_path = format!("{configs_path}.{name}");
        if let Some(default) = defaults::of(property, schema) {
            let mut errors = FieldErrors::default();
            let budget = &mut StepBudget::of_bytes(default.to_string().len());
            let compiled = PropertySchema::of(property, schema);
            validate_value(property, &compiled, default, Some(budget), &mut errors);
            for (path, messages) in errors.iter() {
                // The path starts with the name of the property.
                let inner = path.strip_prefix(name).unwrap_or_default();
                let path = format!("{schema_path}.default{inner}");
                found.extend(messages.iter().map(|message| ValueError {
                    path: path.clone(),
                    value: default,
                    message: message.clone(),
                }));
            }
        }
        let mut seen = HashSet::new();
        if !property.options.iter().all(|option| seen.insert(option)) {
            let key = match config["useOptionsWithLabels"] {
                Value::Bool(true) => "optionsWithLabels",
                _ => "options",
            };
            let path = format!("{config_path}.{key}");
            found.push(ValueError { path, value: &config[key], message: DUPLICATES.to_owned() });
        }
        let path = match property.input_type {
            InputType::Object => format!("{schema_path}.items.properties"),
            _ => format!("{schema_path}.properties"),
        };
        let paths = (&*path, &*property.nested_configs(&config_path));
        collect(&property.nested, StoredLevel::nested(property, schema, config), paths, found);
    }
}
