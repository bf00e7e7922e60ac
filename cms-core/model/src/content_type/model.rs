//! A validated content type definition.
//!
//! [`Definition`] is the payload of a client after [`super::parse`] has validated it; it is stored
//! as sent. [`Property`] and [`InputType`] are its typed form. This module knows neither storage
//! nor objects.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::preview;
use crate::{
    object::model::Edition,
    wire::content_type::{ContentType, Slug},
};

/// Reference to the schema of links in the OpenAPI document.
pub const DATA_SOURCE_REF: &str = "#/components/schemas/DataSource";

/// A validated definition: the fields of a content type that a client sets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Definition {
    pub name: String,
    pub label: String,
    pub workflow_id: String,
    pub draft_public: bool,
    pub internal: bool,
    /// As sent, plus the defaults of `required` and `additionalProperties`.
    pub schema_definition: Map<String, Value>,
    /// As sent.
    pub meta_definition: Map<String, Value>,
    pub slugs: Vec<Slug>,
    pub featured_image: Vec<Value>,
}

/// A property of a type, of the items of a list, or of a `custom` object.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "four independent flags of a property")]
pub struct Property {
    pub name: String,
    pub schema_type: SchemaType,
    pub input_type: InputType,
    pub required: bool,
    pub unique: bool,
    pub readonly: bool,
    pub title_part: bool,
    /// Allowed values of radio and select; empty allows any value.
    pub options: Vec<String>,
    /// Only for `datasource`.
    pub relation: Option<Relation>,
    /// Allowed block types of a block value; none allows any type.
    pub block_types: Option<Vec<String>>,
    /// Properties of list items (`object`) or of a `custom` object.
    pub nested: Vec<Property>,
    pub conversion: Conversion,
}

/// How stored values are kept when a definition changes, see
/// docs/reference/content-types.md#keep-values
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conversion {
    /// The removed property whose values move to this one.
    pub renamed_from: Option<String>,
    /// Text is parsed to a number or a boolean instead of reset.
    pub parse: bool,
    /// Value for objects without a value of a required property.
    pub backfill: Option<Value>,
}

impl Property {
    /// A property with a name and types only.
    #[cfg(any(test, feature = "testing"))]
    pub fn plain(name: &str, schema_type: SchemaType, input_type: InputType) -> Self {
        Self {
            name: name.to_owned(),
            schema_type,
            input_type,
            required: false,
            unique: false,
            readonly: false,
            title_part: false,
            options: Vec::new(),
            relation: None,
            block_types: None,
            nested: Vec::new(),
            conversion: Conversion::default(),
        }
    }

    /// The pair `type/inputType` for plans and messages.
    pub fn kind(&self) -> String {
        format!("{}/{}", self.schema_type.as_str(), self.input_type.as_str())
    }

    /// Returns whether values of this property can contain links.
    pub fn may_link(&self) -> bool {
        self.relation.is_some() || self.nested.iter().any(Self::may_link)
    }

    /// Path of the configs of nested properties, when `path` is the path of this property's config.
    pub fn nested_configs(&self, path: &str) -> String {
        match self.input_type {
            InputType::Object => format!("{path}.items.propertiesConfig"),
            _ => format!("{path}.propertiesConfig"),
        }
    }

    /// Returns whether this is a `custom` property with nested properties.
    pub fn is_nested_object(&self) -> bool {
        self.input_type == InputType::Custom
            && self.schema_type == SchemaType::Object
            && !self.nested.is_empty()
    }
}

/// Path of the configs of a type's own properties.
pub const CONFIGS_PATH: &str = "metaDefinition.propertiesConfig";

/// Path of the flag of types with at most one object.
pub const SINGLE_PATH: &str = "metaDefinition.admin.single";

/// The key of the groups of properties whose values together are unique.
pub const UNIQUE_TOGETHER: &str = "uniqueTogether";

/// The only value of `convert`.
pub const PARSE: &str = "parse";

/// The allowed targets of a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// Name of the allowed type; none means any type.
    pub target: Option<String>,
    pub multiple: bool,
}

crate::named_enum! {
    /// `type` of a property schema.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum SchemaType {
        Array => "array",
        Boolean => "boolean",
        Integer => "integer",
        Null => "null",
        Number => "number",
        Object => "object",
        String => "string",
    }
}

crate::named_enum! {
    /// `inputType` of a property config, in the order of the validation message, see
    /// docs/reference/content-types.md#input-types
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum InputType {
        Text => "text",
        RichText => "richtext",
        Textarea => "textarea",
        TextMarkdown => "textMarkdown",
        Email => "email",
        Number => "number",
        Radio => "radio",
        Checkbox => "checkbox",
        Select => "select",
        Datasource => "datasource",
        Object => "object",
        Geo => "geo",
        DateTime => "dateTime",
        Block => "block",
        SimpleList => "simpleList",
        Markdown => "markdown",
        Custom => "custom",
    }
}

impl InputType {
    /// Names of the members that values have by their input type; empty if the type has none, or properties declare them.
    pub fn fixed_members(self) -> &'static [&'static str] {
        match self {
            Self::Datasource => &["dataUrl", "type"],
            Self::Geo => &["lat", "lon"],
            Self::Block => &["time", "blocks", "version"],
            _ => &[],
        }
    }

    /// Returns whether values can be part of an object's title.
    pub fn can_be_title(self) -> bool {
        matches!(
            self,
            Self::Text
                | Self::Textarea
                | Self::Email
                | Self::Number
                | Self::Select
                | Self::DateTime
        )
    }

    /// Returns whether values are short scalars. Properties of such values are indexed unless they are
    /// lists, see docs/reference/filters.md#indexes
    pub fn is_indexable(self) -> bool {
        matches!(
            self,
            Self::Text
                | Self::Email
                | Self::Number
                | Self::Radio
                | Self::Checkbox
                | Self::Select
                | Self::DateTime
        )
    }
}

impl Definition {
    /// Returns whether a slug is written to a property.
    pub fn has_slug(&self, property: &str) -> bool {
        self.slugs.iter().any(|rule| rule.active && rule.target == property)
    }

    /// The definition of a content type in the API form.
    pub fn of(content_type: &ContentType) -> Self {
        let object = |value: &Value| value.as_object().cloned().unwrap_or_default();
        Self {
            name: content_type.name.clone(),
            label: content_type.label.clone(),
            workflow_id: content_type.workflow_id.clone(),
            draft_public: content_type.draft_public,
            internal: content_type.internal,
            schema_definition: object(&content_type.schema_definition),
            meta_definition: object(&content_type.meta_definition),
            slugs: content_type.slugs.clone(),
            featured_image: content_type.featured_image.clone(),
        }
    }

    /// The properties in the order of the form. The definition is valid, so nothing can be missing.
    pub fn properties(&self) -> Vec<Property> {
        let required = self.schema_definition.get("required");
        let meta = Value::Object(self.meta_definition.clone());
        read_properties(self.own_schemas(), required, &meta)
    }

    /// The schemas of the own properties, by name.
    pub fn own_schemas(&self) -> &Value {
        &self.schema_definition["allOf"][1]["properties"]
    }

    /// Returns whether the type has at most one object, see
    /// docs/reference/content-types.md#single-object-types
    pub fn is_single(&self) -> bool {
        self.meta_definition.get("admin").is_some_and(|admin| admin["single"] == true)
    }

    /// The template of the preview URL, see docs/reference/preview.md#preview-url
    pub fn preview_url(&self) -> Option<&str> {
        let url = self.meta_definition.get("admin")?.get("previewUrl")?.as_str()?;
        // Types of earlier versions may have any text there.
        Some(url).filter(|url| !url.is_empty() && preview::is_valid(url))
    }

    /// Returns whether new objects get the defaults of missing properties, see
    /// docs/reference/content-types.md#defaults
    pub fn applies_defaults(&self) -> bool {
        self.meta_definition.get("applyDefaults") == Some(&Value::Bool(true))
    }

    /// The groups of properties whose values together are unique, see
    /// docs/reference/content-types.md#unique-combinations
    pub fn unique_together(&self, properties: &[Property]) -> Vec<Vec<String>> {
        let is_known = |name: &&str| properties.iter().any(|property| property.name == *name);
        let groups = self.meta_definition.get(UNIQUE_TOGETHER).and_then(Value::as_array);
        let groups = groups.into_iter().flatten().filter(|group| {
            // Types of earlier versions may have anything there.
            group.as_array().is_some_and(|names| {
                names.len() > 1 && strings(group).filter(is_known).count() == names.len()
            })
        });
        groups.map(|group| strings(group).map(str::to_owned).collect()).collect()
    }

    /// The editions of objects of the type.
    pub fn editions(&self) -> &'static [Edition] {
        if self.draft_public { &Edition::ALL } else { &[Edition::Current] }
    }
}

/// Reads the properties of one level from schemas, required names and meta definition.
fn read_properties(schemas: &Value, required: Option<&Value>, meta: &Value) -> Vec<Property> {
    let configs = &meta["propertiesConfig"];
    let is_required = |name: &str| {
        required.and_then(Value::as_array).is_some_and(|names| names.iter().any(|n| n == name))
    };
    strings(&meta["order"])
        .filter_map(|name| {
            let (schema, config) = (schemas.get(name)?, configs.get(name)?);
            read_property(name, schema, config, is_required(name))
        })
        .collect()
}

fn read_property(name: &str, schema: &Value, config: &Value, required: bool) -> Option<Property> {
    let schema_type = SchemaType::parse(schema["type"].as_str()?)?;
    let input_type = InputType::parse(config["inputType"].as_str()?)?;
    let flag = |key: &str| config[key].as_bool() == Some(true);
    let nested = match input_type {
        InputType::Object => {
            let items = &schema["items"];
            read_properties(&items["properties"], items.get("required"), &config["items"])
        }
        InputType::Custom => read_properties(&schema["properties"], schema.get("required"), config),
        _ => Vec::new(),
    };
    Some(Property {
        name: name.to_owned(),
        schema_type,
        input_type,
        required,
        unique: flag("unique"),
        readonly: flag("readonly"),
        title_part: flag("isTitlePart") && input_type.can_be_title(),
        options: read_options(input_type, config),
        relation: (input_type == InputType::Datasource).then(|| Relation {
            target: config["validation"]["relationContenttype"]
                .as_str()
                .filter(|target| !target.is_empty())
                .map(str::to_owned),
            multiple: config["validation"]["relationMultiple"].as_bool() == Some(true),
        }),
        block_types: (input_type == InputType::Block && config["blockEditorTypes"].is_array())
            .then(|| strings(&config["blockEditorTypes"]).map(str::to_owned).collect()),
        nested,
        conversion: Conversion {
            renamed_from: config["renamedFrom"].as_str().map(str::to_owned),
            parse: config["convert"] == PARSE,
            backfill: config.get("backfill").cloned(),
        },
    })
}

/// The allowed values of a radio or select.
fn read_options(input_type: InputType, config: &Value) -> Vec<String> {
    if !matches!(input_type, InputType::Radio | InputType::Select) {
        return Vec::new();
    }
    if config["useOptionsWithLabels"] == true {
        let options = config["optionsWithLabels"].as_array().into_iter().flatten();
        return options.filter_map(|option| option["value"].as_str().map(str::to_owned)).collect();
    }
    strings(&config["options"]).map(str::to_owned).collect()
}

pub(super) fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}
