//! A description as OpenAPI 3.0 or 3.1: they differ in schemas alone.

use serde_json::{Map, Value, json};

use super::{
    ir::{Body, Content, Document, Operation, Parameter, Place, Response},
    schema::print,
    v2::{about, paths, tags},
};
use crate::wire::openapi::OpenApiVersion as Version;

/// Prints a whole description.
pub(super) fn document(document: &Document, version: Version) -> Value {
    let number = if version == Version::V31 { "3.1.0" } else { "3.0.0" };
    let schemas = document.schemas.iter();
    let schemas: Map<_, _> =
        schemas.map(|(name, schema)| (name.clone(), print(schema, version))).collect();
    let (tags, groups) = tags(document);
    json!({
        "openapi": number,
        "info": about(),
        "servers": [{ "url": document.base_url, "description": "Live" }],
        "security": [{ "HeaderApiKeyAuth": [] }],
        "tags": tags,
        "x-tagGroups": groups,
        "paths": paths(document, |known| operation(known, version)),
        "components": {
            "securitySchemes": {
                "HeaderApiKeyAuth": { "type": "apiKey", "in": "header", "name": "X-AUTH-TOKEN" },
            },
            "schemas": schemas,
        },
    })
}

fn operation(operation: &Operation, version: Version) -> Value {
    let mut out = json!({
        "tags": [operation.tag],
        "summary": operation.summary,
        "operationId": operation.id,
    });
    if operation.public {
        out["security"] = json!([]);
    }
    if !operation.parameters.is_empty() {
        let parameters = operation.parameters.iter().map(|known| parameter(known, version));
        out["parameters"] = parameters.collect();
    }
    if let Some(known) = &operation.body {
        out["requestBody"] = body(known, version);
    }
    let responses = operation.responses.iter();
    let responses: Map<_, _> =
        responses.map(|known| (known.status.to_string(), response(known, version))).collect();
    out["responses"] = responses.into();
    out
}

fn parameter(parameter: &Parameter, version: Version) -> Value {
    let place = match parameter.place {
        Place::Path => "path",
        Place::Query | Place::QueryMap => "query",
    };
    let mut out = json!({
        "name": parameter.name,
        "in": place,
        "description": parameter.description,
        "required": parameter.required,
        "schema": print(&parameter.schema, version),
    });
    if parameter.place == Place::QueryMap {
        out["style"] = "deepObject".into();
        out["explode"] = true.into();
    }
    out
}

fn body(body: &Body, version: Version) -> Value {
    let content = match body {
        Body::Json(schema) => json!({ "application/json": { "schema": print(schema, version) } }),
        Body::Form(fields) => {
            let properties: Map<_, _> = fields
                .iter()
                .map(|(name, schema, _)| ((*name).to_owned(), print(schema, version)))
                .collect();
            let required = fields.iter().filter(|(.., required)| *required);
            let required: Vec<&str> = required.map(|(name, ..)| *name).collect();
            let schema =
                json!({ "type": "object", "properties": properties, "required": required });
            json!({ "multipart/form-data": { "schema": schema } })
        }
    };
    json!({ "required": true, "content": content })
}

fn response(response: &Response, version: Version) -> Value {
    let mut out = json!({ "description": response.description });
    match &response.content {
        None => {}
        Some(Content::Json(schema)) => {
            let mut json = json!({ "schema": print(schema, version) });
            if let Some(example) = &response.example {
                json["example"] = example.clone();
            }
            out["content"] = json!({ "application/json": json });
        }
        Some(Content::Text) => {
            out["content"] = json!({ "text/plain": { "schema": { "type": "string" } } });
        }
        Some(Content::File) => {
            let schema = json!({ "type": "string", "format": "binary" });
            out["content"] = json!({ "*/*": { "schema": schema } });
        }
    }
    out
}
