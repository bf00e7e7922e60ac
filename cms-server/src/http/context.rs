//! [`RequestContext`]: a request as handlers see it.

use std::borrow::Cow;

use axum::{
    body::Bytes,
    http::{HeaderValue, request::Parts},
};
use cms_core::Caller;

use crate::{
    extract::{
        form::Form,
        query::{Query, UnknownPaths},
    },
    public_url::PublicUrl,
};

/// An authenticated request: the caller, and the parsed parts of the request.
pub(crate) struct RequestContext<'a> {
    pub(crate) caller: Caller,
    /// Parameters of the path, decoded; empty where the route has fewer.
    pub(crate) path: [Cow<'a, str>; 3],
    pub(crate) query: Query<'a>,
    pub(crate) head: &'a Parts,
    pub(crate) public_url: &'a PublicUrl,
    /// JSON; empty where the route reads none.
    pub(crate) body: &'a Bytes,
    /// Empty where the route reads none.
    pub(crate) form: Form,
    /// Payload keys that the handler ignored.
    pub(crate) ignored_payload: Option<HeaderValue>,
    /// Paths in parameters that no content type declares.
    pub(crate) unknown_paths: UnknownPaths,
}
