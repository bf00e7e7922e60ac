//! Errors of a query, and the response that reports them (see docs/reference/graphql.md#errors).

use async_graphql::Pos;
use serde_json::{Value, json};

use crate::{error::Error, limits, wire::graphql::GraphQlResponse};

/// One error of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryError {
    pub message: String,
    pub code: ErrorCode,
    pub locations: Vec<Pos>,
}

crate::named_enum! {
    /// The `code` of an error.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ErrorCode {
        Parse => "GRAPHQL_PARSE_FAILED",
        Validation => "GRAPHQL_VALIDATION_FAILED",
        BadRequest => "BAD_REQUEST",
        NotFound => "NOT_FOUND",
        TooComplex => "QUERY_TOO_COMPLEX",
        /// A persisted query is requested by a hash that is not cached.
        UnknownHash => "PERSISTED_QUERY_NOT_FOUND",
    }
}

impl ErrorCode {
    /// The HTTP status of a response without data.
    fn status(self) -> u16 {
        match self {
            Self::NotFound => 404,
            // A step of the protocol: the client then sends the query.
            Self::UnknownHash => 200,
            Self::Parse | Self::Validation | Self::BadRequest | Self::TooComplex => 400,
        }
    }
}

impl QueryError {
    pub fn invalid(message: impl Into<String>, locations: &[Pos]) -> Self {
        Self { message: message.into(), code: ErrorCode::Validation, locations: locations.to_vec() }
    }

    pub fn bad_request(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: ErrorCode::BadRequest, locations: Vec::new() }
    }

    pub fn too_complex(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: ErrorCode::TooComplex, locations: Vec::new() }
    }

    /// A persisted query that is not cached; the protocol prescribes the message.
    pub fn unknown_hash() -> Self {
        let message = "PersistedQueryNotFound".to_owned();
        Self { message, code: ErrorCode::UnknownHash, locations: Vec::new() }
    }

    /// A root field that matches no content type: unlike for other unknown fields, the status is
    /// 404.
    pub fn unknown_root(message: String, location: Pos) -> Self {
        Self { message, code: ErrorCode::NotFound, locations: vec![location] }
    }

    fn to_json(&self) -> Value {
        let mut error = json!({ "message": self.message });
        if !self.locations.is_empty() {
            let locations = self.locations.iter();
            error["locations"] = locations
                .map(|position| json!({ "line": position.line, "column": position.column }))
                .collect();
        }
        error["extensions"] = json!({ "code": self.code.as_str() });
        error
    }
}

impl From<async_graphql::parser::Error> for QueryError {
    fn from(error: async_graphql::parser::Error) -> Self {
        let locations = error.positions().take(1).collect();
        Self { message: error.to_string(), code: ErrorCode::Parse, locations }
    }
}

/// Why a query fails: errors of the query, or any other error.
pub enum QueryFailure {
    Query(Vec<QueryError>),
    Other(Error),
}

impl From<QueryError> for QueryFailure {
    fn from(error: QueryError) -> Self {
        Self::Query(vec![error])
    }
}

impl From<Error> for QueryFailure {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

/// The response to a query that is not executed.
pub fn error_response(errors: &[QueryError]) -> GraphQlResponse {
    let statuses = errors.iter().map(|error| error.code.status());
    // 404 of an unknown content type goes before 400 of other errors.
    let status = statuses.max().unwrap_or(400);
    let errors: Vec<Value> =
        errors.iter().take(limits::MAX_GRAPHQL_ERRORS).map(QueryError::to_json).collect();
    GraphQlResponse { status, body: json!({ "errors": errors }).to_string().into_bytes() }
}
