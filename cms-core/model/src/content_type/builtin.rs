//! The built-in types, see docs/reference/content-types.md#built-in-types
//!
//! Each type is a table of properties. This module builds a payload from the table and parses it like
//! the payload of a client.

use serde_json::{Map, Value, json};

use super::{
    model::{DATA_SOURCE_REF, Definition},
    parse,
};
use crate::{
    webhook::model::{ACTIONS, EXECUTION_MODES, WebhookKind},
    workflow::model::WorkflowSet,
};

/// System types that GraphQL schemas and OpenAPI documents leave out.
pub const OMITTED_FROM_API_SCHEMAS: [&str; 2] = [WEBHOOKS, PLUGIN_SETTINGS];

const EMAIL: &str = "^$|^[a-zA-Z0-9_.+-]+@[a-zA-Z0-9_.+-]+?\\.[a-zA-Z]{2,}$";
const SLUG: &str = "^[a-zA-Z0-9-_]*$";
const VARIANT: &str = "^[_a-zA-Z0-9]+$";
const HEADER_NAME: &str = "^[a-zA-Z0-9-]*$";

/// The type whose objects are media files.
pub const MEDIA: &str = "_media";
/// The property of `_media` that holds the focal point.
const FOCAL_POINT: &str = "focalPoint";

/// The type whose objects are webhooks.
pub const WEBHOOKS: &str = "_webhooks";
/// The property of `_webhooks` with the quiet period before changes are delivered together.
pub const DEBOUNCE: &str = "debounceSeconds";
const MAX_DEBOUNCE_SECONDS: i64 = 3600;
/// A reserved name: other servers of this API have a system type of this name, cms does not.
pub const PLUGIN_SETTINGS: &str = "_plugin_settings";

type Fields = fn() -> Vec<Field>;

/// Name, label and properties.
const BUILTIN: [(&str, &str, Fields); 7] = [
    ("about", "About", || translated(about)),
    ("contact", "Contact", || translated(contact)),
    ("contact_form", "Contact form", contact_form),
    (MEDIA, "Media (internal)", media),
    ("project", "Project", project),
    ("_tag", "Tag (internal)", tag),
    (WEBHOOKS, "Webhooks (internal)", webhooks),
];

/// Returns whether a type is built in.
pub fn is_builtin(name: &str) -> bool {
    BUILTIN.iter().any(|(known, ..)| *known == name)
}

/// Returns the built-in types in the order of their creation.
pub fn definitions() -> Vec<Definition> {
    BUILTIN.iter().map(|(name, label, fields)| definition(name, label, fields())).collect()
}

/// Returns the type of webhooks, which data directories of older versions lack.
pub fn webhooks_definition() -> Definition {
    let (name, label, fields) = BUILTIN[BUILTIN.len() - 1];
    definition(name, label, fields())
}

/// Adds the property that a built-in type lacks in a data directory of an older version: the focal
/// point of media, or the quiet period of webhooks. Returns whether the property was missing.
pub fn add_missing_property(definition: &mut Definition) -> bool {
    let Field { name, schema, config, .. } = match definition.name.as_str() {
        MEDIA => focal_point(),
        WEBHOOKS => debounce(),
        _ => return false,
    };
    let schemas = &mut definition.schema_definition["allOf"][1]["properties"];
    let Some(schemas) = schemas.as_object_mut().filter(|schemas| !schemas.contains_key(name))
    else {
        return false;
    };
    schemas.insert(name.to_owned(), schema);
    let meta = &mut definition.meta_definition;
    meta["propertiesConfig"][name] = config;
    if let Value::Array(order) = &mut meta["order"] {
        order.push(json!(name));
    }
    true
}

fn definition(name: &str, label: &str, fields: Vec<Field>) -> Definition {
    let (schema, meta) = level(fields);
    let payload = json!({
        "name": name,
        "label": label,
        "internal": name.starts_with('_'),
        "schemaDefinition": {
            "type": "object",
            "allOf": [
                {"$ref": "#/components/schemas/AbstractContentTypeSchemaDefinition"},
                {"type": "object", "properties": schema["properties"]},
            ],
            "required": schema["required"],
            "additionalProperties": false,
        },
        "metaDefinition": meta,
    });
    let payload = payload.as_object().expect("a payload is an object");
    parse::definition(payload, None, &WorkflowSet::built_in())
        .expect("the built-in types are valid")
}

fn about() -> Vec<Field> {
    vec![
        text("name"),
        textarea("description"),
        text("story_title"),
        richtext("story"),
        link("story_image", "_media"),
        text("mission_title"),
        textarea("mission_description"),
        list("mission_item", vec![text("title"), textarea("description")]),
        text("team_title"),
        textarea("team_description"),
        list("team", vec![text("name"), text("position"), link("image", "_media")]),
        text("journey_title"),
        list("journey", vec![number("year"), text("title"), textarea("description")]),
    ]
}

fn contact() -> Vec<Field> {
    vec![
        text("contact_title"),
        textarea("description"),
        text("get_in_touch_title"),
        textarea("get_in_touch_description"),
        textarea("address"),
        text("phone"),
        email("email"),
        text("business_hours_title"),
        list("business_hours", vec![text("day"), text("hours")]),
        text("send_a_message_title"),
        textarea("send_a_message_description"),
    ]
}

fn contact_form() -> Vec<Field> {
    vec![text("name").required(), email("email").required(), textarea("question")]
}

fn project() -> Vec<Field> {
    let slug = || text("slug").required().unique().schema("pattern", SLUG);
    let header_image = || link("headerImage", "_media").schema("minItems", 0);
    let gallery = || links("gallery", "_media").schema("minItems", 0);
    vec![
        text("name").required().unique().title(),
        slug(),
        links("tags", "_tag"),
        textarea("short_description"),
        richtext("description"),
        header_image(),
        text("gallery_name"),
        richtext("gallery_description"),
        gallery(),
        translations(vec![
            text("name"),
            slug(),
            links("tags", "_tag"),
            textarea("short_description"),
            richtext("description"),
            header_image(),
            gallery(),
        ]),
    ]
}

fn media() -> Vec<Field> {
    let edge =
        |name, minimum: i32| number(name).schema("minimum", minimum).schema("maximum", 9_999_999);
    let trim = vec![
        edge("top", 0).required(),
        edge("right", 0),
        edge("bottom", 0),
        edge("left", 0).required(),
        edge("width", 1),
        edge("height", 1),
    ];
    let name = text("name").required().unique().schema("pattern", VARIANT);
    vec![
        text("fileName").required().title(),
        text("mimeType").required().config("label", "MIME type"),
        number("size").required(),
        number("width"),
        number("height"),
        text("url").required(),
        text("externalId"),
        select("source", &["disk", "unsplash"]).required(),
        text("extension").required(),
        select("type", &["image", "file"]).required(),
        links("tags", "_tag").schema("minItems", 0),
        text("alt").config("label", "ALT"),
        text("title"),
        list("variants", vec![name, custom("trim", trim)]).schema("minItems", 0),
        focal_point(),
    ]
}

fn focal_point() -> Field {
    let axis = |name| number(name).schema("minimum", 0).schema("maximum", 1).required();
    custom(FOCAL_POINT, vec![axis("x"), axis("y")])
        .schema("additionalProperties", false)
        .config("inputSubtype", "focal")
}

fn tag() -> Vec<Field> {
    vec![text("name").required().unique().title()]
}

fn webhooks() -> Vec<Field> {
    let type_name = text("content_type_definition_name").required();
    let header = vec![text("header_name").schema("pattern", HEADER_NAME), text("header_value")];
    vec![
        text("name").required().title(),
        select("type", &WebhookKind::ALL.map(WebhookKind::as_str))
            .schema("default", WebhookKind::Object.as_str()),
        select("executionMode", &EXECUTION_MODES).schema("default", EXECUTION_MODES[0]),
        list("content_type_definitions", vec![type_name]).required().schema("minItems", 0),
        list("actions", vec![select("action", &ACTIONS).required()])
            .required()
            .schema("minItems", 0),
        text("url"),
        text("code"),
        list("headers", header).schema("minItems", 0),
        checkbox("enabled"),
        debounce(),
    ]
}

fn debounce() -> Field {
    number(DEBOUNCE)
        .schema("type", "integer")
        .schema("minimum", 0)
        .schema("maximum", MAX_DEBOUNCE_SECONDS)
}

/// Adds translations of all fields, see docs/reference/content-types.md#translations
fn translated(fields: Fields) -> Vec<Field> {
    let mut all = fields();
    all.push(translations(fields()));
    all
}

fn translations(mut fields: Vec<Field>) -> Field {
    let language = text("__language").config("label", "Language").schema("default", "en");
    fields.push(language.required());
    list("__translations", fields).config("label", "Translations").config("hidden", true)
}

/// Builds the schema and the config of one property.
struct Field {
    name: &'static str,
    schema: Value,
    config: Value,
    required: bool,
}

impl Field {
    fn new(name: &'static str, input_type: &str, schema: Value) -> Self {
        let config = json!({"label": label(name), "inputType": input_type, "unique": false});
        Self { name, schema, config, required: false }
    }

    fn schema(mut self, keyword: &str, value: impl Into<Value>) -> Self {
        self.schema[keyword] = value.into();
        self
    }

    fn config(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.config[key] = value.into();
        self
    }

    /// A required text must not be empty.
    fn required(mut self) -> Self {
        self.required = true;
        if self.schema["type"] == "string" { self.schema("minLength", 1) } else { self }
    }

    fn unique(self) -> Self {
        self.config("unique", true)
    }

    fn title(self) -> Self {
        self.config("isTitlePart", true)
    }
}

fn text(name: &'static str) -> Field {
    Field::new(name, "text", json!({"type": "string"}))
}

fn textarea(name: &'static str) -> Field {
    Field::new(name, "textarea", json!({"type": "string"}))
}

fn richtext(name: &'static str) -> Field {
    Field::new(name, "richtext", json!({"type": "string"}))
}

fn email(name: &'static str) -> Field {
    Field::new(name, "email", json!({"type": "string", "pattern": EMAIL}))
}

fn checkbox(name: &'static str) -> Field {
    Field::new(name, "checkbox", json!({"type": "boolean"}))
}

fn number(name: &'static str) -> Field {
    Field::new(name, "number", json!({"type": "number"}))
}

fn select(name: &'static str, options: &[&str]) -> Field {
    Field::new(name, "select", json!({"type": "string"})).config("options", json!(options))
}

/// A relation to one object.
fn link(name: &'static str, target: &str) -> Field {
    relation(name, target, false)
}

/// A relation to any number of objects.
fn links(name: &'static str, target: &str) -> Field {
    relation(name, target, true)
}

fn relation(name: &'static str, target: &str, multiple: bool) -> Field {
    let items = json!({"$ref": DATA_SOURCE_REF});
    Field::new(name, "datasource", json!({"type": "array", "items": items}))
        .config("validation", json!({"relationMultiple": multiple, "relationContenttype": target}))
}

fn list(name: &'static str, fields: Vec<Field>) -> Field {
    let (items, meta) = level(fields);
    Field::new(name, "object", json!({"type": "array", "items": items})).config("items", meta)
}

fn custom(name: &'static str, fields: Vec<Field>) -> Field {
    let (schema, mut meta) = level(fields);
    let [order, configs] = ["order", "propertiesConfig"].map(|key| meta[key].take());
    Field::new(name, "custom", schema).config("order", order).config("propertiesConfig", configs)
}

/// Builds the schema and the meta definition of one level.
fn level(fields: Vec<Field>) -> (Value, Value) {
    let (mut order, mut required) = (Vec::new(), Vec::new());
    let (mut schemas, mut configs) = (Map::new(), Map::new());
    for field in fields {
        order.push(field.name);
        if field.required {
            required.push(field.name);
        }
        schemas.insert(field.name.to_owned(), field.schema);
        configs.insert(field.name.to_owned(), field.config);
    }
    (
        json!({"type": "object", "properties": schemas, "required": required}),
        json!({"order": order, "propertiesConfig": configs}),
    )
}

/// `story_image` and `headerImage` become `Story image` and `Header image`.
fn label(name: &str) -> String {
    let mut label = String::new();
    for c in name.chars() {
        match c {
            '_' => label.push(' '),
            _ if label.is_empty() => label.push(c.to_ascii_uppercase()),
            _ if c.is_ascii_uppercase() => label.extend([' ', c.to_ascii_lowercase()]),
            _ => label.push(c),
        }
    }
    label
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content_type::{model::Property, schema};

    /// Name, types and flags of each property, nested ones indented.
    fn describe(properties: &[Property], indent: &str, out: &mut String) {
        for property in properties {
            let marks = [
                (property.required, " required"),
                (property.unique, " unique"),
                (property.title_part, " title"),
                (property.relation.as_ref().is_some_and(|r| r.multiple), " multiple"),
            ];
            let marks = marks.map(|(set, mark)| if set { mark } else { "" }).concat();
            let target = property.relation.as_ref().and_then(|r| r.target.clone());
            let target = target.map(|target| format!(" -> {target}")).unwrap_or_default();
            let options = property.options.join("|");
            let (name, kind) = (&property.name, property.kind());
            let line = format!("{indent}{name} {kind}{target}{marks} {options}");
            out.push_str(line.trim_end());
            out.push('\n');
            describe(&property.nested, &format!("{indent}  "), out);
        }
    }

    #[test]
    fn builtin_types_have_the_documented_properties() {
        let mut found = String::new();
        for definition in definitions() {
            let mark = if definition.internal { " internal" } else { "" };
            found.extend([&definition.name, " (", &definition.label, ")", mark, "\n"]);
            describe(&definition.properties(), "  ", &mut found);
        }
        insta::assert_snapshot!(found);
    }

    #[test]
    fn media_type_of_an_older_version_gains_the_focal_point() {
        let current = definition(MEDIA, "Media (internal)", media());
        let older: Vec<Field> = media().into_iter().filter(|f| f.name != FOCAL_POINT).collect();
        let mut older = definition(MEDIA, "Media (internal)", older);
        assert!(add_missing_property(&mut older));
        assert_eq!(older, current);
        assert!(!add_missing_property(&mut older));
        assert_eq!(older, current);
    }

    #[test]
    fn labels_are_readable() {
        let labels: Vec<(String, Value)> = definitions()
            .into_iter()
            .flat_map(|definition| {
                let configs = definition.meta_definition["propertiesConfig"].clone();
                let configs = configs.as_object().unwrap().clone();
                configs.into_iter().map(|(name, config)| (name, config["label"].clone()))
            })
            .collect();
        let label = |name: &str| labels.iter().find(|(known, _)| known == name).unwrap().1.clone();
        for (name, expected) in [
            ("story_image", "Story image"),
            ("headerImage", "Header image"),
            ("fileName", "File name"),
            ("mimeType", "MIME type"),
            ("externalId", "External id"),
            ("alt", "ALT"),
            ("focalPoint", "Focal point"),
            ("__translations", "Translations"),
            ("send_a_message_description", "Send a message description"),
        ] {
            assert_eq!(label(name), expected);
        }
    }

    #[test]
    fn schemas_of_all_types_compile() {
        for definition in definitions() {
            for property in schema::compile(&definition.properties(), &definition) {
                property.validator();
                assert!(property.patterns().own.iter().all(|own| own.compiled().is_some()));
            }
        }
    }
}
