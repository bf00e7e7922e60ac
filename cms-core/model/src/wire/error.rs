//! Maps errors to HTTP status and body, and back for clients, see
//! docs/reference/http.md#error-bodies

use indexmap::IndexMap;
use serde_json::{Value, json};

use crate::{
    error::{Error, FieldErrors},
    message::{MATCHES_CHANGED, OUTCOME_UNKNOWN, Reason},
};

/// Message of internal errors.
const INTERNAL: &str = "Internal Server Error";

/// Returns the HTTP status of an error.
pub fn status(error: &Error) -> u16 {
    match error {
        Error::Invalid(_)
        | Error::Rejected(_)
        | Error::BatchLimit { .. }
        | Error::BadRequest(_)
        | Error::Blocked(_) => 400,

        Error::Unauthenticated => 401,
        Error::Forbidden | Error::CrossSite => 403,
        Error::NotFound { .. } => 404,
        Error::Conflict(_) | Error::MatchesChanged { .. } | Error::DataLoss(_) => 409,
        Error::Gone(_) => 410,
        Error::PreconditionFailed => 412,
        Error::ObjectTooLarge { .. } | Error::BodyTooLarge => 413,
        Error::UnsupportedMedia => 415,
        Error::IdempotencyKeyReused => 422,
        Error::Damaged(_) | Error::Internal(_) | Error::Unsupported(_) | Error::Unreachable(_) => {
            500
        }
        Error::TooManyRequests { .. } => 429,
        Error::Busy(_) | Error::WouldBlock => 503,
        Error::OutcomeUnknown => 504,
        Error::NoSpace(_) => 507,
    }
}

/// Returns the body of an error.
pub fn body(error: &Error) -> Value {
    match error {
        Error::Invalid(errors) => json!(errors),
        Error::Rejected(reasons) => {
            let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
            json!({ "errors": reasons })
        }
        Error::BatchLimit { limit } => {
            json!({ "batch_limit": limit, "data": [error.to_string()] })
        }
        Error::Blocked(types) => {
            // A type that is in the request twice has one entry with the errors of both.
            let mut by_name: IndexMap<&str, FieldErrors> = IndexMap::new();
            for (name, errors) in types {
                by_name.entry(name).or_default().merge(errors.clone());
            }
            json!(by_name)
        }
        Error::DataLoss(names) => {
            json!({ "code": 409, "message": "Values would be lost", "data": names })
        }
        Error::MatchesChanged { expected, found } => json!({
            "code": 409,
            "message": MATCHES_CHANGED,
            "data": { "expected": expected, "found": found },
        }),
        Error::NotFound { .. } => code_and_message(404, "Not found"),
        Error::Busy(_) => code_and_message(503, "Service Unavailable"),
        Error::NoSpace(_) => code_and_message(507, "Insufficient Storage"),
        Error::Unsupported(_) | Error::Unreachable(_) | Error::Internal(_) => {
            code_and_message(500, INTERNAL)
        }
        Error::BadRequest(_)
        | Error::Unauthenticated
        | Error::Forbidden
        | Error::Conflict(_)
        | Error::PreconditionFailed
        | Error::IdempotencyKeyReused
        | Error::Gone(_)
        | Error::ObjectTooLarge { .. }
        | Error::BodyTooLarge
        | Error::UnsupportedMedia
        | Error::Damaged(_)
        | Error::CrossSite
        | Error::TooManyRequests { .. }
        | Error::OutcomeUnknown
        | Error::WouldBlock => code_and_message(status(error), &error.to_string()),
    }
}

/// The body `{code, message}`.
pub fn code_and_message(code: u16, message: &str) -> Value {
    json!({ "code": code, "message": message })
}

/// Parses an error response; `what` and `name` identify the requested resource.
pub fn from_response(status: u16, bytes: &[u8], what: &'static str, name: &str) -> Error {
    let body: Value = serde_json::from_slice(bytes).unwrap_or(Value::Null);
    let strings = |value: Option<&Value>| -> Vec<String> {
        let items = value.and_then(Value::as_array);
        items.into_iter().flatten().filter_map(|v| v.as_str().map(str::to_owned)).collect()
    };
    let message =
        || body["message"].as_str().map_or_else(|| format!("HTTP status {status}"), str::to_owned);
    match status {
        400 if body.get("batch_limit").is_some() => Error::BatchLimit {
            limit: body["batch_limit"].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(0),
        },
        400 if body.get("code").is_some() => Error::BadRequest(message()),
        400 if body.as_object().is_some_and(|map| map.len() == 1)
            && body.get("errors").is_some() =>
        {
            let reasons = strings(body.get("errors"));
            Error::Rejected(reasons.iter().map(|reason| Reason::parse(reason)).collect())
        }
        400 => match serde_json::from_value::<FieldErrors>(body.clone()) {
            Ok(errors) => Error::Invalid(errors),
            Err(_) => match serde_json::from_value::<IndexMap<String, FieldErrors>>(body.clone()) {
                Ok(types) => Error::Blocked(types.into_iter().collect()),
                Err(_) => Error::BadRequest(message()),
            },
        },
        401 => Error::Unauthenticated,
        403 => Error::Forbidden,
        404 => Error::NotFound { what, name: name.to_owned() },
        409 if body["data"].is_object() => {
            let number = |name: &str| body["data"][name].as_u64().unwrap_or(0);
            Error::MatchesChanged { expected: number("expected"), found: number("found") }
        }
        409 if body.get("data").is_some() => Error::DataLoss(strings(body.get("data"))),
        409 => Error::Conflict(message()),
        410 => Error::Gone(message()),
        412 => Error::PreconditionFailed,
        422 => Error::IdempotencyKeyReused,
        413 | 415 => Error::BadRequest(message()),
        429 | 503 => Error::Busy(message()),
        500 if body["message"].as_str().is_some_and(|text| text != INTERNAL) => {
            Error::Damaged(message())
        }
        504 if body["message"].as_str() == Some(OUTCOME_UNKNOWN) => Error::OutcomeUnknown,
        507 => Error::NoSpace(message().into()),
        _ => Error::internal(format!("the server responded with status {status}: {}", message())),
    }
}
