//! Finds the caller of a request: by the key in the header `X-AUTH-TOKEN`, or else in the query
//! parameter `auth_token`; without a key, by the session cookie.

use axum::http::{HeaderMap, HeaderName, Method};
use cms_core::{Caller, CommitState, Credential, Error, Keys, Result};

use super::{
    cookie,
    query::{KEY_PARAMETER, Query},
    visibility,
};
use crate::state::App;

const HEADER: HeaderName = HeaderName::from_static("x-auth-token");
/// A page of another site cannot send this header.
const CMS_REQUEST: HeaderName = HeaderName::from_static("x-cms-request");
/// The id of the user whose page sends the request: another tab of the browser may have changed the cookie.
const CMS_USER: HeaderName = HeaderName::from_static("x-cms-user");
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Authenticates the caller of a request as of the newest commit; the caller gets the view of content
/// that the request selects. `session` finds the caller of a session cookie:
/// [`Keys::authenticate_session`], or for an open stream, which does not prolong its session,
/// [`Keys::recheck_session`].
pub(crate) fn caller<'a>(
    app: &'a App,
    headers: &HeaderMap,
    query: &Query<'_>,
    newest: &CommitState,
    session: fn(&Keys<'a>, &str, &CommitState) -> Result<Caller>,
) -> Result<Caller> {
    let caller = if has_key(headers, query) {
        let token = match headers.get(HEADER) {
            Some(value) => value.to_str().ok(),
            None => query.get(KEY_PARAMETER),
        };
        app.cms.keys().authenticate(token.ok_or(Error::Unauthenticated)?, newest)?
    } else {
        let is_https = app.config.is_https(headers);
        let cookie = cookie::value(headers, cookie::session_name(is_https));
        session(&app.cms.keys(), cookie.ok_or(Error::Unauthenticated)?, newest)?
    };
    let mut visibility = visibility::visibility(headers);
    visibility.preview |= caller.credential == Credential::PreviewToken;
    Ok(caller.with_visibility(visibility))
}

/// Returns whether a request has a key, valid or not: then its cookie is not used.
pub(crate) fn has_key(headers: &HeaderMap, query: &Query<'_>) -> bool {
    headers.contains_key(HEADER) || query.get(KEY_PARAMETER).is_some()
}

/// Refuses a request with a session cookie of another user than the one whom the page names. The cookie
/// stays: it belongs to a session of another tab.
pub(crate) fn require_named_user(caller: &Caller, headers: &HeaderMap) -> Result<()> {
    let is_other = headers.get(CMS_USER).is_some_and(|user| *user != *caller.actor.id);
    if caller.has_session() && is_other { Err(Error::Unauthenticated) } else { Ok(()) }
}

/// Rejects a write with a session cookie, unless a page of this server sends it: browsers add the
/// cookie to requests from pages of other sites too.
pub(crate) fn require_same_origin(
    caller: &Caller,
    method: &Method,
    headers: &HeaderMap,
) -> Result<()> {
    let is_read = method == Method::GET || method == Method::HEAD;
    if !caller.has_session() || is_read { Ok(()) } else { require_page_of_this_server(headers) }
}

/// Rejects a request that may come from a page of another site.
pub(crate) fn require_page_of_this_server(headers: &HeaderMap) -> Result<()> {
    let has_header = headers.get(CMS_REQUEST).is_some_and(|value| value == "1");
    let is_same_origin = headers.get(FETCH_SITE).is_none_or(|site| site == "same-origin");
    if has_header && is_same_origin { Ok(()) } else { Err(Error::CrossSite) }
}
