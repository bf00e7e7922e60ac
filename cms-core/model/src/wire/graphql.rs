//! GraphQL requests and responses, see docs/reference/graphql.md

use serde::Serialize;
use serde_json::{Map, Value};

use super::error;
use crate::error::Error;

/// The version of the GraphQL schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GraphQlVersion {
    /// `/api/graphql`: flat objects and lists, see docs/reference/graphql.md#version-1
    Legacy,
    /// `/api/v2/graphql`: connections and filter inputs, see docs/reference/graphql.md#version-2
    V2,
}

impl GraphQlVersion {
    /// Path of the endpoint; the schema is at `<path>/schema`.
    pub fn path(self) -> &'static str {
        match self {
            Self::Legacy => "/api/graphql",
            Self::V2 => "/api/v2/graphql",
        }
    }
}

/// `GET` and `POST` of `/api/graphql` and `/api/v2/graphql`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphQlRequest {
    /// Empty for a persisted query, which the client names by its hash.
    pub query: String,
    pub variables: Map<String, Value>,
    /// The operation to run, when the document has several.
    pub operation_name: Option<String>,
    /// SHA-256 of the query in hexadecimal digits, for persisted queries.
    #[serde(skip)]
    pub hash: Option<String>,
}

/// Returns the error code in GraphQL responses, see docs/reference/graphql.md#errors
pub fn code(error: &Error) -> &'static str {
    if matches!(error, Error::Invalid(_)) {
        return "BAD_USER_INPUT";
    }
    match error::status(error) {
        400 => "BAD_REQUEST",
        401 => "UNAUTHORIZED",
        403 => "FORBIDDEN",
        404 => "NOT_FOUND",
        409 | 410 | 412 | 422 => "CONFLICT",
        413 => "PAYLOAD_TOO_LARGE",
        415 => "UNSUPPORTED_MEDIA_TYPE",
        429 => "TOO_MANY_REQUESTS",
        503 => "UNAVAILABLE",
        507 => "INSUFFICIENT_STORAGE",
        _ => "INTERNAL",
    }
}

/// HTTP status and JSON text of a response, successful or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphQlResponse {
    pub status: u16,
    pub body: Vec<u8>,
}

impl GraphQlResponse {
    /// The response for an error.
    pub fn of(error: &Error) -> Self {
        let body = error::body(error);
        let message = body["message"].as_str().map_or_else(|| error.to_string(), str::to_owned);
        Self::failed(error::status(error), &message, code(error))
    }

    /// A response with one error and no data.
    pub fn failed(status: u16, message: &str, code: &str) -> Self {
        let body = serde_json::json!({
            "errors": [{ "message": message, "extensions": { "code": code } }],
        });
        Self { status, body: body.to_string().into_bytes() }
    }
}

/// Query parameters with JSON text.
const JSON_PARAMETERS: [&str; 2] = ["variables", "extensions"];

impl GraphQlRequest {
    /// Parses the body of a POST; unknown keys are ignored.
    ///
    /// # Errors
    /// The error response.
    pub fn read(body: &[u8]) -> Result<Self, GraphQlResponse> {
        match serde_json::from_slice(body) {
            Ok(Value::Object(members)) => Self::of(members),
            _ => Err(bad_request("Malformed JSON")),
        }
    }

    /// Parses the parameters of a GET: the keys of the body, with objects as JSON text.
    ///
    /// # Errors
    /// The error response.
    pub fn read_parameters<'p>(
        parameter: impl Fn(&str) -> Option<&'p str>,
    ) -> Result<Self, GraphQlResponse> {
        let mut members = Map::new();
        for name in ["query", "operationName"] {
            if let Some(text) = parameter(name) {
                members.insert(name.to_owned(), text.into());
            }
        }
        for name in JSON_PARAMETERS {
            if let Some(text) = parameter(name).filter(|text| !text.is_empty()) {
                let value = serde_json::from_str(text).map_err(|_| not_an_object(name))?;
                members.insert(name.to_owned(), value);
            }
        }
        Self::of(members)
    }

    fn of(mut members: Map<String, Value>) -> Result<Self, GraphQlResponse> {
        let variables = object(&mut members, "variables")?;
        let hash = hash(object(&mut members, "extensions")?)?;
        let query = match text(&mut members, "query")? {
            Some(query) => query,
            None if hash.is_some() => String::new(),
            None => return Err(bad_request("The property query is required")),
        };
        let operation_name = text(&mut members, "operationName")?.filter(|name| !name.is_empty());
        Ok(Self { query, variables, operation_name, hash })
    }
}

/// Reads the hash of a persisted query in the format of Apollo.
fn hash(mut extensions: Map<String, Value>) -> Result<Option<String>, GraphQlResponse> {
    let persisted = object(&mut extensions, "persistedQuery")?;
    if persisted.is_empty() {
        return Ok(None);
    }
    if persisted.get("version") != Some(&Value::from(1)) {
        return Err(bad_request("Unsupported persisted query version"));
    }
    match persisted.get("sha256Hash") {
        Some(Value::String(hash)) => Ok(Some(hash.clone())),
        _ => Err(bad_request("The property sha256Hash must be a string")),
    }
}

/// Removes a string from the members of a request; null counts as absent.
fn text(members: &mut Map<String, Value>, name: &str) -> Result<Option<String>, GraphQlResponse> {
    match members.remove(name) {
        Some(Value::String(text)) => Ok(Some(text)),
        None | Some(Value::Null) => Ok(None),
        Some(_) => Err(bad_request(&format!("The property {name} must be a string"))),
    }
}

/// Removes an object from the members of a request; null counts as empty.
fn object(
    members: &mut Map<String, Value>,
    name: &str,
) -> Result<Map<String, Value>, GraphQlResponse> {
    match members.remove(name) {
        Some(Value::Object(object)) => Ok(object),
        None | Some(Value::Null) => Ok(Map::new()),
        Some(_) => Err(not_an_object(name)),
    }
}

fn not_an_object(name: &str) -> GraphQlResponse {
    bad_request(&format!("The property {name} must be an object"))
}

fn bad_request(message: &str) -> GraphQlResponse {
    GraphQlResponse::failed(400, message, "BAD_REQUEST")
}
