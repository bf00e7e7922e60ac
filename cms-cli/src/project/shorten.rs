//! Converts a content type to the short form, if expanding the result returns the same type.

use std::rc::Rc;

use cms_core::{
    DEFAULT_WORKFLOW,
    wire::content_type::{ContentType, WRITABLE_KEYS},
};
use serde_json::{Map, Value, json};

use super::{
    expand::{CONFIG_FLAGS, CONFIG_VALUES, Expander, PROPERTY_KINDS, PropertyKind},
    label::label,
    node::YamlNode,
};
use crate::yaml::YamlDocument;

/// Returns the type as in a project file: in the short form if possible, else in the API form.
pub(crate) fn content_type(content_type: &ContentType) -> Value {
    let payload = payload(content_type);
    match short(content_type) {
        Some(short) if expands_to(&short, &payload) => short,
        _ => Value::Object(payload),
    }
}

/// The payload of a type without featured images, which are content.
fn payload(content_type: &ContentType) -> Map<String, Value> {
    let all = json!(content_type);
    let keys = WRITABLE_KEYS.into_iter().filter(|key| *key != "featuredImage");
    keys.map(|key| (key.to_owned(), all[key].clone())).collect()
}

fn expands_to(short: &Value, payload: &Map<String, Value>) -> bool {
    let document = Rc::new(YamlDocument::of_value(short.clone()));
    let mut expander = Expander::default();
    let expanded = expander.content_type(&YamlNode::root(&document));
    expander.diagnostics.0.is_empty() && expanded == *payload
}

fn short(content_type: &ContentType) -> Option<Value> {
    let schema = &content_type.schema_definition;
    let properties = level(
        &schema["allOf"][1]["properties"],
        &schema["required"],
        &content_type.meta_definition,
    )?;
    let mut short = Map::new();
    short.insert("name".to_owned(), json!(content_type.name));
    if content_type.label != label(&content_type.name) {
        short.insert("label".to_owned(), json!(content_type.label));
    }
    let mut admin = content_type.meta_definition.get("admin").cloned();
    let hints = admin.as_mut().and_then(Value::as_object_mut);
    let is_single = hints
        .filter(|hints| hints.get("single") == Some(&json!(true)))
        .and_then(|hints| hints.shift_remove("single"))
        .is_some();
    for (key, on) in [
        ("single", is_single),
        ("draftPublic", content_type.draft_public),
        ("internal", content_type.internal),
    ] {
        if on {
            short.insert(key.to_owned(), json!(true));
        }
    }
    if content_type.workflow_id != DEFAULT_WORKFLOW {
        short.insert("workflow".to_owned(), json!(content_type.workflow_id));
    }
    if !content_type.slugs.is_empty() {
        let all_active = content_type.slugs.iter().all(|slug| slug.active);
        let slugs = if all_active {
            let rules = content_type.slugs.iter();
            Value::Object(rules.map(|slug| (slug.target.clone(), json!(slug.source))).collect())
        } else {
            json!(content_type.slugs)
        };
        short.insert("slugs".to_owned(), slugs);
    }
    for key in ["applyDefaults", "uniqueTogether"] {
        if let Some(value) = content_type.meta_definition.get(key) {
            short.insert(key.to_owned(), value.clone());
        }
    }
    if let Some(admin) = admin.filter(|admin| !is_single || *admin != json!({})) {
        short.insert("admin".to_owned(), admin);
    }
    short.insert("properties".to_owned(), properties);
    Some(Value::Object(short))
}

fn level(schemas: &Value, required: &Value, meta: &Value) -> Option<Value> {
    let mut properties = Map::new();
    for name in meta["order"].as_array()? {
        let name = name.as_str()?;
        let is_required = required.as_array().is_some_and(|names| names.iter().any(|n| n == name));
        let config = &meta["propertiesConfig"][name];
        properties.insert(name.to_owned(), property(name, &schemas[name], config, is_required)?);
    }
    Some(Value::Object(properties))
}

fn property(name: &str, schema: &Value, config: &Value, required: bool) -> Option<Value> {
    let kind = kind(schema, config)?;
    let mut short = Map::new();
    short.insert("type".to_owned(), json!(kind.name));
    let mut put = |key: &str, value: Value| short.insert(key.to_owned(), value);
    let is_on = |key: &str| config[key] == true;

    if config["label"] != json!(label(name)) {
        put("label", config["label"].clone());
    }
    for (key, on) in [("required", required), ("unique", is_on("unique"))] {
        if on {
            put(key, json!(true));
        }
    }
    for (key, long) in CONFIG_FLAGS {
        if is_on(long) {
            put(key, json!(true));
        }
    }
    for key in CONFIG_VALUES {
        if let Some(value) = config.get(key) {
            put(key, value.clone());
        }
    }
    for key in ["default", "minimum", "maximum"] {
        if let Some(value) = schema.get(key) {
            put(key, value.clone());
        }
    }
    let min = schema["minLength"].as_u64().unwrap_or(0);
    if schema["type"] == "string" && min != u64::from(required) {
        put("minLength", json!(min));
    }
    if let Some(max) = schema.get("maxLength") {
        put("maxLength", max.clone());
    }
    if let Some(pattern) = schema["pattern"].as_str().filter(|p| Some(*p) != kind.pattern) {
        put("pattern", json!(pattern));
    }
    if let Some(min) = schema["minItems"].as_u64().filter(|n| *n != u64::from(required)) {
        put("minItems", json!(min));
    }
    if is_on("useOptionsWithLabels") {
        put("options", config["optionsWithLabels"].clone());
    } else if config["options"].as_array().is_some_and(|options| !options.is_empty()) {
        put("options", config["options"].clone());
    }
    for key in ["multiple", "showTime"] {
        if is_on(key) {
            put(key, json!(true));
        }
    }
    if let Some(target) =
        config["validation"]["relationContenttype"].as_str().filter(|t| !t.is_empty())
    {
        put("to", json!(target));
    }
    if config["validation"]["relationMultiple"] == true {
        put("many", json!(true));
    }
    if let Some(blocks) = config.get("blockEditorTypes") {
        put("blocks", blocks.clone());
    }
    if kind.name == "object" {
        let items = &schema["items"];
        put("items", level(&items["properties"], &items["required"], &config["items"])?);
    }
    Some(Value::Object(short))
}

/// The property type with this schema and config.
fn kind(schema: &Value, config: &Value) -> Option<&'static PropertyKind> {
    let input_type = config["inputType"].as_str()?;
    let name = if schema["type"] == "integer" { "integer" } else { input_type };
    PROPERTY_KINDS.iter().find(|kind| kind.name == name)
}
