//! What can be wrong with a query, and how it is told (contract 8.6).

use async_graphql::Pos;
use serde_json::{Value, json};

use crate::{error::Error, limits, wire::graphql::GraphQlResponse};

/// One fault of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub message: String,
    pub code: Code,
    pub locations: Vec<Pos>,
}

/// Kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    Parse,
    Validation,
    BadRequest,
    NotFound,
    TooComplex,
    /// A query is named by a hash that nobody knows.
    UnknownHash,
}

impl Code {
    fn as_str(self) -> &'static str {
        match self {
            Self::Parse => "GRAPHQL_PARSE_FAILED",
            Self::Validation => "GRAPHQL_VALIDATION_FAILED",
            Self::BadRequest => "BAD_REQUEST",
            Self::NotFound => "NOT_FOUND",
            Self::TooComplex => "QUERY_TOO_COMPLEX",
            Self::UnknownHash => "PERSISTED_QUERY_NOT_FOUND",
        }
    }

    /// The status that it gives an answer without data.
    fn status(self) -> u16 {
        match self {
            Self::NotFound => 404,
            // A step of the protocol, which the client answers with the query.
            Self::UnknownHash => 200,
            Self::Parse | Self::Validation | Self::BadRequest | Self::TooComplex => 400,
        }
    }
}

impl Fault {
    pub fn invalid(message: impl Into<String>, locations: &[Pos]) -> Self {
        Self { message: message.into(), code: Code::Validation, locations: locations.to_vec() }
    }

    pub fn bad_request(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: Code::BadRequest, locations: Vec::new() }
    }

    pub fn too_complex(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: Code::TooComplex, locations: Vec::new() }
    }

    /// A hash that was not sent with its query yet, or too long ago: in the words of the protocol.
    pub fn unknown_hash() -> Self {
        let message = "PersistedQueryNotFound".to_owned();
        Self { message, code: Code::UnknownHash, locations: Vec::new() }
    }

    /// A root field that names no content type: unlike other unknown fields, its status is 404.
    pub fn unknown_root(message: String, location: Pos) -> Self {
        Self { message, code: Code::NotFound, locations: vec![location] }
    }

    fn to_json(&self) -> Value {
        let mut error = json!({ "message": self.message });
        if !self.locations.is_empty() {
            let locations = self.locations.iter();
            error["locations"] = locations
                .map(|place| json!({ "line": place.line, "column": place.column }))
                .collect();
        }
        error["extensions"] = json!({ "code": self.code.as_str() });
        error
    }
}

impl From<async_graphql::parser::Error> for Fault {
    fn from(error: async_graphql::parser::Error) -> Self {
        let locations = error.positions().take(1).collect();
        Self { message: error.to_string(), code: Code::Parse, locations }
    }
}

/// Why there is no answer: the query, or something else.
pub enum Failure {
    Faults(Vec<Fault>),
    Error(Error),
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Faults(vec![fault])
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// The answer to a query that is not carried out.
pub fn refusal(faults: &[Fault]) -> GraphQlResponse {
    let errors: Vec<Value> =
        faults.iter().take(limits::MAX_GRAPHQL_ERRORS).map(Fault::to_json).collect();
    let statuses = faults.iter().map(|fault| fault.code.status());
    // A field that is not there says more than what else is wrong.
    let status = statuses.max().unwrap_or(400);
    GraphQlResponse { status, body: json!({ "errors": errors }).to_string().into_bytes() }
}
