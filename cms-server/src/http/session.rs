//! Sign-in, and the sessions of the caller.
//!
//! `routing/request.rs` has already checked that a sign-in does not come from another site, and that its
//! client address does not have too many failed attempts. Sign-out is in `routing/request.rs` too.

use std::net::IpAddr;

use axum::http::{HeaderValue, header, request::Parts};
use cms_core::{
    ActorKind, Cms, Error, Result, SignedIn, email_key,
    wire::session::{CurrentSession, OpenIdMethod, PasswordChange, SignIn, SignInMethods, code_of},
};

use super::{
    auth_context::complete,
    context::{RequestContext, UnauthenticatedRequest, client},
    objects::page,
    openid,
};
use crate::{
    extract::{body, cookie},
    net::sign_in_limits::SignInAttempt,
    response::Response,
    state::App,
};

const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

pub(crate) fn methods(app: &App, _: &Parts) -> Response {
    let methods = app.cms.sessions().methods().map(|methods| SignInMethods {
        open_id: app.openid.as_ref().map(|openid| OpenIdMethod {
            label: openid.config.label.clone(),
            url: openid::START.to_owned(),
        }),
        ..methods
    });
    methods.map_or_else(Response::from, |methods| Response::json(&methods))
}

/// Signs in by password or code, and sets the cookie.
pub(crate) fn sign_in(app: &App, request: &UnauthenticatedRequest) -> Result<Response> {
    let (sessions, client) = (app.cms.sessions(), client(request.address, &request.head));
    let start =
        |email: Option<&str>| app.sign_in_limits.start(request.address, email, app.uptime());
    let (signed_in, has_code) = match SignIn::from_payload(body::object(&request.body)?)? {
        SignIn::Password { email, password } => {
            let attempt = start(Some(&email_key(&email)))?;
            let signed_in = sessions.sign_in(&email, &password, &client);
            (
                record_result(attempt, signed_in, |error| matches!(error, Error::Unauthenticated))?,
                false,
            )
        }
        SignIn::Code { code, members } => {
            let attempt = start(None)?;
            let signed_in = sessions.sign_in_with_code(&code, &members, &client);
            let signed_in = record_result(attempt, signed_in, is_wrong_code)?;
            clear_failures(app, request.address, &signed_in);
            (signed_in, true)
        }
    };
    let is_https = app.config.is_https(&request.head.headers);
    let cookie = cookie::set_session(is_https, &signed_in.cookie, SignedIn::max_age());
    let response = Response::json(&with_server_limits(app, signed_in.session))
        .with_header(header::SET_COOKIE, cookie)
        .with_header(header::CACHE_CONTROL, NO_STORE);
    // A code may set a new password, which ends the other sessions of the user.
    Ok(if has_code { response.revoking_access() } else { response })
}

/// Clears the failed sign-ins of a user who signed in without a password.
pub(super) fn clear_failures(app: &App, address: Option<IpAddr>, signed_in: &SignedIn) {
    if let Some(email) = &signed_in.session.context.user.email {
        app.sign_in_limits.clear_email(address, &email_key(email));
    }
}

/// Returns what a one-time code is used for.
pub(crate) fn code(app: &App, request: &UnauthenticatedRequest) -> Result<Response> {
    let code = code_of(&body::object(&request.body)?)?;
    let attempt = app.sign_in_limits.start(request.address, None, app.uptime())?;
    let info = record_result(attempt, app.cms.sessions().code(&code), is_wrong_code)?;
    Ok(Response::json(&info).with_header(header::CACHE_CONTROL, NO_STORE))
}

pub(crate) fn current(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let session = cms.sessions().current(&context.caller)?;
    Ok(Response::json(&with_server_limits(context.app, session)))
}

fn with_server_limits(app: &App, session: CurrentSession) -> CurrentSession {
    CurrentSession { context: complete(app, session.context), ..session }
}

/// A wrong current password counts as a failed sign-in.
pub(crate) fn change_password(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let (app, address) = (context.app, context.address);
    let change = PasswordChange::from_payload(&body::object(context.body)?)?;
    let ActorKind::User { email, .. } = &context.caller.actor().kind else {
        return Err(Error::Forbidden);
    };
    let attempt = app.sign_in_limits.start(address, Some(&email_key(email)), app.uptime())?;
    let client = client(address, context.head);
    let changed = cms.sessions().change_password(&context.caller, &change, &client);
    record_result(attempt, changed, |error| is_at(error, "currentPassword"))?;
    Ok(Response::no_content())
}

pub(crate) fn list(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    Ok(Response::json(&cms.sessions().list(&context.caller, page(&context.query))?))
}

pub(crate) fn end(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [id, ..] = &context.path;
    cms.sessions().end(&context.caller, id)?;
    Ok(Response::no_content())
}

pub(crate) fn end_others(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    cms.sessions().end_others(&context.caller)?;
    Ok(Response::no_content())
}

/// Records the result of an attempt. Errors that say nothing about the secret do not count.
fn record_result<T>(
    attempt: SignInAttempt<'_>,
    result: Result<T>,
    is_failure: impl Fn(&Error) -> bool,
) -> Result<T> {
    match &result {
        Ok(_) => attempt.succeeded(),
        Err(error) if is_failure(error) => {}
        Err(_) => attempt.cancelled(),
    }
    result
}

fn is_wrong_code(error: &Error) -> bool {
    is_at(error, "code")
}

fn is_at(error: &Error, path: &str) -> bool {
    matches!(error, Error::Invalid(errors) if !errors.at(path).is_empty())
}
