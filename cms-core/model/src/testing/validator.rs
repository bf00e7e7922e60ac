//! Validation of objects without a store.

use serde_json::{Map, Value};

use crate::{
    content_type::{
        model::Property,
        parse,
        schema::{self, PropertySchema},
    },
    error::FieldErrors,
    object::validate::{validate, validate_id, validate_readonly},
    pattern::StepBudget,
    workflow::model::WorkflowSet,
};

/// Validates objects of one content type.
pub struct ObjectValidator {
    pub properties: Vec<Property>,
    pub schemas: Vec<PropertySchema>,
}

impl ObjectValidator {
    /// Parses a valid content type payload.
    pub fn new(payload: &Value) -> Self {
        let payload = payload.as_object().expect("a payload is an object");
        let definition = parse::definition(payload, None, &WorkflowSet::built_in())
            .expect("the definition is valid");
        let properties = definition.properties();
        let schemas = schema::compile(&properties, &definition);
        Self { properties, schemas }
    }

    /// Returns all errors of `object` that are found without a store. With `stored`, `object` replaces
    /// it.
    pub fn errors(
        &self,
        object: &Map<String, Value>,
        stored: Option<&Map<String, Value>>,
    ) -> FieldErrors {
        let mut errors = object.get("id").map(validate_id).unwrap_or_default();
        let budget = &mut StepBudget::of_bytes(Value::Object(object.clone()).to_string().len());
        errors.merge(validate(&self.properties, &self.schemas, object, Some(budget)));
        if let Some(stored) = stored {
            errors.merge(validate_readonly(&self.properties, stored, object));
        }
        errors
    }
}
