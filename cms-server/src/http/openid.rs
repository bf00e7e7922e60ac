//! Sign-in by OpenID Connect: the redirect to the issuer, and the callback.
//!
//! Both respond with a redirect: after a failed sign-in to the sign-in page, which shows the error.

use std::{net::IpAddr, sync::Arc};

use axum::http::{HeaderValue, StatusCode, header, request::Parts};
use cms_core::{OpenIdError, Result, SessionClient, SignedIn};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::{context::client, session};
use crate::{
    blocking,
    extract::{cookie, query::Query},
    net::permits::Work,
    openid::{OpenId, OpenIdFailure},
    response::{Response, error},
    state::App,
};

pub(crate) const START: &str = "/api/v1/session/openid";
pub(crate) const CALLBACK: &str = "/api/v1/session/openid/callback";

/// Maximum length of an error of the issuer in the log.
const MAX_REASON_CHARS: usize = 100;

/// Characters that a header or a URL cannot contain; text that is not ASCII is encoded too.
const ENCODED: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>');

/// The two requests of a sign-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenIdStep {
    Start,
    Callback,
}

/// Handles a request; without a configured issuer the paths do not exist.
pub(crate) async fn respond(
    app: &Arc<App>,
    step: OpenIdStep,
    head: &Parts,
    address: Option<IpAddr>,
) -> Result<Response> {
    let Some(openid) = app.openid.clone() else { return Ok(error::unknown_path()) };
    let client = client(address, head);
    match step {
        OpenIdStep::Start => start(app, &openid, head, &client).await,
        OpenIdStep::Callback => callback(app, &openid, head, (client, address)).await,
    }
}

/// Redirects the browser to the issuer.
async fn start(
    app: &Arc<App>,
    openid: &OpenId,
    head: &Parts,
    client: &SessionClient,
) -> Result<Response> {
    if let Err(failure) = openid.discover().await {
        return Ok(refused(failure.error, Some(&failure.reason), client));
    }
    let return_to = Query::of(head).get("return").map(str::to_owned);
    let start = move |app: &App| app.cms.sessions().start_openid(return_to.as_deref());
    let start = blocking::run(app, Work::Write, start).await??;
    let is_https = app.config.is_https(&head.headers);
    let cookie = cookie::set_openid(is_https, &start.browser);
    Ok(match openid.authorization_url(redirect_url(app, head), start).await {
        Ok(url) => redirect(&url).with_header(header::SET_COOKIE, cookie),
        Err(failure) => refused(failure.error, Some(&failure.reason), client),
    })
}

/// Signs in the user whom the ID token identifies.
async fn callback(
    app: &Arc<App>,
    openid: &Arc<OpenId>,
    head: &Parts,
    (client, address): (SessionClient, Option<IpAddr>),
) -> Result<Response> {
    let query = Query::of(head);
    let is_https = app.config.is_https(&head.headers);
    let browser = cookie::value(&head.headers, cookie::openid_name(is_https));
    let sign_in = match (query.get("state"), browser) {
        (Some(state), Some(browser)) => {
            let (state, browser) = (state.to_owned(), browser.to_owned());
            let take = move |app: &App| app.cms.sessions().take_openid(&state, &browser);
            blocking::run(app, Work::Write, take).await??
        }
        _ => None,
    };
    if let Some(error) = query.get("error") {
        let reason: String = error.chars().take(MAX_REASON_CHARS).collect();
        return Ok(refused(OpenIdError::Denied, Some(&reason), &client));
    }
    let Some(sign_in) = sign_in else {
        return Ok(refused(OpenIdError::State, None, &client));
    };
    let Some(code) = query.get("code").filter(|code| !code.is_empty()) else {
        return Ok(refused(OpenIdError::Unavailable, Some("there is no code"), &client));
    };
    let (return_to, redirect_url) = (sign_in.return_to.clone(), redirect_url(app, head));
    let now = app.cms.config().clock.now();
    let claims = match openid.claims(code.to_owned(), redirect_url, sign_in, now).await {
        Ok(claims) => claims,
        Err(OpenIdFailure { error, reason }) => return Ok(refused(error, Some(&reason), &client)),
    };
    let rules = &openid.config.rules;
    let identity = match rules.identity(&openid.config.issuer, &claims) {
        Ok(identity) => identity,
        Err(error) => return Ok(refused(error, None, &client)),
    };
    let openid = Arc::clone(openid);
    let sign_in = move |app: &App| {
        app.cms.sessions().sign_in_with_openid(identity, &openid.config.rules, &client)
    };
    Ok(match blocking::run(app, Work::Write, sign_in).await?? {
        Ok(signed_in) => {
            session::clear_failures(app, address, &signed_in);
            let session = cookie::set_session(is_https, &signed_in.cookie, SignedIn::max_age());
            let response = redirect(&return_to)
                .with_header(header::SET_COOKIE, session)
                .with_header(header::SET_COOKIE, cookie::remove_openid(is_https));
            if signed_in.changed_role { response.revoking_access() } else { response }
        }
        Err(error) => sign_in_page(error),
    })
}

/// The URL of [`CALLBACK`], which the issuer knows.
fn redirect_url(app: &App, head: &Parts) -> String {
    format!("{}{CALLBACK}", app.config.base_url(head))
}

/// Logs why a sign-in failed, and redirects to the sign-in page, which shows the error.
fn refused(error: OpenIdError, detail: Option<&str>, client: &SessionClient) -> Response {
    let (user, reason, address) = ("", error.as_str(), &client.address);
    tracing::info!(user, method = "openid", reason, detail, address, "sign-in failed");
    sign_in_page(error)
}

fn sign_in_page(error: OpenIdError) -> Response {
    redirect(&format!("/admin/sign-in#error={}", error.as_str()))
}

fn redirect(url: &str) -> Response {
    let url = utf8_percent_encode(url, ENCODED).to_string();
    let url = HeaderValue::try_from(url).expect("the URL has visible ASCII characters only");
    Response::empty()
        .with_status(StatusCode::FOUND)
        .with_header(header::LOCATION, url)
        .with_header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
}
