//! Validates the objects of a dry run against their content type alone, because the target may lack it
//! and the objects that they link to. So used values, link targets and quotas are not checked.

use std::collections::BTreeMap;

use cms_model::{
    content_type::{
        defaults,
        model::{Definition, Property},
        schema::{self, PropertySchema},
        slug,
    },
    error::FieldErrors,
    message,
    object::validate,
    pattern::StepBudget,
    wire::content_type::ContentType,
};
use serde_json::Value;

use crate::object::write::require_size;

/// The compiled rules of a content type.
pub(super) struct ObjectValidator {
    definition: Definition,
    properties: Vec<Property>,
    schemas: Vec<PropertySchema>,
}

impl ObjectValidator {
    pub(super) fn new(content_type: &ContentType) -> Self {
        let definition = Definition::of(content_type);
        let properties = definition.properties();
        let schemas = schema::compile(&properties, &definition);
        Self { definition, properties, schemas }
    }

    /// Returns the errors of the objects that are not valid, by their index. `may_exist`: objects of the same
    /// ids may be stored, whose read-only properties stay if an object lacks them.
    pub(super) fn invalid_objects(
        &self,
        objects: &[&Value],
        may_exist: bool,
    ) -> BTreeMap<usize, FieldErrors> {
        let errors = objects.iter().map(|object| self.errors(object, may_exist)).enumerate();
        errors.filter(|(_, errors)| !errors.is_empty()).collect()
    }

    fn errors(&self, object: &Value, may_exist: bool) -> FieldErrors {
        let Value::Object(object) = object else {
            return FieldErrors::one("data", message::wrong_type(object, "object"));
        };
        let mut object = object.clone();
        let id = object.shift_remove("id");
        object.shift_remove("internal");
        let mut errors = id.as_ref().map(validate::validate_id).unwrap_or_default();
        slug::fill(&self.definition.slugs, &mut object);
        defaults::fill(&self.definition, &self.properties, &mut object);
        let size = serde_json::to_string(&object).map_or(0, |text| text.len());
        if let Err(error) =
            require_size(id.as_ref().and_then(Value::as_str).unwrap_or_default(), size)
        {
            return FieldErrors::one("data", error.to_string());
        }
        let budget = &mut StepBudget::of_bytes(size);
        let mut invalid =
            validate::validate(&self.properties, &self.schemas, &object, Some(budget));
        let is_kept = |property: &Property| {
            may_exist && property.readonly && !object.contains_key(&property.name)
        };
        invalid.retain(|path| !self.properties.iter().any(|p| p.name == path && is_kept(p)));
        errors.merge(invalid);
        errors
    }
}
