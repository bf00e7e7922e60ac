//! How an error of the core becomes an answer. Statuses and bodies themselves are in
//! [`cms_core::wire::error`], where the command line reads them back.

use axum::http::{HeaderValue, StatusCode, header};
use cms_core::{
    Error,
    wire::{self, graphql::GraphQlResponse},
};

use crate::answer::Answer;

impl From<Error> for Answer {
    fn from(error: Error) -> Self {
        let status = StatusCode::from_u16(wire::error::status(&error))
            .expect("the core names HTTP statuses");
        let mut answer = Self::json(&wire::error::body(&error)).with_status(status);
        match error {
            Error::Damaged(reason) => answer.cause = Some(reason.into()),
            Error::Busy(reason) => {
                answer = answer.with_header(header::RETRY_AFTER, HeaderValue::from_static("1"));
                answer.cause = Some(reason.into());
            }
            Error::TooManyRequests => {
                answer = answer.with_header(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            Error::Internal(cause) | Error::NoSpace(cause) => answer.cause = Some(cause),
            _ => {}
        }
        answer
    }
}

/// An error as GraphQL tells it (contract 8.6).
pub(crate) fn of_graphql(error: Error) -> Answer {
    let told = Answer::from(GraphQlResponse::of(&error));
    // Header and cause are those of any other error.
    Answer::from(error).with_body_of(told)
}

/// 404 for a path that no route has.
pub(crate) fn unknown_path() -> Answer {
    generic(StatusCode::NOT_FOUND, "Not found")
}

/// 405 for a path that other methods have.
pub(crate) fn method_not_allowed(allow: HeaderValue) -> Answer {
    generic(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed").with_header(header::ALLOW, allow)
}

/// 416 for a part that a file does not have.
pub(crate) fn no_such_range() -> Answer {
    generic(StatusCode::RANGE_NOT_SATISFIABLE, "Range Not Satisfiable")
}

fn generic(status: StatusCode, message: &str) -> Answer {
    Answer::json(&wire::error::code_and_message(status.as_u16(), message)).with_status(status)
}

#[cfg(test)]
mod tests {
    use axum::http::Method;
    use http_body_util::BodyExt;

    use super::*;

    async fn sent(error: Error) -> (u16, Option<HeaderValue>, String) {
        let answer = Answer::from(error);
        let id = HeaderValue::from_static("id");
        let (head, body) = answer.into_response(&Method::GET, id).into_parts();
        let text = body.collect().await.unwrap().to_bytes();
        let retry = head.headers.get(header::RETRY_AFTER).cloned();
        (head.status.as_u16(), retry, String::from_utf8(text.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn causes_are_for_the_log_alone() {
        let text = r#"{"code":500,"message":"Internal Server Error"}"#.to_owned();
        assert_eq!(sent(Error::internal("a secret")).await, (500, None, text));
        assert_eq!(
            Answer::from(Error::internal("a secret")).cause.unwrap().to_string(),
            "a secret"
        );
    }

    #[tokio::test]
    async fn who_meets_a_busy_server_is_told_when_to_come_back() {
        let text = r#"{"code":503,"message":"Service Unavailable"}"#.to_owned();
        let soon = Some(HeaderValue::from_static("1"));
        assert_eq!(sent(Error::Busy("a lock".to_owned())).await, (503, soon, text));
    }
}
