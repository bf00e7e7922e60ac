//! Checks that several kinds of requests have in common.

use std::sync::Arc;

use axum::http::{HeaderValue, request::Parts};
use cms_core::{Caller, CommitState, Credential, Error, Keys, Reservation, Result, limits};

use super::route::{BodyKind, Route};
use crate::{
    blocking,
    extract::{
        auth, cookie,
        query::{Query, UnknownPaths},
    },
    state::App,
    telemetry::request_log::RequestLog,
};

/// What the checks of a request return besides its response.
pub(super) struct Outputs {
    pub(super) log: RequestLog,
    /// `Set-Cookie` that removes the cookie of an ended session.
    pub(super) remove_cookie: Option<HeaderValue>,
}

/// The maximum size of a JSON body.
pub(super) fn body_limit(app: &App, kind: BodyKind) -> usize {
    let limit = match kind {
        BodyKind::GraphQl => limits::MAX_GRAPHQL_BODY_BYTES,
        BodyKind::Credentials => limits::MAX_SESSION_BODY_BYTES,
        BodyKind::Settings => limits::MAX_SETTINGS_BYTES,
        BodyKind::None | BodyKind::Json | BodyKind::Form => usize::MAX,
    };
    limit.min(app.config.body_limit)
}

/// Authenticates the caller, and applies the rate limit of the key. The sessions of a user count as
/// one key. Also returns the state of the newest commit, which decides what cached data is current.
pub(super) fn authenticate(
    app: &App,
    parts: &Parts,
    memory: &Arc<Reservation>,
    outputs: &mut Outputs,
) -> Result<(Caller, Arc<CommitState>)> {
    let query = Query::of(parts);
    let newest = app.cms.commit_state()?;
    let authenticate =
        |app: &App| auth::caller(app, &parts.headers, &query, &newest, Keys::authenticate_session);
    let caller = blocking::run_inline(app, authenticate)?;
    if matches!(caller, Err(Error::Unauthenticated)) && !auth::has_key(&parts.headers, &query) {
        let is_https = app.config.is_https(&parts.headers);
        let cookie = cookie::value(&parts.headers, cookie::session_name(is_https));
        outputs.remove_cookie = cookie.map(|_| cookie::remove_session(is_https));
    }
    let caller = Caller { memory: Arc::clone(memory), ..caller? };
    outputs.log.caller = Some(caller.clone());
    if app.admits_key(&caller) {
        Ok((caller, newest))
    } else {
        Err(Error::TooManyRequests { retry_after_seconds: 1 })
    }
}

/// Refuses preview tokens, unless the route accepts them.
pub(super) fn require_accepted(route: &Route, caller: &Caller) -> Result<()> {
    let is_preview = caller.credential == Credential::PreviewToken;
    if is_preview && !route.accepts_preview_tokens { Err(Error::Forbidden) } else { Ok(()) }
}

/// Lists the query parameters that the route does not know.
pub(super) fn ignored_parameters(route: &Route, parts: &Parts) -> Option<HeaderValue> {
    Query::of(parts).ignored(route.query, &UnknownPaths::default())
}
