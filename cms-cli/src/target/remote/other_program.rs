//! Responses that are not from cms, but from a proxy or another program.

use cms_core::{Error, Result};
use serde_json::Value;

use super::Remote;

/// Describes a response of another program.
pub(super) fn describe(status: u16, body: &[u8]) -> String {
    let format = if is_html(body) { ", HTML" } else { "" };
    format!(
        "the response (status {status}{format}) is not from cms, but from a proxy or another program"
    )
}

fn is_html(body: &[u8]) -> bool {
    body.trim_ascii_start().starts_with(b"<")
}

/// Returns whether a response is from another program. Errors of cms are JSON, and a 404 of cms has
/// the member `code`, or `errors` as in GraphQL.
fn is_of_other_program(status: u16, body: &[u8]) -> bool {
    // 429 and 503 of a proxy are treated like those of cms (`Retry-After`), unless they are HTML.
    if status < 300 || matches!(status, 429 | 503) {
        return is_html(body);
    }
    match serde_json::from_slice(body) {
        Ok(Value::Object(members)) => {
            status == 404
                && members.get("code") != Some(&404.into())
                && !members.contains_key("errors")
        }
        // cms refuses a request that violates a limit of HTTP, such as a long path, without a body.
        _ => !(body.is_empty() && matches!(status, 400 | 414 | 431)),
    }
}

impl Remote {
    /// Refuses the response of another program.
    pub(super) fn require_cms_response(&self, status: u16, body: &[u8]) -> Result<()> {
        if is_of_other_program(status, body) {
            Err(self.not_a_cms_response(status, body))
        } else {
            Ok(())
        }
    }

    pub(super) fn not_a_cms_response(&self, status: u16, body: &[u8]) -> Error {
        Error::Unreachable(format!("{}: {}", self.base(), describe(status, body)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_responses_are_json_with_codes() {
        for (status, body, is_other) in [
            (200, "", false),
            (200, "[]", false),
            (200, "type Query { a: Int }", false),
            (200, " <!doctype html>", true),
            (302, "", true),
            (400, r#"{"title": ["required"]}"#, false),
            (401, r#"{"code":401,"message":"Unauthorized"}"#, false),
            (401, "Unauthorized", true),
            (404, r#"{"code":404,"message":"Not found"}"#, false),
            (404, r#"{"errors":[{"message":"Not found"}]}"#, false),
            (404, r#"{"detail":"Not Found"}"#, true),
            (404, "", true),
            (414, "", false),
            (502, "<html>", true),
            (503, "", false),
            (503, "<html>", true),
            (503, r#"{"code":503,"message":"Service Unavailable"}"#, false),
        ] {
            assert_eq!(is_of_other_program(status, body.as_bytes()), is_other, "{status} {body}");
        }
        assert!(describe(502, b"<html>").contains("(status 502, HTML)"));
    }
}
