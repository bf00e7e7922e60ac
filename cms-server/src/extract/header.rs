//! Headers that may have several lines.

use axum::http::{HeaderMap, HeaderName, header};

/// Returns whether `Accept` names a media type.
pub(crate) fn accepts(headers: &HeaderMap, media_type: &str) -> bool {
    let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|one| {
        let name = one.split(';').next().unwrap_or_default().trim();
        name.eq_ignore_ascii_case(media_type)
    })
}

/// Returns the values of a header, joined; none without the header. A value that is not text is
/// empty.
pub(crate) fn joined(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let values = headers.get_all(name).iter().map(|value| value.to_str().unwrap_or_default());
    let values: Vec<&str> = values.collect();
    (!values.is_empty()).then(|| values.join(","))
}
