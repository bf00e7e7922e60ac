//! The JSON Schemas that validate objects.
//!
//! A JSON Schema validator cannot use a stored `schemaDefinition`: its `additionalProperties:
//! false` does not see the properties in `allOf`, and its references point into the OpenAPI
//! document. So each property gets a schema of its own, with the keywords in
//! docs/reference/objects.md#validation-messages; other keywords are for forms and exports and have
//! no effect. Rules that JSON Schema cannot express (options, links, block types, uniqueness within
//! a list) are in [`crate::object::rules`].

use std::{collections::BTreeSet, sync::OnceLock};

use jsonschema::{Draft, Validator};
use serde_json::{Map, Value, json};
use tracing::warn;

use super::{
    diff,
    model::{Definition, InputType, Property, strings},
};
use crate::{pattern::Pattern, query::value::TWO_TO_63};

/// The schema of a property. Its validator is built at its first use: patterns cost up to 80 µs
/// each, and most types are not written to after a start of the server.
#[derive(Debug)]
pub struct PropertySchema {
    schema: Value,
    validator: OnceLock<Validator>,
    patterns: Patterns,
}

impl PropertySchema {
    /// Builds the schema of a property from its stored schema.
    pub fn of(property: &Property, stored: &Value) -> Self {
        Self::new(property_schema(property, stored))
    }

    fn new(mut schema: Value) -> Self {
        let patterns = Patterns::take(&mut schema);
        Self { schema, validator: OnceLock::new(), patterns }
    }

    /// The validator of all keywords except `pattern`.
    pub fn validator(&self) -> &Validator {
        self.validator.get_or_init(|| {
            jsonschema::options()
                .with_draft(Draft::Draft202012)
                .offline()
                .build(&self.schema)
                .expect("this module writes valid schemas")
        })
    }

    pub fn patterns(&self) -> &Patterns {
        &self.patterns
    }
}

/// The patterns of a schema and its nested schemas. They are not part of the validator because the
/// work of matching is limited per object.
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
    /// The compiled pattern; none when it is not valid ECMA 262, which an earlier version accepted.
    /// Such patterns are not checked, so that objects stay writable.
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

/// Builds the schemas of a definition's properties, in the order of the properties.
pub fn compile(properties: &[Property], definition: &Definition) -> Vec<PropertySchema> {
    let schemas = definition.own_schemas();
    let compile =
        |property: &Property| PropertySchema::of(property, &schemas[property.name.as_str()]);
    properties.iter().map(compile).collect()
}

/// Returns a schema that requires the nested properties that are required in `new`, but not in `old`, or of
/// another type there: their converted value may be empty.
pub fn newly_required(old: &Property, new: &Property) -> Option<PropertySchema> {
    requirements(old, new).map(PropertySchema::new)
}

fn requirements(old: &Property, new: &Property) -> Option<Value> {
    let (mut required, mut schemas) = (Vec::new(), Map::new());
    for property in &new.nested {
        let before = diff::source(property, &old.nested, &new.nested);
        let mut schema = before.and_then(|before| requirements(before, property));
        let may_lack_value =
            |before: &Property| !before.required || !diff::has_same_kind(before, property);
        if property.required && before.is_none_or(may_lack_value) {
            required.push(property.name.as_str());
            let schema = schema.get_or_insert_with(|| json!({}));
            schema["minLength"] = 1.into();
            schema["minItems"] = 1.into();
        }
        schemas.extend(schema.map(|schema| (property.name.clone(), schema)));
    }
    let object = json!({"required": required, "properties": schemas});
    (!schemas.is_empty()).then(|| match new.input_type {
        InputType::Object => json!({"items": object}),
        _ => object,
    })
}

/// The schema of a property, with its patterns.
pub(super) fn property_schema(property: &Property, stored: &Value) -> Value {
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

/// The schema of a list item or a `custom` value with nested properties.
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
    copy_additional_properties(&mut object, stored);
    object
}

/// The schema of a value without nested configs.
fn plain(stored: &Value, required: bool) -> Value {
    let Some(schema_type) = stored["type"].as_str() else { return json!({}) };
    let mut schema = json!({"type": schema_type});
    match schema_type {
        "string" => {
            // A required string must not be empty, even if its schema allows that.
            let minimum = stored["minLength"].as_u64().unwrap_or(0).max(u64::from(required));
            schema["minLength"] = minimum.into();
            copy_count(&mut schema, stored, "maxLength");
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
            copy_additional_properties(&mut schema, stored);
        }
        "boolean" | "null" => {}
        _ => return json!({}),
    }
    schema
}

/// Limits numbers to the range of `i64`, or the narrower range of the schema.
fn bound_number(schema: &mut Value, stored: &Value) {
    schema["minimum"] = match &stored["minimum"] {
        Value::Number(minimum) if minimum.as_f64() > Some(-TWO_TO_63) => minimum.clone().into(),
        _ => i64::MIN.into(),
    };
    schema["maximum"] = match &stored["maximum"] {
        Value::Number(maximum) if maximum.as_f64() < Some(TWO_TO_63) => maximum.clone().into(),
        _ => i64::MAX.into(),
    };
}

/// The schema of a relation. The targets of links are validated later.
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

/// Values of `type` of a link.
pub const LINK_TYPES: [&str; 2] = ["internal", "external"];

/// The schema of block values, which does not depend on the stored one, see
/// docs/reference/objects.md#blocks. [`crate::object::rules`] validates `time` and `data`,
/// which have several types.
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

fn copy_additional_properties(schema: &mut Value, stored: &Value) {
    if stored["additionalProperties"] == Value::Bool(false) {
        schema["additionalProperties"] = Value::Bool(false);
    }
}
