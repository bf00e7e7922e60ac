//! Validation rules that JSON Schema cannot express, see
//! docs/reference/objects.md#validation-messages
//!
//! Values of another type are skipped: the schema reports them.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{link, path::ValuePath};
use crate::{
    content_type::model::{InputType, Property, Relation},
    error::FieldErrors,
    message::{self, ALREADY_USED, DUPLICATES, NOT_AN_OPTION, NOT_IN_DATABASE},
    query::value::{TWO_TO_63, canonical, is_empty},
};

/// Validates one value.
pub fn check(property: &Property, value: &Value, path: &ValuePath, errors: &mut FieldErrors) {
    match (property.input_type, value) {
        (InputType::Radio | InputType::Select, _) if !is_option(&property.options, value) => {
            errors.add(path.to_string(), NOT_AN_OPTION);
        }
        (InputType::Datasource, Value::Array(items)) => {
            if let Some(relation) = &property.relation {
                check_links(relation, items, path, errors);
            }
        }
        (InputType::Block, Value::Object(block)) => check_block(property, block, path, errors),
        (InputType::Object, Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                if let Value::Object(item) = item {
                    check_nested(&property.nested, item, &path.index(index), errors);
                }
            }
            for nested in property.nested.iter().filter(|nested| nested.unique) {
                check_unique(&nested.name, items, path, errors);
            }
        }
        // An integer just below -2^63 was parsed as the float -2^63, which passes the `minimum` of the
        // schema.
        (InputType::Number, Value::Number(number))
            if number.is_f64() && number.as_f64().is_some_and(|n| n <= -TWO_TO_63) =>
        {
            errors.add(path.to_string(), message::below_minimum(i64::MIN));
        }
        (InputType::Custom, Value::Object(value)) => {
            check_nested(&property.nested, value, path, errors);
        }
        _ => {}
    }
}

fn check_nested(
    properties: &[Property],
    object: &Map<String, Value>,
    parent: &ValuePath,
    errors: &mut FieldErrors,
) {
    for property in properties {
        if let Some(value) = object.get(&property.name) {
            check(property, value, &parent.key(&property.name), errors);
        }
    }
}

/// Without options, every value is allowed.
fn is_option(options: &[String], value: &Value) -> bool {
    match value {
        _ if options.is_empty() => true,
        Value::String(value) => options.contains(value),
        Value::Array(values) => values.iter().all(|value| is_option(options, value)),
        _ => true,
    }
}

fn check_links(relation: &Relation, items: &[Value], path: &ValuePath, errors: &mut FieldErrors) {
    let mut seen = HashSet::new();
    for (index, item) in items.iter().enumerate() {
        let Some(url) = item["dataUrl"].as_str() else { continue };
        let is_new = match item["type"].as_str() {
            Some("internal") => {
                if let Some(target) = link::parse(url) {
                    let allowed = relation.target.as_deref().unwrap_or(target.content_type);
                    if allowed != target.content_type {
                        let message = format!("This value is not valid. Allowed type: {allowed}");
                        errors.add(path.to_string(), message);
                    }
                    seen.insert((target.content_type, target.id.to_ascii_lowercase()))
                } else {
                    errors.add(path.to_string(), NOT_IN_DATABASE);
                    true
                }
            }
            Some("external") => {
                if url.is_empty() {
                    errors.add(format!("{path}[{index}].dataUrl"), message::too_short(1));
                }
                seen.insert(("", url.to_owned()))
            }
            _ => true,
        };
        if !is_new {
            errors.add(path.to_string(), DUPLICATES);
        }
    }
}

/// Validates a block value, see docs/reference/objects.md#blocks. The content of `data` is not
/// validated.
fn check_block(
    property: &Property,
    block: &Map<String, Value>,
    path: &ValuePath,
    errors: &mut FieldErrors,
) {
    if let Some(time) = block.get("time")
        && !is_numeric(time)
    {
        errors.add(path.key("time").to_string(), message::wrong_type(time, "number"));
    }
    let blocks = block.get("blocks").and_then(Value::as_array);
    for (index, block) in blocks.into_iter().flatten().enumerate() {
        if let Some(data) = block.get("data")
            && !data.is_object()
            && data.as_array().is_none_or(|list| !list.is_empty())
        {
            let message = message::wrong_type(data, "object");
            errors.add(format!("{path}.blocks[{index}].data"), message);
        }
        if let (Some(allowed), Some(kind)) = (&property.block_types, block["type"].as_str())
            && kind != "paragraph"
            && !allowed.iter().any(|allowed| allowed == kind)
        {
            let message = format!(
                "One of the block types ({kind} on index {index}) does not match possible types"
            );
            errors.add(path.to_string(), message);
        }
    }
}

/// Returns whether a value is a number, or a text with a number.
fn is_numeric(value: &Value) -> bool {
    match value {
        Value::Number(_) => true,
        Value::String(text) => text.parse::<f64>().is_ok_and(f64::is_finite),
        _ => false,
    }
}

/// Checks that no two items of one list share the value of a property.
fn check_unique(name: &str, items: &[Value], path: &ValuePath, errors: &mut FieldErrors) {
    let mut seen = HashSet::new();
    for (index, item) in items.iter().enumerate() {
        let Some(value) = item.get(name).filter(|value| !is_empty(value)) else { continue };
        if !seen.insert(canonical(value).to_string()) {
            errors.add(path.index(index).key(name).to_string(), ALREADY_USED);
        }
    }
}
