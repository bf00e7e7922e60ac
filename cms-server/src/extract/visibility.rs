//! The two headers that choose the view of content (contract 1.10), and the one by which objects keep
//! the dates of the request. Other values are ignored, also where a proxy adds one to a header that
//! is there.

use axum::http::{HeaderMap, HeaderName};
use cms_core::Visibility;

const MODE: HeaderName = HeaderName::from_static("x-mode");
const VISIBILITY: HeaderName = HeaderName::from_static("x-visibility");
const KEEP_DATES: HeaderName = HeaderName::from_static("x-cms-keep-dates");

/// Tells whether objects get the dates that the request names.
pub(crate) fn keeps_dates(headers: &HeaderMap) -> bool {
    headers.get_all(&KEEP_DATES).iter().any(|value| value == "1")
}

/// Reads the view that a request asks for.
pub(crate) fn visibility(headers: &HeaderMap) -> Visibility {
    let says = |name: &HeaderName, word: &str| {
        let mut values = headers.get_all(name).iter();
        values.any(|value| value.as_bytes().eq_ignore_ascii_case(word.as_bytes()))
    };
    Visibility { preview: says(&MODE, "preview"), public_only: says(&VISIBILITY, "public") }
}
