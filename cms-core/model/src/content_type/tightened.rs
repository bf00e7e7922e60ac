//! Finds stored values that a change of their type keeps although they are no longer valid, such as
//! values of removed options. They stay until the next write of their object, which has to replace
//! them.

use serde_json::Value;

use super::{
    diff::PropertyDiff,
    model::Property,
    schema::{PropertySchema, property_schema},
};
use crate::{
    error::FieldErrors, object::validate::validate_value, pattern::StepBudget,
    wire::plan::PropertyChange,
};

/// The old and the new rules of a property.
pub(super) struct Tightened<'a> {
    /// None after a change of type: then values were of another kind.
    old: Option<(&'a Property, PropertySchema)>,
    new: (&'a Property, PropertySchema),
}

impl<'a> Tightened<'a> {
    /// The rules before and after; none if no rule changes, or if the conversion already reports every
    /// value that becomes invalid. `old_schemas` and `new_schemas` are those of all properties.
    pub(super) fn of(
        diff: &PropertyDiff<'a>,
        old_schemas: &Value,
        new_schemas: &Value,
    ) -> Option<Self> {
        let (old, new) = diff.old.zip(diff.new)?;
        let old_schema = &old_schemas[old.name.as_str()];
        let new_schema = &new_schemas[new.name.as_str()];
        let with_schema = |property, schema| (property, PropertySchema::of(property, schema));
        if diff.change == PropertyChange::Type {
            // The values are validated after conversion, except for options.
            let new = has_options(new).then(|| with_schema(new, new_schema))?;
            return Some(Self { old: None, new });
        }
        let is_same = property_schema(old, old_schema) == property_schema(new, new_schema);
        if is_same && has_same_rules(old, new) {
            return None;
        }
        Some(Self { old: Some(with_schema(old, old_schema)), new: with_schema(new, new_schema) })
    }

    /// Returns whether a value is not valid, and was valid before. `bytes`, its size, limits the
    /// work.
    pub(super) fn invalidates(&self, value: &Value, bytes: usize) -> bool {
        let is_valid = |(property, schema): &(&Property, PropertySchema)| {
            let mut errors = FieldErrors::default();
            let budget = &mut StepBudget::of_bytes(bytes);
            validate_value(property, schema, value, Some(budget), &mut errors);
            errors.is_empty()
        };
        !is_valid(&self.new) && self.old.as_ref().is_none_or(is_valid)
    }
}

fn has_options(property: &Property) -> bool {
    !property.options.is_empty() || property.nested.iter().any(has_options)
}

/// Compares the rules that are not part of the schema.
fn has_same_rules(old: &Property, new: &Property) -> bool {
    (&old.options, &old.block_types, &old.relation, old.unique)
        == (&new.options, &new.block_types, &new.relation, new.unique)
        && old.nested.len() == new.nested.len()
        && old
            .nested
            .iter()
            .zip(&new.nested)
            .all(|(old, new)| old.name == new.name && has_same_rules(old, new))
}
