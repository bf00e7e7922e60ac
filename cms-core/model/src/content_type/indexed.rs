//! Selects the indexed properties of a type. The store numbers its indexes in the order of this
//! list.

use super::model::{Property, SchemaType};
use crate::limits;

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

    /// Returns the number of a property's index.
    pub fn find(&self, property: &str) -> Option<usize> {
        self.names.iter().position(|name| name == property)
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
