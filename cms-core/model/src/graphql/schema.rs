//! Exports a model: its text in the schema language, and introspection.
//!
//! `async_graphql` does both. It gets the types of [`super::model`], but no content: fields of
//! content resolve to null.

use async_graphql::{
    Request, Response, Value, Variables,
    dynamic::{
        Field, FieldFuture, InputObject, InputValue, Object, Scalar, Schema as DynamicSchema,
        TypeRef,
    },
    parser::types::ExecutableDocument,
};
use futures_util::FutureExt;

use super::{
    error::{QueryError, QueryFailure},
    model::{FieldSource, Model, QUERY},
};
use crate::error::Error;

/// The exported form of a model.
pub struct ExportedSchema {
    schema: DynamicSchema,
    sdl: String,
}

impl ExportedSchema {
    /// # Errors
    /// The reason why `async_graphql` rejects the types.
    pub fn new(model: &Model) -> Result<Self, String> {
        let mut builder =
            DynamicSchema::build(&model.object(QUERY).name, None, None).disable_suggestions();
        let exists = |name: &str| model.find(name).is_some();
        if exists("JSON") {
            builder =
                builder.register(Scalar::new("JSON").description("Any value, as it is stored"));
        }
        for source in model.objects.iter().filter(|object| exists(&object.name)) {
            let mut object = Object::new(&source.name);
            if let Some(description) = &source.description {
                object = object.description(description);
            }
            let fields = source.fields.iter();
            let own_fields = fields.filter(|(_, field)| field.source != FieldSource::Introspection);
            let mut has_own_fields = false;
            for (name, field) in own_fields {
                has_own_fields = true;
                let mut exported = Field::new(name, type_ref(&field.type_ref.text), |_| {
                    FieldFuture::from_value(None)
                });
                for (name, argument) in &field.arguments {
                    exported = exported.argument(InputValue::new(name, type_ref(&argument.text)));
                }
                object = object.field(exported);
            }
            if has_own_fields {
                builder = builder.register(object);
            }
        }
        for source in model.inputs.iter().filter(|input| exists(&input.name)) {
            let mut input = InputObject::new(&source.name);
            for (name, field) in &source.fields {
                input = input.field(InputValue::new(name, type_ref(&field.type_ref.text)));
            }
            builder = builder.register(input);
        }
        let schema = builder.finish().map_err(|error| error.0)?;
        let sdl = schema.sdl_with_options(async_graphql::SDLExportOptions::new().use_space_ident());
        Ok(Self { schema, sdl })
    }

    pub fn sdl(&self) -> &str {
        &self.sdl
    }

    /// Resolves the introspection fields of a query; all other fields are null.
    pub fn introspect(
        &self,
        document: &ExecutableDocument,
        operation: Option<&str>,
        variables: serde_json::Map<String, serde_json::Value>,
    ) -> Result<Value, QueryFailure> {
        let mut request = Request::new("");
        request.set_parsed_query(document.clone());
        request.operation_name = operation.map(str::to_owned);
        request.variables = Variables::from_json(variables.into());
        // No resolver awaits, so the first poll completes.
        let response: Option<Response> = self.schema.execute(request).now_or_never();
        let response =
            response.ok_or_else(|| Error::internal("introspection completes on the first poll"))?;
        let errors = response.errors.iter();
        let errors: Vec<QueryError> =
            errors.map(|error| QueryError::invalid(&error.message, &error.locations)).collect();
        if errors.is_empty() { Ok(response.data) } else { Err(QueryFailure::Query(errors)) }
    }
}

/// Parses the text of a type.
fn type_ref(text: &str) -> TypeRef {
    if let Some(inner) = text.strip_suffix('!') {
        TypeRef::NonNull(Box::new(type_ref(inner)))
    } else if let Some(inner) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        TypeRef::List(Box::new(type_ref(inner)))
    } else {
        TypeRef::named(text)
    }
}
