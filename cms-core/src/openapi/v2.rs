//! A description as Swagger 2.0, and what it has in common with OpenAPI 3.

use serde_json::{Map, Value, json};

use super::{
    ir::{Body, Content, Document, Kind, Operation, Parameter, Place, Response, Schema},
    schema::{keywords, print},
};
use crate::wire::openapi::OpenApiVersion as Version;

/// Prints a whole description.
pub(super) fn document(document: &Document) -> Value {
    let schemas = document.schemas.iter();
    let schemas: Map<_, _> =
        schemas.map(|(name, schema)| (name.clone(), print(schema, Version::V2))).collect();
    let (tags, groups) = tags(document);
    let (scheme, rest) =
        document.base_url.split_once("://").unwrap_or(("http", &document.base_url));
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    json!({
        "swagger": "2.0",
        "info": about(),
        "host": host,
        "basePath": format!("/{path}"),
        "schemes": [scheme],
        "consumes": ["application/json"],
        "produces": ["application/json"],
        "securityDefinitions": {
            "HeaderApiKeyAuth": { "type": "apiKey", "in": "header", "name": "X-AUTH-TOKEN" },
        },
        "security": [{ "HeaderApiKeyAuth": [] }],
        "tags": tags,
        "x-tagGroups": groups,
        "paths": paths(document, operation),
        "definitions": schemas,
    })
}

/// What the description says of itself.
pub(super) fn about() -> Value {
    json!({
        "title": "Content API",
        "version": "2.0.1",
        "description": "Create, read, change and search content over HTTP with JSON bodies.",
    })
}

/// Prints the list of tags, and the tags under their headings.
pub(super) fn tags(document: &Document) -> (Value, Value) {
    let tags = document.tags.iter().map(|tag| json!({ "name": tag }));
    let groups = document.tag_groups.iter();
    let groups = groups.map(|(name, tags)| json!({ "name": name, "tags": tags }));
    (tags.collect(), groups.collect())
}

/// Prints operations by path and method.
pub(super) fn paths(document: &Document, print: impl Fn(&Operation) -> Value) -> Value {
    let mut paths = Map::new();
    for operation in &document.operations {
        let path = paths.entry(operation.path.as_str()).or_insert_with(|| json!({}));
        path[operation.method] = print(operation);
    }
    paths.into()
}

fn operation(operation: &Operation) -> Value {
    let mut out = json!({
        "tags": [operation.tag],
        "summary": operation.summary,
        "operationId": operation.id,
    });
    if operation.public {
        out["security"] = json!([]);
    }
    let mut parameters: Vec<Value> = operation
        .parameters
        .iter()
        // There is no way to describe a map in the query.
        .filter(|known| known.place != Place::QueryMap)
        .map(parameter)
        .collect();
    match &operation.body {
        None => {}
        Some(Body::Json(schema)) => parameters.push(json!({
            "in": "body",
            "name": "body",
            "required": true,
            "schema": print(schema, Version::V2),
        })),
        Some(Body::Form(fields)) => {
            out["consumes"] = json!(["multipart/form-data"]);
            let fields = fields.iter();
            parameters
                .extend(fields.map(|(name, schema, required)| field(name, schema, *required)));
        }
    }
    if !parameters.is_empty() {
        out["parameters"] = parameters.into();
    }
    for known in &operation.responses {
        match known.content {
            Some(Content::Text) => out["produces"] = json!(["text/plain", "application/json"]),
            Some(Content::File) => out["produces"] = json!(["*/*"]),
            Some(Content::Json(_)) | None => {}
        }
    }
    let responses = operation.responses.iter();
    let responses: Map<_, _> =
        responses.map(|known| (known.status.to_string(), response(known))).collect();
    out["responses"] = responses.into();
    out
}

fn field(name: &str, schema: &Schema, required: bool) -> Value {
    let mut out = json!({ "name": name, "in": "formData", "required": required });
    if matches!(schema.kind, Kind::File) {
        out["type"] = "file".into();
    } else {
        add(&mut out, schema);
    }
    out
}

fn parameter(parameter: &Parameter) -> Value {
    let place = if parameter.place == Place::Path { "path" } else { "query" };
    let mut out = json!({
        "name": parameter.name,
        "in": place,
        "description": parameter.description,
        "required": parameter.required,
    });
    add(&mut out, &parameter.schema);
    out
}

/// Keywords of a parameter stand beside its name and its own description; an example is no keyword
/// there.
fn add(out: &mut Value, schema: &Schema) {
    for (key, value) in keywords(schema, Version::V2) {
        match key.as_str() {
            "description" if out.get("description").is_some() => {}
            "example" => out["x-example"] = value,
            _ => out[key.as_str()] = value,
        }
    }
    if matches!(schema.kind, Kind::List(_)) {
        out["collectionFormat"] = "multi".into();
    }
}

fn response(response: &Response) -> Value {
    let mut out = json!({ "description": response.description });
    match &response.content {
        None => {}
        Some(Content::Json(schema)) => out["schema"] = print(schema, Version::V2),
        Some(Content::Text) => out["schema"] = json!({ "type": "string" }),
        // Also `file` would do, but not for every validator.
        Some(Content::File) => out["schema"] = json!({ "type": "string", "format": "binary" }),
    }
    if let Some(example) = &response.example {
        out["examples"] = json!({ "application/json": example });
    }
    out
}
