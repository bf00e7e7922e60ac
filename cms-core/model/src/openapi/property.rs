//! Converts a property of a content type to a schema and an example.
//!
//! The schema has the rules of [`crate::content_type::schema`] and [`crate::object::rules`], as far
//! as a schema can express them; other keywords that clients store in a definition are omitted.

use serde_json::{Map, Number, Value, json};

use super::{
    components::any_object,
    ir::{AdditionalProperties, ListSchema, ObjectSchema, Range, Schema, SchemaKind, TextSchema},
};
use crate::{
    content_type::{
        model::{InputType, Property, SchemaType},
        schema::PropertySchema,
        stored_level::StoredLevel,
    },
    error::FieldErrors,
    object::validate::validate_value,
    pattern::StepBudget,
};

/// The name of the schema of a link.
pub(super) const DATA_SOURCE: &str = "DataSource";

/// Maximum number of characters of an example text, and of items of an example list. A longer minimum (`minLength`,
/// `minItems`) is ignored in examples.
const MAX_EXAMPLE_LENGTH: usize = 100;

/// Returns the schema of the items of a relation to a type, or to any type: links or objects.
pub(super) type Items<'a> = dyn Fn(Option<&str>) -> Schema + 'a;

/// Converts the properties of one level.
pub(super) fn properties(
    properties: &[Property],
    stored: StoredLevel<'_>,
    items: &Items<'_>,
) -> Vec<(String, Schema)> {
    let describe = |known: &Property| {
        let name = known.name.as_str();
        let (schema, config) = (&stored.schemas[name], &stored.configs[name]);
        let mut described = describe(known, schema, config, items);
        described.description = config["helpText"].as_str().map(str::to_owned);
        described.default = default(known, schema);
        (known.name.clone(), described)
    };
    properties.iter().map(describe).collect()
}

fn describe(property: &Property, stored: &Value, config: &Value, items: &Items<'_>) -> Schema {
    match property.input_type {
        InputType::Datasource => {
            let relation = property.relation.as_ref();
            let target = relation.and_then(|relation| relation.target.as_deref());
            let is_multiple = relation.is_some_and(|relation| relation.multiple);
            Schema::list_between(
                items(target),
                count(stored, "minItems"),
                (!is_multiple).then_some(1),
            )
        }
        InputType::Block => block(property),
        InputType::Object => {
            let nested = StoredLevel::nested(property, stored, config);
            let item = object(&property.nested, nested, &stored["items"], items);
            Schema::list_between(item, count(stored, "minItems"), None)
        }
        InputType::Custom if property.is_nested_object() => {
            let nested = StoredLevel::nested(property, stored, config);
            object(&property.nested, nested, stored, items)
        }
        InputType::Geo => keywords(stored, property.required, &property.options).closed(),
        _ => keywords(stored, property.required, &property.options),
    }
}

/// A nested object: an item of a list, or a `custom` value.
fn object(
    nested: &[Property],
    stored: StoredLevel<'_>,
    schema: &Value,
    items: &Items<'_>,
) -> Schema {
    SchemaKind::Object(ObjectSchema {
        properties: properties(nested, stored, items),
        required: required(nested),
        additional_properties: additional_properties(schema),
    })
    .into()
}

/// Names of the required properties.
pub(super) fn required(properties: &[Property]) -> Vec<String> {
    let required = properties.iter().filter(|property| property.required);
    required.map(|property| property.name.clone()).collect()
}

/// A value that only its stored schema describes.
fn keywords(stored: &Value, required: bool, options: &[String]) -> Schema {
    let Some(schema_type) = stored["type"].as_str().and_then(SchemaType::parse) else {
        return Schema::anything();
    };
    let kind = match schema_type {
        SchemaType::String => SchemaKind::Text(TextSchema {
            // A required text must not be empty.
            min_length: count(stored, "minLength").max(u64::from(required)),
            max_length: stored["maxLength"].as_u64(),
            pattern: stored["pattern"].as_str().map(str::to_owned),
            options: options.to_vec(),
        }),
        SchemaType::Number | SchemaType::Integer => SchemaKind::Number(Range {
            integer: schema_type == SchemaType::Integer,
            minimum: bound(stored, "minimum"),
            maximum: bound(stored, "maximum"),
        }),
        SchemaType::Array => SchemaKind::List(Box::new(ListSchema {
            items: keywords(&stored["items"], false, options),
            min: count(stored, "minItems"),
            max: None,
        })),
        SchemaType::Object => {
            let names: Vec<&str> = stored["required"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            let properties = stored["properties"].as_object().into_iter().flatten();
            let describe = |(name, schema): (&String, &Value)| {
                (name.clone(), keywords(schema, names.contains(&name.as_str()), &[]))
            };
            SchemaKind::Object(ObjectSchema {
                properties: properties.map(describe).collect(),
                required: names.iter().map(|&name| name.to_owned()).collect(),
                additional_properties: additional_properties(stored),
            })
        }
        SchemaType::Boolean => SchemaKind::Boolean,
        SchemaType::Null => SchemaKind::Null,
    };
    kind.into()
}

/// The schema of blocks is fixed (see docs/reference/objects.md#blocks).
fn block(property: &Property) -> Schema {
    let empty = Schema::list_between(Schema::anything(), 0, Some(0));
    let data = Schema::any_of(vec![any_object(), empty]);
    let mut kind = Schema::text();
    if let (Some(types), SchemaKind::Text(text)) = (&property.block_types, &mut kind.kind) {
        text.options = std::iter::once("paragraph")
            .chain(types.iter().map(String::as_str).filter(|&known| known != "paragraph"))
            .map(str::to_owned)
            .collect();
    }
    let block = Schema::object([("id", Schema::text()), ("type", kind), ("data", data)], &[]);
    let time = Schema::any_of(vec![Schema::number(), Schema::text()]);
    let blocks = Schema::list(block);
    Schema::object([("time", time), ("blocks", blocks), ("version", Schema::text())], &[]).closed()
}

fn additional_properties(stored: &Value) -> AdditionalProperties {
    if stored["additionalProperties"] == Value::Bool(false) {
        AdditionalProperties::Forbidden
    } else {
        AdditionalProperties::Allowed
    }
}

fn count(stored: &Value, keyword: &str) -> u64 {
    stored[keyword].as_u64().unwrap_or(0)
}

fn bound(stored: &Value, keyword: &str) -> Option<Number> {
    stored[keyword].as_number().cloned()
}

/// The default of the form, if it is a valid value.
fn default(property: &Property, stored: &Value) -> Option<Value> {
    let default = stored.get("default")?;
    let is_option = match default {
        Value::String(text) => property.options.is_empty() || property.options.contains(text),
        Value::Number(_) | Value::Bool(_) => true,
        _ => false,
    };
    (is_option && is_valid(property, stored, default)).then(|| default.clone())
}

fn is_valid(property: &Property, stored: &Value, value: &Value) -> bool {
    let schema = PropertySchema::of(property, stored);
    let mut errors = FieldErrors::default();
    let budget = &mut StepBudget::per_object();
    validate_value(property, &schema, value, Some(budget), &mut errors);
    errors.is_empty()
}

/// Returns example values by property. Leaves a property out if its rules, such as a `pattern`, allow
/// neither a value made from its name nor its default.
pub(super) fn examples(properties: &[Property], schemas: &Value) -> Map<String, Value> {
    let valid_example = |known: &Property| {
        let stored = &schemas[known.name.as_str()];
        let made = Some(example(known, stored)).filter(|made| is_valid(known, stored, made));
        Some((known.name.clone(), made.or_else(|| default(known, stored))?))
    };
    properties.iter().filter_map(valid_example).collect()
}

fn example(property: &Property, stored: &Value) -> Value {
    let items = example_length(stored, "minItems").max(1);
    match (property.input_type, property.schema_type) {
        (InputType::Datasource, _) => {
            let target = property.relation.as_ref().and_then(|relation| relation.target.as_deref());
            let target = target.unwrap_or("_media");
            let link = |number| {
                let url = format!("/api/v1/content/{target}/{target}-{number}");
                json!({ "dataUrl": url, "type": "internal" })
            };
            (1..=items).map(link).collect()
        }
        (InputType::Geo, _) => json!({ "lat": 0, "lon": 0 }),
        (InputType::DateTime, _) => "2021-12-12T12:00".into(),
        (InputType::Object, _) => {
            vec![examples(&property.nested, &stored["items"]["properties"]); items].into()
        }
        (InputType::Custom, SchemaType::Object) => {
            examples(&property.nested, &stored["properties"]).into()
        }
        (InputType::Block, _) => json!({
            "time": 0,
            "blocks": [{ "id": "1", "type": "paragraph", "data": { "text": property.name } }],
            "version": "1",
        }),
        (_, SchemaType::Array) if property.options.is_empty() => {
            vec![text(property, &stored["items"]); items].into()
        }
        (_, SchemaType::Array) => property.options.iter().cloned().cycle().take(items).collect(),
        (_, SchemaType::String) => text(property, stored).into(),
        (_, SchemaType::Number | SchemaType::Integer) => number(stored),
        (_, SchemaType::Boolean) => true.into(),
        (_, SchemaType::Object) => json!({}),
        (_, SchemaType::Null) => Value::Null,
    }
}

/// The first option, or the name, repeated up to the minimum length.
fn text(property: &Property, stored: &Value) -> String {
    let word = match (property.options.first(), property.input_type) {
        (Some(first), _) => return first.clone(),
        (None, InputType::Email) => "name@example.com",
        (None, _) => &property.name,
    };
    let length = word.chars().count().max(example_length(stored, "minLength"));
    word.chars().cycle().take(length).collect()
}

/// The number 1, or the bound that is nearest to it.
fn number(stored: &Value) -> Value {
    let is_above = |bound: &Number| bound.as_f64().is_some_and(|bound| bound > 1.0);
    let is_below = |bound: &Number| bound.as_f64().is_some_and(|bound| bound < 1.0);
    let minimum = bound(stored, "minimum").filter(is_above);
    let nearest = minimum.or_else(|| bound(stored, "maximum").filter(is_below));
    nearest.map_or_else(|| 1.into(), Value::Number)
}

/// Returns a minimum length, unless an example would become too long.
fn example_length(stored: &Value, keyword: &str) -> usize {
    let length = usize::try_from(count(stored, keyword)).unwrap_or(usize::MAX);
    if length > MAX_EXAMPLE_LENGTH { 0 } else { length }
}
