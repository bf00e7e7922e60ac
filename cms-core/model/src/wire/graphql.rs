//! Queries in the language GraphQL, and what answers them (contract 8).

use serde::Serialize;
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

impl GraphQlVersion {
    /// Where queries are answered; the schema is one segment further down.
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
    /// Empty when it was sent before and only its hash is sent now.
    pub query: String,
    pub variables: Map<String, Value>,
    /// Which operation of the document is meant, when it has several.
    pub operation_name: Option<String>,
    /// SHA-256 of the query in hexadecimal digits, of clients that name queries by it.
    #[serde(skip)]
    pub hash: Option<String>,
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
        Error::Conflict(_)
        | Error::DataLoss(_)
        | Error::PreconditionFailed
        | Error::IdempotencyKeyReused
        | Error::Gone(_) => "CONFLICT",
        Error::ObjectTooLarge { .. } | Error::BodyTooLarge => "PAYLOAD_TOO_LARGE",
        Error::UnsupportedMedia => "UNSUPPORTED_MEDIA_TYPE",
        Error::TooManyRequests => "TOO_MANY_REQUESTS",
        Error::NoSpace(_) => "INSUFFICIENT_STORAGE",
        Error::Busy(_) => "UNAVAILABLE",
        Error::Damaged(_) | Error::Internal(_) | Error::Unsupported(_) | Error::Unreachable(_) => {
            "INTERNAL"
        }
    }
}

/// A status, and the JSON text of the answer: of what went wrong, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphQlResponse {
    pub status: u16,
    pub body: Vec<u8>,
}

impl GraphQlResponse {
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

/// Texts of a query string that hold JSON.
const JSON_PARAMETERS: [&str; 2] = ["variables", "extensions"];

impl GraphQlRequest {
    /// Reads the body of a POST; keys that GraphQL does not know are ignored.
    ///
    /// # Errors
    /// The answer that says what is wrong.
    pub fn read(body: &[u8]) -> Result<Self, GraphQlResponse> {
        match serde_json::from_slice(body) {
            Ok(Value::Object(members)) => Self::of(members),
            _ => Err(bad("Malformed JSON")),
        }
    }

    /// Reads the parameters of a GET: the keys of a body, objects among them as JSON texts.
    ///
    /// # Errors
    /// The answer that says what is wrong.
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
                let value = serde_json::from_str(text).map_err(|_| no_object(name))?;
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
            None => return Err(bad("The property query is required")),
        };
        let operation_name = text(&mut members, "operationName")?.filter(|name| !name.is_empty());
        Ok(Self { query, variables, operation_name, hash })
    }
}

/// Reads the hash by which a query is named, as Apollo's clients send it.
fn hash(mut extensions: Map<String, Value>) -> Result<Option<String>, GraphQlResponse> {
    let persisted = object(&mut extensions, "persistedQuery")?;
    if persisted.is_empty() {
        return Ok(None);
    }
    if persisted.get("version") != Some(&Value::from(1)) {
        return Err(bad("Unsupported persisted query version"));
    }
    match persisted.get("sha256Hash") {
        Some(Value::String(hash)) => Ok(Some(hash.clone())),
        _ => Err(bad("The property sha256Hash must be a string")),
    }
}

/// Takes a text out of the members of a request; null is as good as none.
fn text(members: &mut Map<String, Value>, name: &str) -> Result<Option<String>, GraphQlResponse> {
    match members.remove(name) {
        Some(Value::String(text)) => Ok(Some(text)),
        None | Some(Value::Null) => Ok(None),
        Some(_) => Err(bad(&format!("The property {name} must be a string"))),
    }
}

/// Takes an object out of the members of a request; null is as good as an empty one.
fn object(
    members: &mut Map<String, Value>,
    name: &str,
) -> Result<Map<String, Value>, GraphQlResponse> {
    match members.remove(name) {
        Some(Value::Object(object)) => Ok(object),
        None | Some(Value::Null) => Ok(Map::new()),
        Some(_) => Err(no_object(name)),
    }
}

fn no_object(name: &str) -> GraphQlResponse {
    bad(&format!("The property {name} must be an object"))
}

fn bad(message: &str) -> GraphQlResponse {
    GraphQlResponse::failed(400, message, "BAD_REQUEST")
}
