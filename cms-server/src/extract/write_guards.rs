//! The conditions of a write: `If-Match`, and `Idempotency-Key` of a POST with a body.

use axum::http::{HeaderName, header, request::Parts};
use cms_core::{
    Result,
    wire::condition::{IdempotencyKey, IfMatch, WriteGuards},
};

use super::{header::joined, visibility};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Reads both headers of a request; `body` is given if the request may have an idempotency key.
pub(crate) fn read(parts: &Parts, body: Option<&[u8]>) -> Result<WriteGuards> {
    let if_match = joined(&parts.headers, &header::IF_MATCH).map(|text| IfMatch::parse(&text));
    let mut keys = parts.headers.get_all(&IDEMPOTENCY_KEY).iter();
    let key = match keys.next().zip(body) {
        Some((value, json)) => {
            // Several keys, or one that is not text, are refused as an invalid key.
            let key = value.to_str().ok().filter(|_| keys.next().is_none()).unwrap_or_default();
            let (path, query) = (parts.uri.path(), parts.uri.query().unwrap_or_default());
            let mut request = vec![path.as_bytes(), query.as_bytes(), json];
            // The same body with and without kept dates is not the same request.
            if visibility::keeps_dates(&parts.headers) {
                request.push(b"keeps dates");
            }
            Some(IdempotencyKey::new(key, &request)?)
        }
        None => None,
    };
    Ok(WriteGuards::new(if_match, key))
}
