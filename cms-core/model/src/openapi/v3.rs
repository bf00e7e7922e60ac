//! Prints a document as OpenAPI 3.0 or 3.1, which differ in schemas only.

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    ir::{ApiResponse, Body, Document, Operation, Parameter, ParameterLocation, ResponsePayload},
    print::{
        Entries, Paths, Single, info, security, security_of, security_schemes, tag_groups, tags,
    },
    schema::{Named, Printed},
};
use crate::wire::openapi::OpenApiVersion as Version;

const JSON: &str = "application/json";

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
        request_body: operation
            .body
            .as_ref()
            .map(|known| body(known, !operation.body_is_optional, version)),
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
    content: BodyContent<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum BodyContent<'a> {
    Json(Single<Media<'a>>),
    Form(Single<Single<Form<'a>>>),
}

/// The content of one media type.
#[derive(Serialize)]
struct Media<'a> {
    schema: Printed<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<&'a Value>,
}

#[derive(Serialize)]
struct Form<'a> {
    r#type: &'static str,
    properties: Entries<&'a str, Printed<'a>>,
    required: Vec<&'a str>,
}

fn body(body: &Body, required: bool, version: Version) -> PrintedBody<'_> {
    let content = match body {
        Body::Json(schema) => {
            let schema = Printed { schema, version };
            BodyContent::Json(Single(JSON, Media { schema, example: None }))
        }
        Body::Form(fields) => {
            let properties = fields.iter();
            let properties =
                properties.map(|(name, schema, _)| (*name, Printed { schema, version }));
            let required = fields.iter().filter(|(.., required)| *required);
            let form = Form {
                r#type: "object",
                properties: Entries(properties.collect()),
                required: required.map(|(name, ..)| *name).collect(),
            };
            BodyContent::Form(Single("multipart/form-data", Single("schema", form)))
        }
    };
    PrintedBody { required, content }
}

#[derive(Serialize)]
struct PrintedResponse<'a> {
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<ResponseContent<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ResponseContent<'a> {
    Json(Single<Media<'a>>),
    Other(Value),
}

fn response(response: &ApiResponse, version: Version) -> PrintedResponse<'_> {
    let content = response.content.as_ref().map(|content| match content {
        ResponsePayload::Json(schema) => {
            let schema = Printed { schema, version };
            ResponseContent::Json(Single(
                JSON,
                Media { schema, example: response.example.as_ref() },
            ))
        }
        ResponsePayload::Text => {
            ResponseContent::Other(json!({ "text/plain": { "schema": { "type": "string" } } }))
        }
        ResponsePayload::File => {
            let schema = json!({ "type": "string", "format": "binary" });
            ResponseContent::Other(json!({ "*/*": { "schema": schema } }))
        }
    });
    PrintedResponse { description: response.description, content }
}
