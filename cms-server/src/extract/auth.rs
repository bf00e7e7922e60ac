//! The key of a request: header `X-AUTH-TOKEN`, or query `auth_token` without the header.

use axum::http::{HeaderMap, HeaderName};
use cms_core::{Caller, Cms, Error, Result};

use super::{
    query::{KEY_PARAMETER, Query},
    visibility,
};

const HEADER: HeaderName = HeaderName::from_static("x-auth-token");

/// Authenticates the caller of a request, with the view of content that the request selects.
pub(crate) fn caller(cms: &Cms, headers: &HeaderMap, query: &Query<'_>) -> Result<Caller> {
    let token = match headers.get(HEADER) {
        Some(value) => value.to_str().ok(),
        None => query.get(KEY_PARAMETER),
    };
    let caller = cms.keys().authenticate(token.ok_or(Error::Unauthenticated)?)?;
    Ok(caller.with_visibility(visibility::visibility(headers)))
}
