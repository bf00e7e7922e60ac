//! [`RequestContext`] and [`UnauthenticatedRequest`]: a request as
//! handlers see it, with authentication and without.

use std::{borrow::Cow, net::IpAddr, sync::Arc};

use axum::{
    body::Bytes,
    http::{HeaderValue, header, request::Parts},
};
use cms_core::{Caller, Progress, SessionClient};

use crate::{
    extract::{
        form::Form,
        query::{Query, UnknownPaths},
    },
    state::App,
};

/// An authenticated request: the caller, and the parsed parts of the request.
pub(crate) struct RequestContext<'a> {
    pub(crate) caller: Caller,
    /// Parameters of the path, decoded; empty where the route has fewer.
    pub(crate) path: [Cow<'a, str>; 3],
    pub(crate) query: Query<'a>,
    /// The query parameters that the handler does not ignore: by default those of the route.
    pub(crate) known_parameters: &'static [&'static str],
    pub(crate) head: &'a Parts,
    /// For handlers that need more than the core.
    pub(crate) app: &'a App,
    /// The address of the client.
    pub(crate) address: Option<IpAddr>,
    /// JSON; empty where the route reads none.
    pub(crate) body: &'a Bytes,
    /// Empty where the route reads none.
    pub(crate) form: Form,
    /// None where the route does not use it; cancelled when the client disconnects.
    pub(crate) progress: Option<Arc<Progress>>,
    /// Payload keys that the handler ignored.
    pub(crate) ignored_payload: Option<HeaderValue>,
    /// Paths in parameters that no content type declares.
    pub(crate) unknown_paths: UnknownPaths,
}

/// A request without authentication.
pub(crate) struct UnauthenticatedRequest {
    pub(crate) head: Parts,
    pub(crate) body: Bytes,
    /// The address of the client.
    pub(crate) address: Option<IpAddr>,
}

/// The client of a request, as a session shows it.
pub(crate) fn client(address: Option<IpAddr>, head: &Parts) -> SessionClient {
    let agent = head.headers.get(header::USER_AGENT).map(HeaderValue::as_bytes);
    SessionClient {
        address: address.map(|address| address.to_canonical().to_string()).unwrap_or_default(),
        user_agent: String::from_utf8_lossy(agent.unwrap_or_default()).into_owned(),
    }
}
