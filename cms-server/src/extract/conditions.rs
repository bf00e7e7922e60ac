//! What a change depends on: `If-Match`, and `Idempotency-Key` where a body is sent.

use axum::http::{HeaderMap, HeaderName, Method, header, request::Parts};
use cms_core::{
    Result,
    wire::condition::{Conditions, IdempotencyKey, IfMatch},
};

use super::visibility;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Reads both headers of a request with this JSON.
pub(crate) fn conditions(parts: &Parts, json: &[u8]) -> Result<Conditions> {
    let if_match = texts(&parts.headers, &header::IF_MATCH).map(|text| IfMatch::parse(&text));
    let mut keys = parts.headers.get_all(&IDEMPOTENCY_KEY).iter();
    let key = match keys.next().filter(|_| parts.method == Method::POST && !json.is_empty()) {
        Some(value) => {
            let text = value.to_str().ok().filter(|_| keys.next().is_none());
            let (path, query) = (parts.uri.path(), parts.uri.query().unwrap_or_default());
            // No key at all is refused like any other that cannot be one.
            let text = text.unwrap_or_default();
            let request: &[&[u8]] = &[path.as_bytes(), query.as_bytes(), json, b"keeps dates"];
            let said = if visibility::keeps_dates(&parts.headers) { 4 } else { 3 };
            Some(IdempotencyKey::new(text, &request[..said])?)
        }
        None => None,
    };
    Ok(Conditions::new(if_match, key))
}

/// The values of a header, joined; none without it. What is no text names nothing.
fn texts(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let values = headers.get_all(name).iter().map(|value| value.to_str().unwrap_or_default());
    let values: Vec<&str> = values.collect();
    (!values.is_empty()).then(|| values.join(","))
}
