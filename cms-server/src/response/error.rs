//! How an error of the core becomes a response. Statuses and bodies themselves are in
//! [`cms_core::wire::error`], where the command line reads them back.

use axum::http::{HeaderValue, StatusCode, header};
use cms_core::{
    Error,
    wire::{self, graphql::GraphQlResponse},
};

use super::Response;

impl From<Error> for Response {
    fn from(error: Error) -> Self {
        let status = StatusCode::from_u16(wire::error::status(&error))
            .expect("the core names HTTP statuses");
        let mut response = Self::json(&wire::error::body(&error)).with_status(status);
        match error {
            Error::Damaged(reason) => response.cause = Some(reason.into()),
            Error::Busy(reason) => {
                response = response.with_header(header::RETRY_AFTER, HeaderValue::from_static("1"));
                response.cause = Some(reason.into());
            }
            Error::TooManyRequests { retry_after_seconds } => {
                let seconds = HeaderValue::from(retry_after_seconds);
                response = response.with_header(header::RETRY_AFTER, seconds);
            }
            Error::Internal(cause) | Error::NoSpace(cause) => response.cause = Some(cause),
            _ => {}
        }
        response
    }
}

/// An error in the body format of GraphQL.
pub(crate) fn graphql(error: Error) -> Response {
    let body = Response::from(GraphQlResponse::of(&error));
    // Headers and cause are those of any other error.
    Response::from(error).with_body_of(body)
}

/// 404 for a path without a route.
pub(crate) fn unknown_path() -> Response {
    generic(StatusCode::NOT_FOUND, "Not found")
}

/// 405 for a path that has routes of other methods.
pub(crate) fn method_not_allowed(allow: HeaderValue) -> Response {
    generic(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed").with_header(header::ALLOW, allow)
}

/// 416 for a range beyond the end of a file.
pub(crate) fn range_not_satisfiable() -> Response {
    generic(StatusCode::RANGE_NOT_SATISFIABLE, "Range Not Satisfiable")
}

fn generic(status: StatusCode, message: &str) -> Response {
    Response::json(&wire::error::code_and_message(status.as_u16(), message)).with_status(status)
}

#[cfg(test)]
mod tests {
    use axum::http::Method;
    use http_body_util::BodyExt;

    use super::*;

    async fn sent(error: Error) -> (u16, Option<HeaderValue>, String) {
        let response = Response::from(error);
        let id = HeaderValue::from_static("id");
        let (head, body) = response.into_http(&Method::GET, id).into_parts();
        let text = body.collect().await.unwrap().to_bytes();
        let retry = head.headers.get(header::RETRY_AFTER).cloned();
        (head.status.as_u16(), retry, String::from_utf8(text.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn error_response_hides_the_cause() {
        let text = r#"{"code":500,"message":"Internal Server Error"}"#.to_owned();
        assert_eq!(sent(Error::internal("a secret")).await, (500, None, text));
        assert_eq!(
            Response::from(Error::internal("a secret")).cause.unwrap().to_string(),
            "a secret"
        );
    }

    #[tokio::test]
    async fn busy_response_has_retry_after() {
        let text = r#"{"code":503,"message":"Service Unavailable"}"#.to_owned();
        let retry_after = Some(HeaderValue::from_static("1"));
        assert_eq!(sent(Error::Busy("a lock".to_owned())).await, (503, retry_after, text));
    }
}
