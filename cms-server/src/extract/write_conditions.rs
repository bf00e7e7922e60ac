//! The conditions of a write: `If-Match`, and `Idempotency-Key` of a POST with a body.

use axum::http::{HeaderMap, HeaderName, Method, header, request::Parts};
use cms_core::{
    Result,
    wire::condition::{Conditions, IdempotencyKey, IfMatch},
};

use super::visibility;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Reads both headers of a request with this JSON.
pub(crate) fn read(parts: &Parts, json: &[u8]) -> Result<Conditions> {
    let if_match = joined(&parts.headers, &header::IF_MATCH).map(|text| IfMatch::parse(&text));
    let mut keys = parts.headers.get_all(&IDEMPOTENCY_KEY).iter();
    let key = match keys.next().filter(|_| parts.method == Method::POST && !json.is_empty()) {
        Some(value) => {
            // Several keys, or one that is no text, are refused as an invalid key.
            let key = value.to_str().ok().filter(|_| keys.next().is_none()).unwrap_or_default();
            let (path, query) = (parts.uri.path(), parts.uri.query().unwrap_or_default());
            let request: &[&[u8]] = &[path.as_bytes(), query.as_bytes(), json, b"keeps dates"];
            let used = if visibility::keeps_dates(&parts.headers) { 4 } else { 3 };
            Some(IdempotencyKey::new(key, &request[..used])?)
        }
        None => None,
    };
    Ok(Conditions::new(if_match, key))
}

/// Returns the values of a header, joined; none without the header. A value that is no text is
/// empty.
fn joined(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let values = headers.get_all(name).iter().map(|value| value.to_str().unwrap_or_default());
    let values: Vec<&str> = values.collect();
    (!values.is_empty()).then(|| values.join(","))
}
