//! A model described to clients: its text in the schema language, and introspection.
//!
//! Both are the work of `async_graphql`, which gets the types of [`super::model`] and no way to
//! content: every field that leads there is empty.

use async_graphql::{
    Request, Response, Value, Variables,
    dynamic::{
        Field, FieldFuture, InputObject, InputValue, Object, Scalar, Schema as Described, TypeRef,
    },
    parser::types::ExecutableDocument,
};
use futures_util::FutureExt;

use super::{
    fault::{Failure, Fault},
    model::{Model, QUERY, Source},
};
use crate::error::Error;

/// A model in the form in which clients read it.
pub struct Schema {
    schema: Described,
    sdl: String,
}

impl Schema {
    /// # Errors
    /// The reason that `async_graphql` has against it.
    pub fn of(model: &Model) -> Result<Self, String> {
        let mut builder =
            Described::build(&model.object(QUERY).name, None, None).disable_suggestions();
        let is_known = |name: &str| model.find(name).is_some();
        if is_known("JSON") {
            builder =
                builder.register(Scalar::new("JSON").description("Any value, as it is stored"));
        }
        for described in model.objects.iter().filter(|object| is_known(&object.name)) {
            let mut object = Object::new(&described.name);
            if let Some(description) = &described.description {
                object = object.description(description);
            }
            let fields = described.fields.iter();
            let own = fields.filter(|(_, field)| field.source != Source::Introspection);
            let mut is_own = false;
            for (name, field) in own {
                is_own = true;
                let mut described = Field::new(name, type_ref(&field.type_ref.text), |_| {
                    FieldFuture::from_value(None)
                });
                for (name, argument) in &field.arguments {
                    described = described.argument(InputValue::new(name, type_ref(&argument.text)));
                }
                object = object.field(described);
            }
            if is_own {
                builder = builder.register(object);
            }
        }
        for described in model.inputs.iter().filter(|input| is_known(&input.name)) {
            let mut input = InputObject::new(&described.name);
            for (name, field) in &described.fields {
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

    /// Answers the fields of a query that ask for the schema; all others are null.
    pub fn introspect(
        &self,
        document: &ExecutableDocument,
        operation: Option<&str>,
        variables: serde_json::Map<String, serde_json::Value>,
    ) -> Result<Value, Failure> {
        let mut request = Request::new("");
        request.set_parsed_query(document.clone());
        request.operation_name = operation.map(str::to_owned);
        request.variables = Variables::from_json(variables.into());
        // Nothing in it ever waits.
        let response: Option<Response> = self.schema.execute(request).now_or_never();
        let response = response.ok_or_else(|| Error::internal("introspection does not wait"))?;
        let faults = response.errors.iter();
        let faults: Vec<Fault> =
            faults.map(|error| Fault::invalid(&error.message, &error.locations)).collect();
        if faults.is_empty() { Ok(response.data) } else { Err(Failure::Faults(faults)) }
    }
}

/// Reads a type as the model writes it.
fn type_ref(text: &str) -> TypeRef {
    if let Some(inner) = text.strip_suffix('!') {
        TypeRef::NonNull(Box::new(type_ref(inner)))
    } else if let Some(inner) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        TypeRef::List(Box::new(type_ref(inner)))
    } else {
        TypeRef::named(text)
    }
}
