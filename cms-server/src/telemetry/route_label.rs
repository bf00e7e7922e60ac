//! The name of a route in logs, metrics and traces.

use axum::http::Method;

/// The route of a request, as logs, metrics and traces name it.
#[derive(Clone, Copy)]
pub(crate) struct RouteLabel {
    pub(crate) method: &'static Method,
    pub(crate) path: &'static str,
}
