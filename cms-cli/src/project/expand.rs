//! Converts the short form of a content type to the API form.
//!
//! [`PROPERTY_KINDS`] lists the property types and their keys. A type in the API form stays
//! unchanged.

use cms_core::{DEFAULT_WORKFLOW, wire::content_type::WRITABLE_KEYS};
use serde_json::{Map, Value, json};

use super::{
    label::label,
    node::{Diagnostics, YamlNode, did_you_mean, one_of},
};
use crate::yaml::Location;

/// How a property type is expanded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Text,
    Number,
    Flag,
    Choice,
    Relation,
    List,
    SimpleList,
    Geo,
    Block,
}

/// A property type of the short form.
pub(super) struct PropertyKind {
    pub(super) name: &'static str,
    input_type: &'static str,
    /// `type` of the schema; a choice with several values is an array instead.
    pub(super) schema_type: &'static str,
    shape: Shape,
    /// The keys besides the common ones.
    keys: &'static [&'static str],
    /// The default pattern.
    pub(super) pattern: Option<&'static str>,
}

/// Keys of every property.
const COMMON_KEYS: [&str; 13] = [
    "type",
    "label",
    "required",
    "unique",
    "titlePart",
    "helpText",
    "hidden",
    "readonly",
    "default",
    "renamedFrom",
    "convert",
    "backfill",
    "admin",
];

/// Flags of the short form with their names in a property's config.
pub(super) const CONFIG_FLAGS: [(&str, &str); 3] =
    [("titlePart", "isTitlePart"), ("hidden", "hidden"), ("readonly", "readonly")];
/// Values that are copied into a property's config.
pub(super) const CONFIG_VALUES: [&str; 5] =
    ["helpText", "renamedFrom", "convert", "backfill", "admin"];

const EMAIL_PATTERN: &str = r"^$|^[a-zA-Z0-9_.+-]+@[a-zA-Z0-9_.+-]+?\.[a-zA-Z]{2,}$";
const DATE_PATTERN: &str = r"^$|^([12]\d{3}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01]))T?(([0-1]?[0-9]|2[0-3]):[0-5][0-9])?(:[0-5][0-9])?(\.[0-9]{3})?(Z|([\+-]\d{2}(:\d{2})?))?$";

/// The only value of `convert`.
const PARSE: &str = "parse";

const TEXT_KEYS: &[&str] = &["minLength", "maxLength", "pattern"];
const NUMBER_KEYS: &[&str] = &["minimum", "maximum"];

const fn text(name: &'static str) -> PropertyKind {
    PropertyKind {
        name,
        input_type: name,
        schema_type: "string",
        shape: Shape::Text,
        keys: TEXT_KEYS,
        pattern: None,
    }
}

/// Every property type of the short form.
pub(super) const PROPERTY_KINDS: [PropertyKind; 17] = [
    text("text"),
    text("textarea"),
    text("markdown"),
    text("textMarkdown"),
    text("richtext"),
    PropertyKind { pattern: Some(EMAIL_PATTERN), ..text("email") },
    PropertyKind {
        pattern: Some(DATE_PATTERN),
        keys: &["minLength", "pattern", "showTime"],
        ..text("dateTime")
    },
    PropertyKind {
        shape: Shape::Choice,
        keys: &["minLength", "pattern", "options"],
        ..text("radio")
    },
    PropertyKind {
        shape: Shape::Choice,
        keys: &["minLength", "pattern", "options", "multiple", "minItems"],
        ..text("select")
    },
    PropertyKind {
        schema_type: "number",
        shape: Shape::Number,
        keys: NUMBER_KEYS,
        ..text("number")
    },
    PropertyKind {
        input_type: "number",
        schema_type: "integer",
        shape: Shape::Number,
        keys: NUMBER_KEYS,
        ..text("integer")
    },
    PropertyKind { schema_type: "boolean", shape: Shape::Flag, keys: &[], ..text("checkbox") },
    PropertyKind {
        schema_type: "array",
        shape: Shape::Relation,
        keys: &["to", "many", "minItems"],
        ..text("datasource")
    },
    PropertyKind {
        schema_type: "array",
        shape: Shape::List,
        keys: &["items", "minItems"],
        ..text("object")
    },
    PropertyKind {
        schema_type: "array",
        shape: Shape::SimpleList,
        keys: &["minItems"],
        ..text("simpleList")
    },
    PropertyKind { schema_type: "object", shape: Shape::Geo, keys: &[], ..text("geo") },
    PropertyKind { schema_type: "object", shape: Shape::Block, keys: &["blocks"], ..text("block") },
];

/// Keys of a content type in the short form.
pub(super) const TYPE_KEYS: [&str; 11] = [
    "name",
    "label",
    "single",
    "draftPublic",
    "workflow",
    "internal",
    "slugs",
    "applyDefaults",
    "uniqueTogether",
    "admin",
    "properties",
];

/// Keys that only the server sets. A file copied from a response contains them; they are ignored.
const READ_ONLY_KEYS: [&str; 4] = ["id", "createdAt", "updatedAt", "deletedAt"];

/// Keys that only the API form has.
const API_KEYS: [&str; 2] = ["schemaDefinition", "metaDefinition"];

/// A reference to a definition, with its location.
pub(super) struct Reference {
    pub(super) name: String,
    pub(super) location: Location,
}

/// Expands types and collects errors and references.
#[derive(Default)]
pub(super) struct Expander {
    pub(super) diagnostics: Diagnostics,
    /// Types of relations.
    pub(super) relations: Vec<Reference>,
    /// Workflows of types.
    pub(super) workflows: Vec<Reference>,
}

impl Expander {
    /// Returns the payload of a type; incomplete after errors.
    pub(super) fn content_type(&mut self, node: &YamlNode<'_>) -> Map<String, Value> {
        if !self.diagnostics.is_mapping(node) {
            return Map::new();
        }
        if API_KEYS.iter().any(|key| node.get(key).is_some()) {
            self.as_sent(node)
        } else {
            self.expanded(node)
        }
    }

    /// A type in the API form; the target validates it.
    fn as_sent(&mut self, node: &YamlNode<'_>) -> Map<String, Value> {
        let known: Vec<&str> = WRITABLE_KEYS.into_iter().chain(READ_ONLY_KEYS).collect();
        self.diagnostics.unknown_keys(node, &known);
        self.diagnostics.required_text(node, "name");
        let members = node.members().filter(|(key, _)| WRITABLE_KEYS.contains(key));
        members.map(|(key, member)| (key.to_owned(), member.value.clone())).collect()
    }

    fn expanded(&mut self, node: &YamlNode<'_>) -> Map<String, Value> {
        self.diagnostics.unknown_keys(node, &TYPE_KEYS);
        let name = self.diagnostics.required_text(node, "name").unwrap_or_default();
        let label = self.diagnostics.text(node, "label").map_or_else(|| label(name), str::to_owned);
        let workflow = self.diagnostics.text(node, "workflow").unwrap_or(DEFAULT_WORKFLOW);
        if let Some(member) = node.get("workflow") {
            let (name, location) = (workflow.to_owned(), member.location());
            self.workflows.push(Reference { name, location });
        }
        let level = self.level(node, "properties");
        let mut meta = json!({ "order": level.order, "propertiesConfig": level.configs });
        if self.diagnostics.flag(node, "applyDefaults") {
            meta["applyDefaults"] = json!(true);
        }
        if let Some(groups) = node.get("uniqueTogether") {
            meta["uniqueTogether"] = groups.value.clone();
        }
        if let Some(admin) = self.admin(node) {
            meta["admin"] = admin;
        }
        let payload = json!({
            "name": name,
            "label": label,
            "workflowId": workflow,
            "draftPublic": self.diagnostics.flag(node, "draftPublic"),
            "internal": self.diagnostics.flag(node, "internal"),
            "schemaDefinition": {
                "type": "object",
                "allOf": [
                    { "$ref": "#/components/schemas/AbstractContentTypeSchemaDefinition" },
                    { "type": "object", "properties": level.schemas },
                ],
                "required": level.required,
                "additionalProperties": false,
            },
            "metaDefinition": meta,
            "slugs": self.slugs(node),
        });
        let Value::Object(payload) = payload else { unreachable!("the payload is an object") };
        payload
    }

    /// `single` and the other hints for forms.
    fn admin(&mut self, node: &YamlNode<'_>) -> Option<Value> {
        let hints = node.get("admin").filter(|admin| self.diagnostics.is_mapping(admin));
        let mut hints = hints.map(|admin| admin.value.clone());
        if self.diagnostics.flag(node, "single") {
            hints.get_or_insert_with(|| json!({}))["single"] = json!(true);
        }
        hints
    }

    /// `slugs: {target: source}`, or the API's own list.
    fn slugs(&mut self, node: &YamlNode<'_>) -> Value {
        let Some(slugs) = node.get("slugs") else { return json!([]) };
        if slugs.value.is_array() {
            return slugs.value.clone();
        }
        if !self.diagnostics.is_mapping(&slugs) {
            return json!([]);
        }
        let rules = slugs.members().map(|(target, _)| {
            let source = self.diagnostics.text(&slugs, target).unwrap_or_default();
            json!({ "source": source, "target": target, "active": true })
        });
        Value::Array(rules.collect())
    }

    /// Expands the properties in the member `key`.
    fn level(&mut self, node: &YamlNode<'_>, key: &str) -> Level {
        let mut level = Level::default();
        let Some(node) = node.get(key) else {
            self.diagnostics.error_at(node, format!("\"{key}\" is missing"));
            return level;
        };
        if !self.diagnostics.is_mapping(&node) {
            return level;
        }
        for (name, property) in node.members() {
            self.diagnostics.check_property_name(name, &property);
            if !self.diagnostics.is_mapping(&property) {
                continue;
            }
            level.order.push(name.to_owned());
            if self.diagnostics.flag(&property, "required") {
                level.required.push(name.to_owned());
            }
            if let Some((schema, config)) = self.property(name, &property) {
                level.schemas.insert(name.to_owned(), schema);
                level.configs.insert(name.to_owned(), config);
            }
        }
        level
    }

    fn property(&mut self, name: &str, node: &YamlNode<'_>) -> Option<(Value, Value)> {
        let kind_name = self.diagnostics.required_text(node, "type")?;
        let kind = PROPERTY_KINDS.iter().find(|kind| kind.name == kind_name);
        if kind.is_none() {
            let near = one_of(kind_name, &PROPERTY_KINDS.each_ref().map(|kind| kind.name));
            let message = format!("unknown property type \"{kind_name}\"{near}");
            self.diagnostics.error_at(&node.at("type"), message);
        }
        // A property of an unknown type may have the keys of all types.
        let kinds = kind.map_or(&PROPERTY_KINDS[..], std::slice::from_ref);
        let keys = kinds.iter().flat_map(|kind| kind.keys).copied();
        let known: Vec<&str> = COMMON_KEYS.into_iter().chain(keys).collect();
        self.diagnostics.unknown_keys(node, &known);
        let kind = kind?;

        let label = self.diagnostics.text(node, "label").map_or_else(|| label(name), str::to_owned);
        let mut config = Map::new();
        config.insert("label".to_owned(), json!(label));
        config.insert("inputType".to_owned(), json!(kind.input_type));
        config.insert("unique".to_owned(), json!(self.diagnostics.flag(node, "unique")));
        for (short, long) in CONFIG_FLAGS {
            if self.diagnostics.flag(node, short) {
                config.insert(long.to_owned(), json!(true));
            }
        }
        if let Some(admin) = node.get("admin") {
            self.diagnostics.is_mapping(&admin);
        }
        for key in CONFIG_VALUES {
            if let Some(member) = node.get(key) {
                config.insert(key.to_owned(), member.value.clone());
            }
        }
        self.check_value_keys(name, node);
        let mut schema = self.shape(kind, node, &mut config);
        if let Some(default) = node.get("default") {
            schema["default"] = default.value.clone();
        }
        Some((schema, Value::Object(config)))
    }

    /// Checks `renamedFrom` and `convert`.
    fn check_value_keys(&mut self, name: &str, node: &YamlNode<'_>) {
        if self.diagnostics.text(node, "renamedFrom") == Some(name) {
            let message =
                format!("renamedFrom \"{name}\" is the property itself: use its old name");
            self.diagnostics.error_at(&node.at("renamedFrom"), message);
        }
        if let Some(way) = self.diagnostics.text(node, "convert").filter(|way| *way != PARSE) {
            let near = did_you_mean(way, [PARSE]);
            let near = if near.is_empty() { format!(": use {PARSE}") } else { near };
            let message = format!("unknown conversion \"{way}\"{near}");
            self.diagnostics.error_at(&node.at("convert"), message);
        }
    }

    /// Returns the schema of a property, and adds the config of its shape.
    fn shape(
        &mut self,
        kind: &PropertyKind,
        node: &YamlNode<'_>,
        config: &mut Map<String, Value>,
    ) -> Value {
        let required = node.get("required").is_some_and(|flag| flag.value == true);
        match kind.shape {
            Shape::Text => {
                if self.diagnostics.flag(node, "showTime") {
                    config.insert("showTime".to_owned(), json!(true));
                }
                self.text_schema(kind, node, required)
            }
            Shape::Number => {
                let mut schema = json!({ "type": kind.schema_type });
                for key in NUMBER_KEYS {
                    if let Some(bound) = node.get(key) {
                        schema[*key] = bound.value.clone();
                    }
                }
                schema
            }
            Shape::Flag => json!({ "type": kind.schema_type }),
            Shape::Choice => {
                self.options(node, config);
                if kind.name == "select" {
                    let multiple = self.diagnostics.flag(node, "multiple");
                    config.insert("multiple".to_owned(), json!(multiple));
                    if multiple {
                        return self.array_schema(node, required, &json!({ "type": "string" }));
                    }
                }
                self.text_schema(kind, node, required)
            }
            Shape::Relation => {
                let target = self.diagnostics.text(node, "to").unwrap_or_default();
                if let Some(member) = node.get("to").filter(|_| !target.is_empty()) {
                    self.relations
                        .push(Reference { name: target.to_owned(), location: member.location() });
                }
                let many = self.diagnostics.flag(node, "many");
                let validation = json!({ "relationMultiple": many, "relationContenttype": target });
                config.insert("validation".to_owned(), validation);
                let link = json!({ "$ref": "#/components/schemas/DataSource" });
                self.array_schema(node, required, &link)
            }
            Shape::List => {
                let level = self.level(node, "items");
                let items = json!({ "order": level.order, "propertiesConfig": level.configs });
                config.insert("items".to_owned(), items);
                let item = json!({
                    "type": "object",
                    "required": level.required,
                    "properties": level.schemas,
                });
                self.array_schema(node, required, &item)
            }
            Shape::SimpleList => self.array_schema(node, required, &json!({ "type": "string" })),
            Shape::Geo => {
                let mut schema = json!({
                    "type": "object",
                    "properties": { "lat": { "type": "number" }, "lon": { "type": "number" } },
                    "additionalProperties": false,
                });
                if required {
                    schema["required"] = json!(["lat", "lon"]);
                }
                schema
            }
            Shape::Block => {
                if let Some(blocks) = self.diagnostics.texts(node, "blocks") {
                    config.insert("blockEditorTypes".to_owned(), json!(blocks));
                }
                block_schema()
            }
        }
    }

    fn text_schema(&mut self, kind: &PropertyKind, node: &YamlNode<'_>, required: bool) -> Value {
        let mut schema = json!({ "type": "string" });
        let length = self.diagnostics.count(node, "minLength").or(required.then_some(1));
        if let Some(length) = length.filter(|length| *length > 0) {
            schema["minLength"] = json!(length);
        }
        if let Some(length) = self.diagnostics.count(node, "maxLength") {
            schema["maxLength"] = json!(length);
        }
        if let Some(pattern) = self.diagnostics.text(node, "pattern").or(kind.pattern) {
            schema["pattern"] = json!(pattern);
        }
        schema
    }

    fn array_schema(&mut self, node: &YamlNode<'_>, required: bool, items: &Value) -> Value {
        let min = self.diagnostics.count(node, "minItems").unwrap_or(u64::from(required));
        json!({ "type": "array", "items": items, "minItems": min })
    }

    /// `options: [a, b]`, or with labels `options: [{value: a, label: A}]`.
    fn options(&mut self, node: &YamlNode<'_>, config: &mut Map<String, Value>) {
        let labelled = node.get("options").is_some_and(|options| {
            options.items().next().is_some_and(|first| first.value.is_object())
        });
        if labelled {
            let options = node.get("options").map_or(json!([]), |options| options.value.clone());
            config.insert("options".to_owned(), json!([]));
            config.insert("useOptionsWithLabels".to_owned(), json!(true));
            config.insert("optionsWithLabels".to_owned(), options);
        } else {
            let options = self.diagnostics.texts(node, "options").unwrap_or_default();
            config.insert("options".to_owned(), json!(options));
        }
    }
}

/// The properties of a type, or of the items of a list.
#[derive(Default)]
struct Level {
    schemas: Map<String, Value>,
    configs: Map<String, Value>,
    required: Vec<String>,
    order: Vec<String>,
}

fn block_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "time": { "type": "number" },
            "blocks": { "type": "array", "items": { "type": "object", "properties": {
                "id": { "type": "string" },
                "type": { "type": "string" },
                "data": {
                    "type": "object",
                    "properties": { "text": { "type": "string" } },
                    "additionalProperties": true,
                },
            }}},
            "version": { "type": "string" },
        },
        "additionalProperties": false,
    })
}
