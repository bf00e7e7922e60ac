//! How an error of the core becomes an answer. Statuses and bodies themselves are in
//! [`cms_core::wire::error`], where the command line reads them back.

use axum::http::{HeaderValue, StatusCode, header};
use cms_core::{Error, wire};

use crate::answer::Answer;

impl From<Error> for Answer {
    fn from(error: Error) -> Self {
        let status = StatusCode::from_u16(wire::error::status(&error))
            .expect("the core names HTTP statuses");
        let mut answer = Self::json(&wire::error::body(&error)).with_status(status);
        match error {
            Error::Busy(_) => {
                answer = answer.with_header(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            Error::Internal(cause) => answer.cause = Some(cause),
            _ => {}
        }
        answer
    }
}

/// 404 for a path that no route has.
pub(crate) fn unknown_path() -> Answer {
    generic(StatusCode::NOT_FOUND, "Not found")
}

/// 405 for a path that other methods have.
pub(crate) fn method_not_allowed(allow: HeaderValue) -> Answer {
    generic(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed").with_header(header::ALLOW, allow)
}

fn generic(status: StatusCode, message: &str) -> Answer {
    Answer::json(&wire::error::generic(status.as_u16(), message)).with_status(status)
}
