//! The stored definition of the properties of one level: of a type, or inside a list of objects or an object.

use serde_json::Value;

use super::model::{Definition, InputType, Property};

/// Schemas and form settings by the name of the property.
#[derive(Clone, Copy)]
pub struct StoredLevel<'a> {
    pub schemas: &'a Value,
    pub configs: &'a Value,
}

impl<'a> StoredLevel<'a> {
    /// The own properties of a type.
    pub fn of(definition: &'a Definition) -> Self {
        Self {
            schemas: definition.own_schemas(),
            configs: &definition.meta_definition["propertiesConfig"],
        }
    }

    /// The properties inside a property, which has this schema and these form settings.
    pub fn nested(property: &Property, schema: &'a Value, config: &'a Value) -> Self {
        let (schema, config) = match property.input_type {
            InputType::Object => (&schema["items"], &config["items"]),
            _ => (schema, config),
        };
        Self { schemas: &schema["properties"], configs: &config["propertiesConfig"] }
    }
}
