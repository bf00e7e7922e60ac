//! Validates one level of properties: the schemas and configs of a type, of the items of a list, or
//! of a `custom` value.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::{
    super::{
        is_property_name,
        model::{DATA_SOURCE_REF, InputType, SchemaType},
    },
    conversion,
};
use crate::{
    error::FieldErrors,
    limits::MAX_SCHEMA_DEPTH,
    message::{self, DUPLICATES, NOT_VALID},
    pattern,
    read::{AnyNumber, Integer, join, optional, read, required, strings},
};

/// Names that objects and the search index use internally.
const RESERVED: [&str; 11] = [
    "id",
    "objectType",
    "_id",
    "_index",
    "_type",
    "_source",
    "_score",
    "_routing",
    "_version",
    "_shards",
    "internal",
];

/// The paths of a level in error maps, see docs/reference/http.md#property-paths-in-errors
pub(super) struct Level {
    schema_path: String,
    meta_path: String,
    is_top: bool,
    /// The definition is replaced: some errors have more messages then.
    is_update: bool,
}

/// The JSON of a level. A part is none if it is missing or of another type; that error is reported.
pub(super) struct SchemaMembers<'a> {
    pub(super) schemas: Option<&'a Map<String, Value>>,
    pub(super) required: Vec<&'a str>,
    pub(super) meta: Option<&'a Map<String, Value>>,
}

impl Level {
    pub(super) fn top(is_update: bool) -> Self {
        Self {
            schema_path: "schemaDefinition".to_owned(),
            meta_path: "metaDefinition".to_owned(),
            is_top: true,
            is_update,
        }
    }

    fn nested(&self, schema_path: String, meta_path: String) -> Self {
        Self { schema_path, meta_path, is_top: false, is_update: self.is_update }
    }

    pub(super) fn check(&self, content: &SchemaMembers, errors: &mut FieldErrors) {
        let configs: Option<&Map<_, _>> = content
            .meta
            .and_then(|meta| required(meta, "propertiesConfig", &self.meta_path, errors));
        let order = content.meta.and_then(|meta| {
            required::<&[Value]>(meta, "order", &self.meta_path, errors)?;
            Some(strings(meta, "order", &self.meta_path, errors))
        });
        if let Some(schemas) = content.schemas {
            self.check_names(schemas, errors);
            for name in content.required.iter().filter(|name| !schemas.contains_key(**name)) {
                errors.add(format!("{}.required", self.schema_path), not_in_schema(name));
            }
            if let Some(configs) = configs {
                self.check_agreement(schemas, configs, errors);
            }
            if let Some(order) = order {
                self.check_order(schemas, &order, errors);
            }
        }
        let schemas: HashMap<_, _> = content
            .schemas
            .into_iter()
            .flatten()
            .filter_map(|(name, schema)| Some((name, self.check_schema(name, schema, errors)?)))
            .collect();
        for (name, config) in configs.into_iter().flatten() {
            let config = self.check_config(name, config, errors);
            if let (Some(schema), Some(config)) = (schemas.get(name), config) {
                self.check_pair(name, schema, &config, errors);
            }
        }
    }

    fn check_names(&self, schemas: &Map<String, Value>, errors: &mut FieldErrors) {
        let path = format!("{}.properties", self.schema_path);
        if schemas.is_empty() {
            errors.add(&path, "You must specify at least one schema property");
        }
        for name in schemas.keys().map(String::as_str) {
            if !is_property_name(name) {
                let message = "Invalid value. Only a-z, A-Z, 0-9 and _ are allowed";
                errors.add(&path, message);
            }
            if self.is_top && RESERVED.contains(&name) {
                errors.add(&path, format!("Property name {name} not allowed"));
            }
        }
    }

    /// Checks that every schema has a config and every config a schema.
    fn check_agreement(
        &self,
        schemas: &Map<String, Value>,
        configs: &Map<String, Value>,
        errors: &mut FieldErrors,
    ) {
        let path = format!("{}.propertiesConfig", self.meta_path);
        for name in schemas.keys().filter(|name| !configs.contains_key(*name)) {
            errors.add(&path, format!("Property name {name} not existing in meta definition"));
        }
        for name in configs.keys().filter(|name| !schemas.contains_key(*name)) {
            errors.add(&path, not_in_schema(name));
        }
    }

    fn check_order(&self, schemas: &Map<String, Value>, order: &[&str], errors: &mut FieldErrors) {
        let path = format!("{}.order", self.meta_path);
        let mut seen = HashSet::new();
        for name in order {
            if !schemas.contains_key(*name) {
                errors.add(&path, not_in_schema(name));
            }
            if !seen.insert(*name) {
                errors.add(&path, DUPLICATES);
            }
        }
        for name in schemas.keys().filter(|name| !seen.contains(name.as_str())) {
            errors.add(&path, format!("Property name {name} not existing in the order"));
        }
    }

    /// Validates one schema without its config.
    fn check_schema<'a>(
        &self,
        name: &str,
        schema: &'a Value,
        errors: &mut FieldErrors,
    ) -> Option<SchemaJson<'a>> {
        let own = if self.is_top { ".allOf[1]" } else { "" };
        let path = format!("{}{own}.properties.{name}", self.schema_path);
        let json: &Map<_, _> = read(schema, &path, errors)?;
        if is_deeper_than(schema, MAX_SCHEMA_DEPTH) {
            errors.add(
                path,
                format!("The schema is nested more than {MAX_SCHEMA_DEPTH} levels deep"),
            );
            return None;
        }
        optional::<&str>(json, "pattern", &path, errors);
        check_patterns(json, &path, errors);
        for keyword in ["minLength", "maxLength", "minItems"] {
            optional::<Integer>(json, keyword, &path, errors);
        }
        for keyword in ["minimum", "maximum"] {
            optional::<AnyNumber>(json, keyword, &path, errors);
        }
        for keyword in ["items", "properties"] {
            optional::<&Map<_, _>>(json, keyword, &path, errors);
        }
        let required = strings(json, "required", &path, errors);
        let schema_type = self.schema_type(json, &path, errors)?;
        Some(SchemaJson { path, json, required, schema_type })
    }

    fn schema_type(
        &self,
        schema: &Map<String, Value>,
        path: &str,
        errors: &mut FieldErrors,
    ) -> Option<SchemaType> {
        let names = SchemaType::ALL.map(SchemaType::as_str);
        let known = read_enum(schema, "type", path, &names, SchemaType::parse, errors);
        if self.is_update
            && known.is_none()
            && let Some(value) = schema.get("type")
        {
            let path = join(path, "type");
            if !value.is_array() {
                errors.add(&path, message::wrong_type(value, "array"));
            }
            errors.add(path, "Failed to match at least one schema");
        }
        known
    }

    /// Validates one config without its schema.
    fn check_config<'a>(
        &self,
        name: &str,
        config: &'a Value,
        errors: &mut FieldErrors,
    ) -> Option<ConfigJson<'a>> {
        let path = format!("{}.propertiesConfig.{name}", self.meta_path);
        let json: &Map<_, _> = read(config, &path, errors)?;
        required::<&str>(json, "label", &path, errors);
        for flag in ["hidden", "isTitlePart", "readonly", "useOptionsWithLabels"] {
            optional::<bool>(json, flag, &path, errors);
        }
        for list in ["options", "blockEditorTypes"] {
            strings(json, list, &path, errors);
        }
        check_labelled_options(json, &path, errors);
        let subtype = optional(json, "inputSubtype", &path, errors).unwrap_or("x");
        if subtype.is_empty() || !subtype.bytes().all(|b| b.is_ascii_lowercase()) {
            errors.add(format!("{path}.inputSubtype"), NOT_VALID);
        }
        conversion::check_config(name, json, &path, errors);
        let unique = optional(json, "unique", &path, errors).unwrap_or(false);
        let names = InputType::ALL.map(InputType::as_str);
        let input_type = read_enum(json, "inputType", &path, &names, InputType::parse, errors)?;
        if unique && !can_be_unique(input_type) {
            errors.add(format!("{path}.unique"), NOT_VALID);
        }
        if input_type == InputType::Datasource {
            check_relation(name, json, &path, errors);
        }
        Some(ConfigJson { path, json, input_type })
    }

    /// Validates a schema and its config together.
    fn check_pair(
        &self,
        name: &str,
        schema: &SchemaJson,
        config: &ConfigJson,
        errors: &mut FieldErrors,
    ) {
        if !schema.allows(config.input_type) {
            errors.add(&config.path, format!("Wrong meta type for type of {name}"));
        }
        match config.input_type {
            InputType::Geo | InputType::Block
                if schema.json.get("additionalProperties") == Some(&Value::Bool(true)) =>
            {
                errors.add(format!("{}.additionalProperties", schema.path), NOT_VALID);
            }
            InputType::Object => {
                let meta = required(config.json, "items", &config.path, errors);
                let Some(Value::Object(items)) = schema.json.get("items") else { return };
                let path = format!("{}.items", schema.path);
                let content = SchemaMembers {
                    schemas: optional(items, "properties", &path, errors),
                    required: strings(items, "required", &path, errors),
                    meta,
                };
                self.nested(path, format!("{}.items", config.path)).check(&content, errors);
            }
            // Without nested configs, the schema alone describes a custom value.
            InputType::Custom if config.json.contains_key("propertiesConfig") => {
                let content = SchemaMembers {
                    schemas: schema.json.get("properties").and_then(Value::as_object),
                    required: schema.required.clone(),
                    meta: Some(config.json),
                };
                self.nested(schema.path.clone(), config.path.clone()).check(&content, errors);
            }
            _ => {}
        }
    }
}

/// Validates the patterns of a schema and of its nested schemas without configs.
fn check_patterns(schema: &Map<String, Value>, path: &str, errors: &mut FieldErrors) {
    if let Some(Value::String(pattern)) = schema.get("pattern")
        && !pattern::is_supported(pattern)
    {
        errors.add(format!("{path}.pattern"), NOT_VALID);
    }
    if let Some(Value::Object(items)) = schema.get("items") {
        check_patterns(items, &format!("{path}.items"), errors);
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        if let Value::Object(schema) = schema {
            check_patterns(schema, &format!("{path}.properties.{name}"), errors);
        }
    }
}

struct SchemaJson<'a> {
    path: String,
    json: &'a Map<String, Value>,
    required: Vec<&'a str>,
    schema_type: SchemaType,
}

struct ConfigJson<'a> {
    path: String,
    json: &'a Map<String, Value>,
    input_type: InputType,
}

impl SchemaJson<'_> {
    /// The allowed pairs, see docs/reference/content-types.md#input-types
    fn allows(&self, input_type: InputType) -> bool {
        let [items, properties] =
            ["items", "properties"].map(|key| self.json.get(key).unwrap_or(&Value::Null));
        let has_items =
            |items_type: &str| self.schema_type == SchemaType::Array && items["type"] == items_type;
        match input_type {
            InputType::Text
            | InputType::RichText
            | InputType::Textarea
            | InputType::TextMarkdown
            | InputType::Markdown
            | InputType::Email
            | InputType::Radio
            | InputType::DateTime => self.schema_type == SchemaType::String,
            InputType::Number => {
                matches!(self.schema_type, SchemaType::Number | SchemaType::Integer)
            }
            InputType::Checkbox => self.schema_type == SchemaType::Boolean,
            InputType::Select => self.schema_type == SchemaType::String || has_items("string"),
            InputType::SimpleList => has_items("string"),
            InputType::Object => has_items("object"),
            InputType::Datasource => {
                self.schema_type == SchemaType::Array && items["$ref"] == DATA_SOURCE_REF
            }
            InputType::Geo => self.schema_type == SchemaType::Object && is_geo(properties),
            InputType::Block => {
                self.schema_type == SchemaType::Object && properties.get("blocks").is_some()
            }
            InputType::Custom => true,
        }
    }
}

/// Reads a required member whose value is one of `names`.
fn read_enum<T>(
    map: &Map<String, Value>,
    key: &str,
    parent: &str,
    names: &[&str],
    parse: fn(&str) -> Option<T>,
    errors: &mut FieldErrors,
) -> Option<T> {
    let known = map.get(key).and_then(Value::as_str).and_then(parse);
    if !map.contains_key(key) {
        errors.add(join(parent, key), message::required(key));
    } else if known.is_none() {
        errors.add(join(parent, key), message::not_in_enumeration(names));
    }
    known
}

fn is_geo(properties: &Value) -> bool {
    properties.as_object().is_some_and(|members| members.len() == 2)
        && ["lat", "lon"].iter().all(|name| properties[name]["type"] == "number")
}

fn can_be_unique(input_type: InputType) -> bool {
    !matches!(input_type, InputType::Radio | InputType::Checkbox | InputType::Block)
}

/// Validates the config of a relation. An empty type name allows every type.
fn check_relation(name: &str, config: &Map<String, Value>, path: &str, errors: &mut FieldErrors) {
    let validation: Option<&Map<_, _>> = optional(config, "validation", path, errors);
    let relation_path = join(path, "validation");
    if let Some(validation) = validation {
        optional::<bool>(validation, "relationMultiple", &relation_path, errors);
    }
    match validation.and_then(|validation| validation.get("relationContenttype")) {
        None | Some(Value::Null) => {
            errors.add(path, format!("You have to specify type of relation for {name}"));
        }
        Some(target) => {
            read::<&str>(target, join(&relation_path, "relationContenttype"), errors);
        }
    }
}

fn check_labelled_options(config: &Map<String, Value>, path: &str, errors: &mut FieldErrors) {
    let options: &[Value] = optional(config, "optionsWithLabels", path, errors).unwrap_or_default();
    for (index, option) in options.iter().enumerate() {
        let path = format!("{path}.optionsWithLabels[{index}]");
        if let Some(option) = read::<&Map<_, _>>(option, &path, errors) {
            required::<&str>(option, "value", &path, errors);
        }
    }
}

pub(super) fn not_in_schema(name: &str) -> String {
    format!("Property name {name} not existing in schema definition")
}

fn is_deeper_than(value: &Value, levels: usize) -> bool {
    let Some(inner) = levels.checked_sub(1) else { return true };
    match value {
        Value::Array(items) => items.iter().any(|item| is_deeper_than(item, inner)),
        Value::Object(map) => map.values().any(|value| is_deeper_than(value, inner)),
        _ => false,
    }
}
