//! The two headers that name what a request used and the server ignored (contract 1.11).

use std::collections::HashSet;

use axum::http::{HeaderName, HeaderValue};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

pub(crate) const QUERY: HeaderName = HeaderName::from_static("x-deprecated-query-params");
pub(crate) const PAYLOAD: HeaderName = HeaderName::from_static("x-deprecated-payload");

/// What a name in a comma-separated header value cannot hold as it is.
const UNSAFE: &AsciiSet = &CONTROLS.add(b' ').add(b',').add(b'%').add(b'"');

/// Longest header value in bytes: names that do not fit any more are left out.
const LENGTH: usize = 2048;

/// Returns the names as a header value, each once, in the given order; none when there are none.
pub(crate) fn names<'a>(ignored: impl Iterator<Item = &'a str>) -> Option<HeaderValue> {
    let mut text = String::new();
    let mut seen = HashSet::new();
    for name in ignored {
        if name.len() > LENGTH || !seen.insert(name) {
            continue;
        }
        let start = text.len();
        if start > 0 {
            text.push(',');
        }
        text.extend(utf8_percent_encode(name, UNSAFE));
        if text.len() > LENGTH {
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
        names(list.iter().copied()).map(|v| v.to_str().unwrap().to_owned())
    }

    #[test]
    fn names_stand_once_in_request_order_and_fit_a_header() {
        assert_eq!(text(&[]), None);
        assert_eq!(text(&["b", "a", "b"]).as_deref(), Some("b,a"));
        assert_eq!(text(&["a,b", "ü\r\n"]).as_deref(), Some("a%2Cb,%C3%BC%0D%0A"));
        let long = "x".repeat(LENGTH - 1);
        assert_eq!(text(&[&long, "yy"]), Some(long));
    }
}
