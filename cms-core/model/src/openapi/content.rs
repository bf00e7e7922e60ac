//! The schemas of one content type (see docs/reference/openapi.md#paths-of-a-type); its operations
//! are in [`super::objects`].

use serde_json::{Map, Value, json};

use super::{
    components::{INPUT_OBJECT, LIST, OBJECT, VERSIONS_LIST, paged},
    ir::{AdditionalProperties, Composed, ObjectSchema, Operation, Schema, SchemaKind},
    names::Names,
    objects::{ObjectOperations, ObjectSchemas},
    property::{self, DATA_SOURCE, Items},
};
use crate::{
    auth::scope::Access,
    content_type::{
        defaults,
        model::{Definition, InputType, Property, SchemaType},
        stored_level::StoredLevel,
    },
    message::{ALREADY_USED, NOT_AN_OPTION, NOT_IN_DATABASE, required, too_short, wrong_type},
};

/// A content type of the document.
pub(super) struct DocumentedType<'a> {
    pub(super) definition: &'a Definition,
    pub(super) properties: &'a [Property],
    pub(super) names: Names,
    /// The access of the caller to its objects.
    pub(super) access: Access,
}

impl DocumentedType<'_> {
    pub(super) fn name(&self) -> &str {
        &self.definition.name
    }

    pub(super) fn tag(&self) -> String {
        format!("Content: {}", self.definition.label)
    }

    /// The five schemas of the type. `relations` returns the items of relations in responses, which may be
    /// objects if `hydrates`.
    pub(super) fn schemas(&self, relations: &Items<'_>, hydrates: bool) -> Vec<(String, Schema)> {
        let name = self.name();
        let links: &Items<'_> = &|_| Schema::reference(DATA_SOURCE);
        let examples = property::examples(self.properties, self.definition.own_schemas());
        let required = property::required(self.properties);
        let is_complete =
            |examples: &Map<_, _>| required.iter().all(|name| examples.contains_key(name));
        // The examples of relations are links.
        let mut output_examples = examples.clone();
        if hydrates {
            let relations = self.properties.iter().filter(|property| property.may_link());
            relations.for_each(|property| drop(output_examples.shift_remove(&property.name)));
        }
        let (has_input, has_output) = (is_complete(&examples), is_complete(&output_examples));
        // What the server fills in may be missing in a request.
        let filled = defaults::filled(self.definition, self.properties);
        let needed = required.iter().filter(|name| !filled.contains(&name.as_str()));
        let needed = needed.cloned().collect();
        let mut input_schema = self.composed(INPUT_OBJECT, links, needed, &[]);
        let mut output_schema = self.composed(OBJECT, relations, required, &["id", "internal"]);
        let patch = self.composed(OBJECT, links, Vec::new(), &[]);
        if has_input {
            input_schema = input_schema.example(self.example(false, &examples));
        }
        if has_output {
            output_schema = output_schema.example(self.example(true, &output_examples));
        }
        let versions = vec![Schema::reference(LIST), Schema::reference(VERSIONS_LIST)];
        vec![
            (format!("{name}WithoutInternal"), input_schema),
            (name.to_owned(), output_schema),
            (format!("{name}WithoutRequired"), patch.example(self.example(false, &examples))),
            (self.names.list.clone(), paged(Schema::reference(self.name()))),
            (format!("{name}VersionsList"), Schema::all(versions)),
        ]
    }

    /// The properties of the type combined with the common ones, of which `present` are required.
    fn composed(
        &self,
        base: &str,
        items: &Items<'_>,
        required: Vec<String>,
        present: &[&str],
    ) -> Schema {
        let own = Schema::from(SchemaKind::Object(ObjectSchema {
            properties: property::properties(
                self.properties,
                StoredLevel::of(self.definition),
                items,
            ),
            required: present.iter().map(|&name| name.to_owned()).collect(),
            additional_properties: AdditionalProperties::Allowed,
        }));
        let parts = vec![Schema::reference(base), own];
        SchemaKind::All(Composed { parts, required, closed: true }).into()
    }

    /// An example object with these properties.
    fn example(&self, with_internal: bool, properties: &Map<String, Value>) -> Value {
        let mut example = Map::new();
        example.insert("id".to_owned(), format!("{}-1", self.name()).into());
        if with_internal {
            let created = "2020-01-22T14:34:36+00:00";
            let internal = json!({
                "contentType": self.name(),
                "createdAt": created,
                "updatedAt": created,
                "deletedAt": "",
                "workflowState": "saved",
                "objectTitle": "",
                "latestVersion": 1,
            });
            example.insert("internal".to_owned(), internal);
        }
        example.extend(properties.clone());
        example.into()
    }

    /// An example of validation errors.
    fn example_errors(&self) -> Value {
        let mut errors = Map::new();
        errors.insert("id".to_owned(), json!([ALREADY_USED]));
        for property in self.properties {
            let mut messages = Vec::new();
            if property.required {
                messages.push(required(&property.name));
                if property.schema_type == SchemaType::String {
                    messages.push(too_short(1));
                }
            }
            match property.schema_type {
                SchemaType::Number | SchemaType::Integer | SchemaType::Boolean => {
                    messages.push(wrong_type(&json!(""), property.schema_type.as_str()));
                }
                _ => {}
            }
            if !property.options.is_empty() {
                messages.push(NOT_AN_OPTION.to_owned());
            }
            if property.input_type == InputType::Datasource {
                messages.push(NOT_IN_DATABASE.to_owned());
            }
            if !messages.is_empty() {
                errors.insert(property.name.clone(), json!(messages));
            }
        }
        errors.into()
    }

    /// The operations that the caller may use, those of one path together.
    pub(super) fn operations(&self, may_publish: bool) -> Vec<Operation> {
        let schema = |suffix: &str| Schema::reference(format!("{}{suffix}", self.name()));
        let operations = ObjectOperations {
            type_segment: self.name(),
            id_prefix: &self.names.operation,
            label: &self.definition.label,
            tag: self.tag(),
            schemas: ObjectSchemas {
                input: schema("WithoutInternal"),
                output: schema(""),
                patch: schema("WithoutRequired"),
                list: Schema::reference(self.names.list.clone()),
                versions: schema("VersionsList"),
            },
            errors: self.example_errors(),
            draft_public: self.definition.draft_public,
        };
        operations.allowed(|needs| self.access.contains(needs), may_publish)
    }
}
