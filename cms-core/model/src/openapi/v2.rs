//! Prints a document as Swagger 2.0.

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;

use super::{
    ir::{
        ANY, ApiResponse, Content, Document, FORM, JSON, Operation, Parameter, ParameterLocation,
        Schema, SchemaKind,
    },
    print::{
        Entries, Paths, Single, info, security, security_of, security_schemes, tag_groups, tags,
    },
    schema::{Named, Printed, keywords, optional},
};
use crate::wire::openapi::OpenApiVersion as Version;

/// Prints a document.
pub(super) fn document(document: &Document) -> impl Serialize {
    let (scheme, rest) =
        document.base_url.split_once("://").unwrap_or(("http", &document.base_url));
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    Root {
        swagger: "2.0",
        info: info(document),
        host,
        base_path: format!("/{path}"),
        schemes: [scheme],
        consumes: [JSON],
        produces: [JSON],
        security_definitions: security_schemes(document, Version::V2),
        security: security(document, Version::V2),
        tags: tags(document),
        tag_groups: tag_groups(document),
        paths: Paths { operations: &document.operations, version: Version::V2 },
        definitions: Named { schemas: &document.schemas, version: Version::V2 },
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Root<'a> {
    swagger: &'static str,
    info: Value,
    host: &'a str,
    base_path: String,
    schemes: [&'a str; 1],
    consumes: [&'static str; 1],
    produces: [&'static str; 1],
    security_definitions: Value,
    security: Value,
    tags: Value,
    #[serde(rename = "x-tagGroups")]
    tag_groups: Value,
    paths: Paths<'a>,
    definitions: Named<'a>,
}

/// Prints one operation.
pub(super) fn operation(operation: &Operation) -> impl Serialize {
    // Swagger 2.0 has no maps in the query.
    let supported =
        operation.parameters.iter().filter(|known| known.location != ParameterLocation::QueryMap);
    let mut parameters: Vec<PrintedParameter<'_>> = supported.map(parameter).collect();
    let mut consumes = None;
    match &operation.body {
        None => {}
        Some(Content {
            media_type: FORM,
            schema: Schema { kind: SchemaKind::Object(form), .. },
        }) => {
            consumes = Some([FORM]);
            let fields = form.properties.iter();
            parameters.extend(
                fields.map(|(name, schema)| field(name, schema, form.required.contains(name))),
            );
        }
        Some(body) => parameters.push(PrintedParameter::Body(PrintedBody {
            r#in: "body",
            name: "body",
            required: !operation.body_is_optional,
            schema: Printed { schema: &body.schema, version: Version::V2 },
        })),
    }
    let contents = operation.responses.iter().filter_map(|known| known.content.as_ref());
    let produces = match contents.map(|known| known.media_type).find(|known| *known != JSON) {
        None => Vec::new(),
        Some(ANY) => vec![ANY],
        Some(media_type) => vec![media_type, JSON],
    };
    let responses = operation.responses.iter().map(|known| (known.status, response(known)));
    PrintedOperation {
        tags: [&operation.tag],
        summary: &operation.summary,
        operation_id: &operation.id,
        security: security_of(operation, Version::V2),
        consumes,
        parameters,
        produces,
        responses: Entries(responses.collect()),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PrintedOperation<'a> {
    tags: [&'a str; 1],
    summary: &'a str,
    operation_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    security: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    consumes: Option<[&'static str; 1]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parameters: Vec<PrintedParameter<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    produces: Vec<&'static str>,
    responses: Entries<u16, PrintedResponse<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum PrintedParameter<'a> {
    Plain(Plain<'a>),
    Body(PrintedBody<'a>),
}

#[derive(Serialize)]
struct PrintedBody<'a> {
    r#in: &'static str,
    name: &'static str,
    required: bool,
    schema: Printed<'a>,
}

/// A parameter outside the body, or a form field.
struct Plain<'a> {
    name: &'a str,
    location: &'static str,
    description: Option<&'a str>,
    required: bool,
    schema: &'a Schema,
}

fn parameter(parameter: &Parameter) -> PrintedParameter<'_> {
    PrintedParameter::Plain(Plain {
        name: parameter.name,
        location: parameter.location.as_str(),
        description: Some(parameter.description),
        required: parameter.required,
        schema: &parameter.schema,
    })
}

fn field<'a>(name: &'a str, schema: &'a Schema, required: bool) -> PrintedParameter<'a> {
    let description = schema.description.as_deref();
    PrintedParameter::Plain(Plain { name, location: "formData", description, required, schema })
}

/// Keywords of the schema are beside the name; `example` is not allowed there.
impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(None)?;
        out.serialize_entry("name", self.name)?;
        out.serialize_entry("in", self.location)?;
        optional(&mut out, "description", self.description)?;
        out.serialize_entry("required", &self.required)?;
        if matches!(self.schema.kind, SchemaKind::File) {
            out.serialize_entry("type", "file")?;
        } else {
            keywords(&mut out, self.schema, Version::V2)?;
        }
        optional(&mut out, "default", self.schema.default.as_ref())?;
        optional(&mut out, "x-example", self.schema.example.as_ref())?;
        if matches!(self.schema.kind, SchemaKind::List(_)) {
            out.serialize_entry("collectionFormat", "multi")?;
        }
        out.end()
    }
}

#[derive(Serialize)]
struct PrintedResponse<'a> {
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<Printed<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    examples: Option<Single<&'a Value>>,
}

fn response(response: &ApiResponse) -> PrintedResponse<'_> {
    let content = response.content.as_ref();
    let schema = content.map(|content| Printed { schema: &content.schema, version: Version::V2 });
    let examples = response.example.as_ref().map(|example| Single(JSON, example));
    PrintedResponse { description: response.description, schema, examples }
}
