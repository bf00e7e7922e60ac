//! The two headers that name the query parameters and payload keys of a request that the server
//! ignored.
//!
//! The specification of the API defines the names of the headers, although the listed names are
//! unknown, not deprecated.

use std::collections::HashSet;

use axum::http::{HeaderName, HeaderValue};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

pub(crate) const QUERY: HeaderName = HeaderName::from_static("x-deprecated-query-params");
pub(crate) const PAYLOAD: HeaderName = HeaderName::from_static("x-deprecated-payload");

/// Characters that a name in a comma-separated header value cannot contain.
const UNSAFE: &AsciiSet = &CONTROLS.add(b' ').add(b',').add(b'%').add(b'"');

/// Longest header value; names that do not fit are left out.
const MAX_BYTES: usize = 2048;

/// Returns the names as a header value, each once, in the given order; none without names.
pub(crate) fn header_value<'a>(ignored: impl Iterator<Item = &'a str>) -> Option<HeaderValue> {
    let mut text = String::new();
    let mut seen = HashSet::new();
    for name in ignored {
        if name.len() > MAX_BYTES || !seen.insert(name) {
            continue;
        }
        let start = text.len();
        if start > 0 {
            text.push(',');
        }
        text.extend(utf8_percent_encode(name, UNSAFE));
        if text.len() > MAX_BYTES {
            text.truncate(start);
            break;
        }
    }
    if text.is_empty() { None } else { HeaderValue::try_from(text).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(list: &[&str]) -> Option<String> {
        header_value(list.iter().copied()).map(|v| v.to_str().unwrap().to_owned())
    }

    #[test]
    fn header_value_has_each_name_once_in_request_order() {
        assert_eq!(text(&[]), None);
        assert_eq!(text(&["b", "a", "b"]).as_deref(), Some("b,a"));
        assert_eq!(text(&["a,b", "ü\r\n"]).as_deref(), Some("a%2Cb,%C3%BC%0D%0A"));
        let long = "x".repeat(MAX_BYTES - 1);
        assert_eq!(text(&[&long, "yy"]), Some(long));
    }
}
