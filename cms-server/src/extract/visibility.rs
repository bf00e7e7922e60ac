//! The headers that select the view of content, and the one that keeps the dates of imported
//! objects.
//!
//! Other values of these headers are ignored, also values that a proxy adds.

use axum::http::{HeaderMap, HeaderName};
use cms_core::Visibility;

const MODE: HeaderName = HeaderName::from_static("x-mode");
const VISIBILITY: HeaderName = HeaderName::from_static("x-visibility");
const KEEP_DATES: HeaderName = HeaderName::from_static("x-cms-keep-dates");

/// Returns whether objects get the dates that the request contains.
pub(crate) fn keeps_dates(headers: &HeaderMap) -> bool {
    headers.get_all(&KEEP_DATES).iter().any(|value| value == "1")
}

/// Reads the view that a request selects.
pub(crate) fn visibility(headers: &HeaderMap) -> Visibility {
    let has = |name: &HeaderName, word: &str| {
        let mut values = headers.get_all(name).iter();
        values.any(|value| value.as_bytes().eq_ignore_ascii_case(word.as_bytes()))
    };
    Visibility { preview: has(&MODE, "preview"), public_only: has(&VISIBILITY, "public") }
}
