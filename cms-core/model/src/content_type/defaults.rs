//! Default values of properties, see docs/reference/content-types.md#defaults

use serde_json::{Map, Value};

use super::model::{Definition, InputType, Property, SchemaType};

/// Returns the default of a property. An empty text or list is no default, because forms store it
/// for a property without a default.
pub(super) fn of<'a>(property: &Property, schema: &'a Value) -> Option<&'a Value> {
    schema.get("default").filter(|default| match default {
        Value::Null => false,
        Value::String(text) => !text.is_empty() || property.schema_type != SchemaType::String,
        Value::Array(items) => !items.is_empty() || property.schema_type != SchemaType::Array,
        _ => true,
    })
}

/// Adds the missing members of a new object that have a default, if the type applies defaults.
pub fn fill(definition: &Definition, properties: &[Property], object: &mut Map<String, Value>) {
    if definition.applies_defaults() {
        let schemas = definition.own_schemas();
        fill_level(properties, schemas, object);
    }
}

/// Returns the properties that the server sets if a new object lacks them: those with an applied default,
/// and the targets of slug rules.
pub fn filled<'p>(definition: &Definition, properties: &'p [Property]) -> Vec<&'p str> {
    let mut defaults = Map::new();
    fill(definition, properties, &mut defaults);
    let names = properties.iter().map(|property| &*property.name);
    names.filter(|name| definition.has_slug(name) || defaults.contains_key(*name)).collect()
}

/// Returns whether [`fill`] can make an object many times larger, because it adds defaults to each item
/// of a list.
pub fn can_multiply(definition: &Definition, properties: &[Property]) -> bool {
    fn have_list(properties: &[Property]) -> bool {
        properties
            .iter()
            .any(|property| property.input_type == InputType::Object || have_list(&property.nested))
    }
    definition.applies_defaults() && have_list(properties)
}

fn fill_level(properties: &[Property], schemas: &Value, object: &mut Map<String, Value>) {
    for property in properties {
        let schema = &schemas[property.name.as_str()];
        if let Some(default) = of(property, schema)
            && !object.contains_key(&property.name)
        {
            object.insert(property.name.clone(), default.clone());
        }
        match (property.input_type, object.get_mut(&property.name)) {
            (InputType::Object, Some(Value::Array(items))) => {
                let schemas = &schema["items"]["properties"];
                for item in items.iter_mut().filter_map(Value::as_object_mut) {
                    fill_level(&property.nested, schemas, item);
                }
            }
            (InputType::Custom, Some(Value::Object(value))) => {
                fill_level(&property.nested, &schema["properties"], value);
            }
            _ => {}
        }
    }
}
