//! Queries in the language GraphQL, and what answers them (contract 8).

use serde_json::{Map, Value};

use super::error;
use crate::error::Error;

/// Which of the two schemas a query is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GraphQlVersion {
    /// `/api/graphql`: flat objects and lists (contract 8.1).
    Legacy,
    /// `/api/v2/graphql`: connections and filter inputs (contract 8.2).
    V2,
}

/// `POST /api/graphql`, `POST /api/v2/graphql`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphQlRequest {
    pub query: String,
    pub variables: Map<String, Value>,
    /// Which operation of the document is meant, when it has several.
    pub operation_name: Option<String>,
}

/// Returns what GraphQL calls an error of the rest of the API (contract 8.6).
pub fn code(error: &Error) -> &'static str {
    match error {
        Error::Invalid(_) => "BAD_USER_INPUT",
        Error::Refused(_) | Error::BatchLimit { .. } | Error::BadRequest(_) | Error::Blocked(_) => {
            "BAD_REQUEST"
        }
        Error::Unauthenticated => "UNAUTHORIZED",
        Error::Forbidden => "FORBIDDEN",
        Error::NotFound { .. } => "NOT_FOUND",
        Error::Conflict(_) | Error::DataLoss(_) => "CONFLICT",
        Error::ObjectTooLarge { .. } | Error::BodyTooLarge => "PAYLOAD_TOO_LARGE",
        Error::UnsupportedMedia => "UNSUPPORTED_MEDIA_TYPE",
        Error::Busy(_) => "UNAVAILABLE",
        Error::Internal(_) | Error::Unsupported(_) | Error::Unreachable(_) => "INTERNAL",
    }
}

/// A status, and the JSON text of the answer: of what went wrong, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphQlAnswer {
    pub status: u16,
    pub body: Vec<u8>,
}

impl GraphQlAnswer {
    /// An error of the rest of the API as GraphQL tells it.
    pub fn of(error: &Error) -> Self {
        let body = error::body(error);
        let message = body["message"].as_str().map_or_else(|| error.to_string(), str::to_owned);
        Self::failed(error::status(error), &message, code(error))
    }

    /// An answer with one error and no data.
    pub fn failed(status: u16, message: &str, code: &str) -> Self {
        let body = serde_json::json!({
            "errors": [{ "message": message, "extensions": { "code": code } }],
        });
        Self { status, body: body.to_string().into_bytes() }
    }
}

impl GraphQlRequest {
    /// Reads the body of a request; keys that GraphQL does not know are ignored.
    ///
    /// # Errors
    /// The answer that says what is wrong.
    pub fn read(body: &[u8]) -> Result<Self, GraphQlAnswer> {
        let bad = |message| GraphQlAnswer::failed(400, message, "BAD_REQUEST");
        let body: Value = serde_json::from_slice(body).map_err(|_| bad("Malformed JSON"))?;
        let Value::Object(mut body) = body else { return Err(bad("Malformed JSON")) };
        let query = match body.remove("query") {
            Some(Value::String(query)) => query,
            None | Some(Value::Null) => return Err(bad("The property query is required")),
            Some(_) => return Err(bad("The property query must be a string")),
        };
        let variables = match body.remove("variables") {
            Some(Value::Object(variables)) => variables,
            None | Some(Value::Null) => Map::new(),
            Some(_) => return Err(bad("The property variables must be an object")),
        };
        let operation_name = match body.remove("operationName") {
            Some(Value::String(name)) => Some(name).filter(|name| !name.is_empty()),
            None | Some(Value::Null) => None,
            Some(_) => return Err(bad("The property operationName must be a string")),
        };
        Ok(Self { query, variables, operation_name })
    }
}
