//! Converts a content type to the short form, if expanding the result returns the same type.

use std::rc::Rc;

use cms_core::{
    DEFAULT_WORKFLOW,
    wire::content_type::{ContentType, WRITABLE_KEYS},
};
use serde::Serialize;
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

/// Members of the short form. Members with the default value are left out.
#[derive(Default)]
struct Members(Map<String, Value>);

impl Members {
    fn put(&mut self, key: &str, value: Option<impl Serialize>) {
        self.0.extend(value.map(|value| (key.to_owned(), json!(value))));
    }

    fn flag(&mut self, key: &str, is_on: bool) {
        self.put(key, is_on.then_some(true));
    }
}

fn short(content_type: &ContentType) -> Option<Value> {
    let schema = &content_type.schema_definition;
    let meta = &content_type.meta_definition;
    let properties = level(&schema["allOf"][1]["properties"], &schema["required"], meta)?;
    let mut short = Members::default();
    let ContentType { name, label: given_label, workflow_id, slugs, .. } = content_type;
    short.put("name", Some(name));
    short.put("label", Some(given_label).filter(|given| **given != label(name)));
    let mut admin = meta.get("admin").cloned();
    let hints = admin.as_mut().and_then(Value::as_object_mut);
    let is_single = hints
        .filter(|hints| hints.get("single") == Some(&json!(true)))
        .and_then(|hints| hints.shift_remove("single"))
        .is_some();
    short.flag("single", is_single);
    short.flag("draftPublic", content_type.draft_public);
    short.flag("internal", content_type.internal);
    short.put("workflow", Some(workflow_id).filter(|id| *id != DEFAULT_WORKFLOW));
    let sources = slugs.iter().map(|slug| (slug.target.clone(), json!(slug.source)));
    let all_active = slugs.iter().all(|slug| slug.active);
    let rules = if all_active { Value::Object(sources.collect()) } else { json!(slugs) };
    short.put("slugs", (!slugs.is_empty()).then_some(rules));
    for key in ["applyDefaults", "uniqueTogether"] {
        short.put(key, meta.get(key));
    }
    short.put("admin", admin.filter(|admin| !is_single || *admin != json!({})));
    short.put("properties", Some(properties));
    Some(Value::Object(short.0))
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
    let mut short = Members::default();
    let is_on = |key: &str| config[key] == true;

    short.put("type", Some(kind.name));
    short.put("label", Some(&config["label"]).filter(|given| **given != json!(label(name))));
    short.flag("required", required);
    short.flag("unique", is_on("unique"));
    for (key, long) in CONFIG_FLAGS {
        short.flag(key, is_on(long));
    }
    for key in CONFIG_VALUES {
        short.put(key, config.get(key));
    }
    for key in ["default", "minimum", "maximum"] {
        short.put(key, schema.get(key));
    }
    let min = schema["minLength"].as_u64().unwrap_or(0);
    let has_other_min = schema["type"] == "string" && min != u64::from(required);
    short.put("minLength", has_other_min.then_some(min));
    short.put("maxLength", schema.get("maxLength"));
    short.put("pattern", schema["pattern"].as_str().filter(|p| Some(*p) != kind.pattern));
    short.put("minItems", schema["minItems"].as_u64().filter(|n| *n != u64::from(required)));
    if is_on("useOptionsWithLabels") {
        short.put("options", Some(&config["optionsWithLabels"]));
    } else {
        short.put("options", config["options"].as_array().filter(|options| !options.is_empty()));
    }
    short.flag("multiple", is_on("multiple"));
    short.flag("showTime", is_on("showTime"));
    let relation = &config["validation"];
    short.put("to", relation["relationContenttype"].as_str().filter(|to| !to.is_empty()));
    short.flag("many", relation["relationMultiple"] == true);
    short.put("blocks", config.get("blockEditorTypes"));
    if kind.name == "object" {
        let items = &schema["items"];
        let level = level(&items["properties"], &items["required"], &config["items"])?;
        short.put("items", Some(level));
    }
    Some(Value::Object(short.0))
}

/// The property type with this schema and config.
fn kind(schema: &Value, config: &Value) -> Option<&'static PropertyKind> {
    let input_type = config["inputType"].as_str()?;
    let name = if schema["type"] == "integer" { "integer" } else { input_type };
    PROPERTY_KINDS.iter().find(|kind| kind.name == name)
}
