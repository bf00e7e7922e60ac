//! Headers that may have several lines.

use axum::http::{HeaderMap, HeaderName};

/// Returns the values of a header, joined; none without the header. A value that is not text is
/// empty.
pub(crate) fn joined(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let values = headers.get_all(name).iter().map(|value| value.to_str().unwrap_or_default());
    let values: Vec<&str> = values.collect();
    (!values.is_empty()).then(|| values.join(","))
}
