//! Prints a document as OpenAPI 3.0 or 3.1, which differ in schemas only.

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    ir::{ApiResponse, Content, Document, Operation, Parameter, ParameterLocation},
    print::{
        Entries, Paths, Single, info, security, security_of, security_schemes, tag_groups, tags,
    },
    schema::{Named, Printed},
};
use crate::wire::openapi::OpenApiVersion as Version;

/// Prints a document.
pub(super) fn document(document: &Document, version: Version) -> impl Serialize {
    Root {
        openapi: if version == Version::V31 { "3.1.0" } else { "3.0.0" },
        info: info(document),
        servers: json!([{ "url": document.base_url, "description": "Live" }]),
        security: security(document, version),
        tags: tags(document),
        tag_groups: tag_groups(document),
        paths: Paths { operations: &document.operations, version },
        components: Components {
            security_schemes: security_schemes(document, version),
            schemas: Named { schemas: &document.schemas, version },
        },
    }
}

#[derive(Serialize)]
struct Root<'a> {
    openapi: &'static str,
    info: Value,
    servers: Value,
    security: Value,
    tags: Value,
    #[serde(rename = "x-tagGroups")]
    tag_groups: Value,
    paths: Paths<'a>,
    components: Components<'a>,
}

#[derive(Serialize)]
struct Components<'a> {
    #[serde(rename = "securitySchemes")]
    security_schemes: Value,
    schemas: Named<'a>,
}

/// Prints one operation.
pub(super) fn operation(operation: &Operation, version: Version) -> impl Serialize {
    let parameters = operation.parameters.iter().map(|known| parameter(known, version));
    let responses = operation.responses.iter();
    let responses = responses.map(|known| (known.status, response(known, version)));
    PrintedOperation {
        tags: [&operation.tag],
        summary: &operation.summary,
        operation_id: &operation.id,
        security: security_of(operation, version),
        parameters: parameters.collect(),
        request_body: operation.body.as_ref().map(|body| PrintedBody {
            required: !operation.body_is_optional,
            content: content(body, None, version),
        }),
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parameters: Vec<PrintedParameter<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_body: Option<PrintedBody<'a>>,
    responses: Entries<u16, PrintedResponse<'a>>,
}

#[derive(Serialize)]
struct PrintedParameter<'a> {
    name: &'a str,
    r#in: &'static str,
    description: &'a str,
    required: bool,
    schema: Printed<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    style: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explode: Option<bool>,
}

fn parameter(parameter: &Parameter, version: Version) -> PrintedParameter<'_> {
    let is_map = parameter.location == ParameterLocation::QueryMap;
    PrintedParameter {
        name: parameter.name,
        r#in: parameter.location.as_str(),
        description: parameter.description,
        required: parameter.required,
        schema: Printed { schema: &parameter.schema, version },
        style: is_map.then_some("deepObject"),
        explode: is_map.then_some(true),
    }
}

#[derive(Serialize)]
struct PrintedBody<'a> {
    required: bool,
    content: Single<Media<'a>>,
}

/// The content of one media type.
#[derive(Serialize)]
struct Media<'a> {
    schema: Printed<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<&'a Value>,
}

fn content<'a>(
    content: &'a Content,
    example: Option<&'a Value>,
    version: Version,
) -> Single<Media<'a>> {
    let schema = Printed { schema: &content.schema, version };
    Single(content.media_type, Media { schema, example })
}

#[derive(Serialize)]
struct PrintedResponse<'a> {
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Single<Media<'a>>>,
}

fn response(response: &ApiResponse, version: Version) -> PrintedResponse<'_> {
    let example = response.example.as_ref();
    let content = response.content.as_ref().map(|known| content(known, example, version));
    PrintedResponse { description: response.description, content }
}
