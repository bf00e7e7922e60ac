//! The unique values of an object, single and combined (see docs/reference/objects.md#unique-values
//! and docs/reference/content-types.md#unique-combinations).

use cms_model::{
    content_type::{catalog::CompiledType, indexed::combination_in},
    error::{FieldErrors, Result},
    message,
};
use cms_store::Reader;
use serde_json::{Map, Value};

/// The values of an object that no other object of its type may have.
pub(super) struct UniqueValues {
    /// By slot and name of the property.
    properties: Vec<(usize, String, Value)>,
    /// In the order of the combinations of the type; none where a value is empty.
    combinations: Vec<Option<Value>>,
}

impl UniqueValues {
    pub(super) fn of(content_type: &CompiledType, object: &Map<String, Value>) -> Self {
        let properties = content_type.unique_properties().filter_map(|(slot, property)| {
            object.get(&property.name).map(|value| (slot, property.name.clone(), value.clone()))
        });
        let combinations = content_type.indexed.combinations();
        Self {
            properties: properties.collect(),
            combinations: combinations.map(|(_, names)| combination_in(names, object)).collect(),
        }
    }

    /// Adds the errors of values that another object has. `itself` is the primary key of an existing
    /// object.
    pub(super) fn check(
        &self,
        reader: &Reader<'_>,
        content_type: &CompiledType,
        itself: Option<i64>,
        errors: &mut FieldErrors,
    ) -> Result<()> {
        let is_used = |slot, value: &Value| -> Result<bool> {
            for &edition in content_type.definition.editions() {
                if reader.is_value_used(edition, content_type.pk, slot, value, itself)? {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        for (slot, name, value) in &self.properties {
            if is_used(*slot, value)? {
                errors.add(name.as_str(), message::ALREADY_USED);
            }
        }
        for ((slot, names), value) in content_type.indexed.combinations().zip(&self.combinations) {
            let Some(value) = value else { continue };
            if is_used(slot, value)? {
                errors.add(names[0].as_str(), message::used_together(&names[1..]));
            }
        }
        Ok(())
    }
}
