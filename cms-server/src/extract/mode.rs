//! The two headers that choose the view of content (contract 1.10). Other values are ignored, also
//! where a proxy adds one to a header that is there.

use axum::http::{HeaderMap, HeaderName};
use cms_core::Visibility;

const MODE: HeaderName = HeaderName::from_static("x-mode");
const VISIBILITY: HeaderName = HeaderName::from_static("x-visibility");

/// Reads the view that a request asks for.
pub(crate) fn visibility(headers: &HeaderMap) -> Visibility {
    let says = |name: &HeaderName, word: &str| {
        let mut values = headers.get_all(name).iter();
        values.any(|value| value.as_bytes().eq_ignore_ascii_case(word.as_bytes()))
    };
    Visibility { preview: says(&MODE, "preview"), public_only: says(&VISIBILITY, "public") }
}
