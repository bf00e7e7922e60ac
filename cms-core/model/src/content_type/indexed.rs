//! Lists the indexed properties and the unique combinations of a type. The position of an entry in this
//! list is its slot in the store.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::model::{Definition, Property, SchemaType};
use crate::{json, limits, query::value};

/// The indexed values of a type: properties in the order of the form, then unique combinations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedProperties {
    names: Vec<String>,
    combinations: Vec<Vec<String>>,
    json: String,
}

/// The property or the combination of properties that a slot indexes, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum IndexedValue {
    Property(String),
    Combination(Vec<String>),
}

impl IndexedProperties {
    /// The indexes of a type.
    pub fn of_type(definition: &Definition, properties: &[Property]) -> Self {
        Self::new(properties, definition.unique_together(properties))
    }

    /// The indexes of a type without combinations.
    pub fn without_combinations(properties: &[Property]) -> Self {
        Self::new(properties, Vec::new())
    }

    fn new(properties: &[Property], combinations: Vec<Vec<String>>) -> Self {
        let names: Vec<String> =
            indexed(properties).map(|property| property.name.clone()).collect();
        let values = names.iter().cloned().map(IndexedValue::Property);
        let values = values.chain(combinations.iter().cloned().map(IndexedValue::Combination));
        let json =
            serde_json::to_string(&values.collect::<Vec<_>>()).expect("strings are valid JSON");
        Self { names, combinations, json }
    }

    /// Returns the slot of a property.
    pub fn find(&self, property: &str) -> Option<usize> {
        self.names.iter().position(|name| name == property)
    }

    /// The unique combinations, with their slots.
    pub fn combinations(&self) -> impl Iterator<Item = (usize, &[String])> {
        (self.names.len()..).zip(self.combinations.iter().map(Vec::as_slice))
    }

    /// Returns whether a slot depends on a property.
    pub fn depends_on(&self, property: &str) -> bool {
        self.find(property).is_some()
            || self.combinations.iter().flatten().any(|name| name == property)
    }

    /// Converts a JSON object of values by slot to a JSON object of the indexed properties by name.
    pub fn object(&self, slots: &str) -> String {
        let mut object = String::with_capacity(slots.len() + 16 * self.names.len());
        object.push('{');
        for (number, value) in json::members(slots) {
            let name = number.parse::<usize>().ok().and_then(|number| self.names.get(number));
            let Some(name) = name else { continue };
            json::push_member(&mut object, name, value);
        }
        object.push('}');
        object
    }

    pub fn count(&self) -> usize {
        self.names.len() + self.combinations.len()
    }

    /// The values as a JSON array of [`IndexedValue`].
    pub fn json(&self) -> &str {
        &self.json
    }
}

/// Returns the value of a combination: the array of the values of its properties, or none if one of
/// them is empty. The values are [`value::canonical`], so that equal ones have equal JSON.
pub fn combination(values: impl Iterator<Item = Option<Value>>) -> Option<Value> {
    let values = values
        .map(|value| value.filter(|value| !value::is_empty(value)).as_ref().map(value::canonical));
    values.collect::<Option<Vec<_>>>().map(Value::Array)
}

/// Returns the value of a combination in an object.
pub fn combination_in(names: &[String], object: &Map<String, Value>) -> Option<Value> {
    combination(names.iter().map(|name| object.get(name).cloned()))
}

/// Returns the indexed properties: all unique ones, and the first
/// [`limits::MAX_INDEXED_PROPERTIES`] other short scalars.
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
    use serde_json::json;

    use super::*;
    use crate::content_type::model::InputType;

    #[test]
    fn object_has_the_values_by_name() {
        let property = |name| Property::plain(name, SchemaType::String, InputType::Text);
        let indexed = IndexedProperties::without_combinations(&["a", "b", "c"].map(property));
        let cases = [
            ("{}", "{}"),
            (r#"{"0":"A \"x\""}"#, r#"{"a":"A \"x\""}"#),
            (r#"{"0":1,"2":[{}],"3":4,"x":5}"#, r#"{"a":1,"c":[{}]}"#),
        ];
        for (slots, object) in cases {
            assert_eq!(indexed.object(slots), object);
        }
    }

    #[test]
    fn combination_needs_all_values_and_normalizes_numbers() {
        let names = ["a", "b"].map(str::to_owned);
        let table = [
            (json!({"a": "X", "b": 1, "c": 2}), Some(json!(["X", 1]))),
            (json!({"a": 1.0, "b": -0.0}), Some(json!([1, 0]))),
            (json!({"a": 1.5, "b": 1e300}), Some(json!([1.5, 1e300]))),
            (json!({"a": false, "b": [{"x": 1}]}), Some(json!([false, [{"x": 1}]]))),
            (json!({"a": "X"}), None),
            (json!({"a": "X", "b": ""}), None),
            (json!({"a": null, "b": []}), None),
        ];
        for (object, value) in table {
            assert_eq!(combination_in(&names, object.as_object().unwrap()), value, "{object}");
        }
    }

    #[test]
    fn combinations_are_indexed_after_properties() {
        let property = |name| Property::plain(name, SchemaType::String, InputType::Text);
        let properties = ["a", "b", "c"].map(property);
        let group = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        let indexed =
            IndexedProperties::new(&properties, vec![group(["c", "a"]), group(["a", "b"])]);
        assert_eq!(indexed.json(), r#"["a","b","c",["c","a"],["a","b"]]"#);
        assert_eq!(indexed.count(), 5);
        let slots: Vec<_> =
            indexed.combinations().map(|(slot, names)| (slot, names[0].as_str())).collect();
        assert_eq!(slots, [(3, "c"), (4, "a")]);
        assert_eq!(indexed.object(r#"{"0":1,"3":[1,2]}"#), r#"{"a":1}"#);
    }
}
