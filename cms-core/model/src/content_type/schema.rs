//! The schema that stored values are checked against.
//!
//! A stored `schemaDefinition` cannot be handed to a JSON Schema validator as it is: its
//! `additionalProperties: false` does not look into `allOf`, and its references point into the
//! exported API description. So each property gets a schema of its own, rebuilt from the keywords
//! that the contract has messages for (3.6); everything else that clients store in a schema is
//! for forms and exports and has no effect here. What a schema cannot say (options, links, block
//! types, uniqueness within a list) is in [`crate::object::validate`].

use std::{collections::BTreeSet, sync::OnceLock};

use jsonschema::{Draft, Validator};
use serde_json::{Map, Value, json};
use tracing::warn;

use super::{
    diff,
    model::{Definition, InputType, Property},
};
use crate::pattern::Pattern;

/// The checked part of a definition: one schema per property, in the order of the properties.
#[derive(Debug)]
pub struct CompiledSchema {
    pub properties: Vec<PropertySchema>,
}

/// A schema whose validator is built at its first use: patterns cost up to 80 µs each, and most
/// types of a server that starts are not written to.
#[derive(Debug)]
pub struct PropertySchema {
    schema: Value,
    validator: OnceLock<Validator>,
    patterns: Patterns,
}

impl PropertySchema {
    /// Prepares the schema of one property, given as it is stored.
    pub fn of(property: &Property, stored: &Value) -> Self {
        Self::new(property_schema(property, stored))
    }

    fn new(mut schema: Value) -> Self {
        let patterns = Patterns::take(&mut schema);
        Self { schema, validator: OnceLock::new(), patterns }
    }

    /// The validator of all keywords but `pattern`.
    pub fn validator(&self) -> &Validator {
        self.validator.get_or_init(|| {
            jsonschema::options()
                .with_draft(Draft::Draft202012)
                .offline()
                .build(&self.schema)
                .expect("the keywords are written by this file")
        })
    }

    pub fn patterns(&self) -> &Patterns {
        &self.patterns
    }
}

/// The patterns of a schema, at their places. They are apart from the validator because their work
/// is bounded per object, which JSON Schema has no notion of.
#[derive(Debug, Default)]
pub struct Patterns {
    pub own: Option<StoredPattern>,
    pub items: Option<Box<Self>>,
    pub properties: Vec<(String, Self)>,
}

impl Patterns {
    /// Moves the patterns out of a schema.
    fn take(schema: &mut Value) -> Self {
        let Value::Object(schema) = schema else { return Self::default() };
        let own = match schema.shift_remove("pattern") {
            Some(Value::String(text)) => Some(StoredPattern { text, compiled: OnceLock::new() }),
            _ => None,
        };
        let items = schema.get_mut("items").map(Self::take).filter(|items| !items.is_empty());
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
        let properties = properties.into_iter().flatten();
        let properties = properties.map(|(name, schema)| (name.clone(), Self::take(schema)));
        let properties = properties.filter(|(_, patterns)| !patterns.is_empty()).collect();
        Self { own, items: items.map(Box::new), properties }
    }

    fn is_empty(&self) -> bool {
        self.own.is_none() && self.items.is_none() && self.properties.is_empty()
    }
}

/// A pattern that is compiled at its first use.
#[derive(Debug)]
pub struct StoredPattern {
    pub text: String,
    compiled: OnceLock<Option<Pattern>>,
}

impl StoredPattern {
    /// The compiled pattern. An earlier version accepted patterns that are not ECMA 262: none is
    /// returned for these, and they are not checked, so that objects stay writable.
    pub fn compiled(&self) -> Option<&Pattern> {
        let compile = || {
            let compiled = Pattern::new(&self.text).ok();
            if compiled.is_none() {
                warn!(pattern = self.text, "stored pattern is not ECMA 262 and is not checked");
            }
            compiled
        };
        self.compiled.get_or_init(compile).as_ref()
    }
}

/// Prepares the schemas of a definition's properties.
pub fn compile(properties: &[Property], definition: &Definition) -> CompiledSchema {
    let schemas = &definition.schema_definition["allOf"][1]["properties"];
    let compile =
        |property: &Property| PropertySchema::of(property, &schemas[property.name.as_str()]);
    CompiledSchema { properties: properties.iter().map(compile).collect() }
}

/// Returns the schema of what `new` demands of nested properties and `old` did not: that they are
/// there, and not empty.
pub fn new_demands(old: &Property, new: &Property) -> Option<PropertySchema> {
    demands(old, new).map(PropertySchema::new)
}

fn demands(old: &Property, new: &Property) -> Option<Value> {
    let (mut required, mut schemas) = (Vec::new(), Map::new());
    for property in &new.nested {
        let before = diff::source(property, &old.nested, &new.nested);
        let mut schema = before.and_then(|before| demands(before, property));
        if property.required && before.is_none_or(|before| !before.required) {
            required.push(property.name.as_str());
            schema.get_or_insert_with(|| json!({}))["minLength"] = 1.into();
        }
        schemas.extend(schema.map(|schema| (property.name.clone(), schema)));
    }
    let object = json!({"required": required, "properties": schemas});
    (!schemas.is_empty()).then(|| match new.input_type {
        InputType::Object => json!({"items": object}),
        _ => object,
    })
}

fn property_schema(property: &Property, stored: &Value) -> Value {
    match property.input_type {
        InputType::Datasource => links(property, stored),
        InputType::Block => block(),
        InputType::Geo => {
            let mut geo = plain(stored, property.required);
            geo["additionalProperties"] = Value::Bool(false);
            geo
        }
        InputType::Object => {
            let items = &stored["items"];
            let mut list = json!({"type": "array", "items": object(items, &property.nested)});
            copy_count(&mut list, stored, "minItems");
            list
        }
        InputType::Custom if property.is_nested_object() => object(stored, &property.nested),
        _ => plain(stored, property.required),
    }
}

/// An object with known properties: an item of a list, or a `custom` value.
fn object(stored: &Value, properties: &[Property]) -> Value {
    let schemas: Map<String, Value> = properties
        .iter()
        .map(|property| {
            let stored = &stored["properties"][property.name.as_str()];
            (property.name.clone(), property_schema(property, stored))
        })
        .collect();
    let required = properties.iter().filter(|property| property.required);
    let required: Vec<&str> = required.map(|property| property.name.as_str()).collect();
    let mut object = json!({"type": "object", "properties": schemas, "required": required});
    copy_closed(&mut object, stored);
    object
}

/// A schema without a meta definition of its own.
fn plain(stored: &Value, required: bool) -> Value {
    let Some(schema_type) = stored["type"].as_str() else { return json!({}) };
    let mut schema = json!({"type": schema_type});
    match schema_type {
        "string" => {
            // A required string may not be empty, whatever the schema says.
            let least = stored["minLength"].as_u64().unwrap_or(0).max(u64::from(required));
            schema["minLength"] = least.into();
            if let Some(pattern) = stored["pattern"].as_str() {
                schema["pattern"] = pattern.into();
            }
        }
        "number" | "integer" => bound_number(&mut schema, stored),
        "array" => {
            copy_count(&mut schema, stored, "minItems");
            schema["items"] = plain(&stored["items"], false);
        }
        "object" => {
            let required: BTreeSet<&str> = strings(&stored["required"]).collect();
            schema["properties"] = stored["properties"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, stored)| {
                    (name.clone(), plain(stored, required.contains(name.as_str())))
                })
                .collect::<Map<_, _>>()
                .into();
            schema["required"] = json!(required);
            copy_closed(&mut schema, stored);
        }
        "boolean" | "null" => {}
        _ => return json!({}),
    }
    schema
}

/// One more than the largest long.
const LONG_RANGE: f64 = 9_223_372_036_854_775_808.0;

/// Every number lies in the range of a long; the schema may narrow that.
fn bound_number(schema: &mut Value, stored: &Value) {
    schema["minimum"] = match &stored["minimum"] {
        Value::Number(least) if least.as_f64() > Some(-LONG_RANGE) => least.clone().into(),
        _ => i64::MIN.into(),
    };
    schema["maximum"] = match &stored["maximum"] {
        Value::Number(most) if most.as_f64() < Some(LONG_RANGE) => most.clone().into(),
        _ => i64::MAX.into(),
    };
}

/// Links have exactly two keys; where they lead is looked at later.
fn links(property: &Property, stored: &Value) -> Value {
    let mut links = json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"dataUrl": {"type": "string"}, "type": {"enum": LINK_TYPES}},
            "required": ["dataUrl", "type"],
            "additionalProperties": false,
        },
    });
    copy_count(&mut links, stored, "minItems");
    if !property.relation.as_ref().is_some_and(|relation| relation.multiple) {
        links["maxItems"] = 1.into();
    }
    links
}

/// What the `type` of a link may be.
pub const LINK_TYPES: [&str; 2] = ["internal", "external"];

/// Blocks have one shape whatever was stored (contract 3.7). `time` and `data` take more than one
/// kind of value, so they are left to the rules.
fn block() -> Value {
    let item = json!({
        "type": "object",
        "properties": {"id": {"type": "string"}, "type": {"type": "string"}},
    });
    json!({
        "type": "object",
        "properties": {
            "time": {},
            "blocks": {"type": "array", "items": item},
            "version": {"type": "string"},
        },
        "additionalProperties": false,
    })
}

fn copy_count(schema: &mut Value, stored: &Value, keyword: &str) {
    if let Some(count) = stored[keyword].as_u64() {
        schema[keyword] = count.into();
    }
}

fn copy_closed(schema: &mut Value, stored: &Value) {
    if stored["additionalProperties"] == Value::Bool(false) {
        schema["additionalProperties"] = Value::Bool(false);
    }
}

fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}
