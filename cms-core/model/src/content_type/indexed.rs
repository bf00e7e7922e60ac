//! Selects the indexed properties of a type. The store numbers its indexes in the order of this
//! list.

use super::model::{Property, SchemaType};
use crate::{json, limits};

/// The names of the indexed properties of a type, in the order of the form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedProperties {
    names: Vec<String>,
    json: String,
}

impl IndexedProperties {
    pub fn of(properties: &[Property]) -> Self {
        let names: Vec<String> =
            indexed(properties).map(|property| property.name.clone()).collect();
        let json = serde_json::to_string(&names).expect("strings are valid JSON");
        Self { names, json }
    }

    /// Returns the slot of a property.
    pub fn find(&self, property: &str) -> Option<usize> {
        self.names.iter().position(|name| name == property)
    }

    /// Returns the object with these values: `slots` is a JSON object by slot.
    pub fn object(&self, slots: &str) -> String {
        let mut object = String::with_capacity(slots.len() + 16 * self.names.len());
        object.push('{');
        for (number, value) in json::members(slots) {
            let name = number.parse::<usize>().ok().and_then(|number| self.names.get(number));
            let Some(name) = name else { continue };
            let comma = if object.len() > 1 { "," } else { "" };
            // Names of properties need no escapes.
            for text in [comma, "\"", name, "\":", value] {
                object.push_str(text);
            }
        }
        object.push('}');
        object
    }

    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// The names as a JSON array.
    pub fn json(&self) -> &str {
        &self.json
    }
}

/// Returns the indexed properties: all unique ones, and the first
/// [`limits::MAX_INDEXED_PROPERTIES`] short scalars.
pub fn indexed(properties: &[Property]) -> impl Iterator<Item = &Property> {
    let mut scalars = 0;
    properties.iter().filter(move |property| {
        let is_scalar =
            property.input_type.is_indexable() && property.schema_type != SchemaType::Array;
        scalars += usize::from(is_scalar && !property.unique);
        property.unique || (is_scalar && scalars <= limits::MAX_INDEXED_PROPERTIES)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content_type::model::InputType;

    #[test]
    fn object_has_the_values_by_name() {
        let property = |name| Property::plain(name, SchemaType::String, InputType::Text);
        let indexed = IndexedProperties::of(&["a", "b", "c"].map(property));
        let cases = [
            ("{}", "{}"),
            (r#"{"0":"A \"x\""}"#, r#"{"a":"A \"x\""}"#),
            (r#"{"0":1,"2":[{}],"3":4,"x":5}"#, r#"{"a":1,"c":[{}]}"#),
        ];
        for (slots, object) in cases {
            assert_eq!(indexed.object(slots), object);
        }
    }
}
