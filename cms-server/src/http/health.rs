//! Health checks and metrics, for monitoring.

use axum::http::{HeaderValue, StatusCode, header, request::Parts};
use cms_core::{Duty, Error, Keys, Permission, wire};
use serde_json::{Map, Value, json};

use crate::{
    config::MetricsAccess,
    extract::{auth, query::Query},
    response::{Response, error},
    state::App,
    telemetry::exposition,
};

/// Liveness: the process responds.
pub(crate) fn alive(_: &App, _: &Parts) -> Response {
    Response::json(&json!({ "status": "ok" }))
}

/// Readiness: every part of the server works, and the server is not about to stop. The
/// response has the state of each part; the reasons are in the log only, since the route is
/// unauthenticated.
pub(crate) fn ready(app: &App, _: &Parts) -> Response {
    let mut parts = Map::new();
    let mut is_ready = true;
    let mut add = |name: &str, is_unavailable: bool| {
        is_ready &= !is_unavailable;
        let state = if is_unavailable { "not ready" } else { "ok" };
        parts.insert(name.to_owned(), Value::from(state));
    };
    add("server", app.is_draining());
    for part in app.cms.readiness() {
        add(part.name, part.error.is_some());
        if let Some(error) = part.error {
            tracing::warn!(part = part.name, error, "not ready");
        }
    }
    if is_ready {
        return Response::json(&json!({ "status": "ok", "parts": parts }));
    }
    let mut body = wire::error::body(&Error::Busy(String::new()));
    body["status"] = Value::from("not ready");
    body["parts"] = Value::Object(parts);
    unavailable(&body)
}

/// The response of a health check that fails. It has no cause that would be logged for each check.
fn unavailable(body: &Value) -> Response {
    Response::json(body)
        .with_status(StatusCode::SERVICE_UNAVAILABLE)
        .with_header(header::RETRY_AFTER, HeaderValue::from_static("1"))
}

/// `/writerz`: whether this node writes for the others, for load balancers that route by HTTP
/// method. A single server is the writer.
pub(crate) fn writer(app: &App, _: &Parts) -> Response {
    if app.cms.has_duty(Duty::Writer) && !app.is_draining() {
        return Response::json(&json!({ "status": "ok" }));
    }
    unavailable(&wire::error::body(&Error::Busy(String::new())))
}

/// The metrics, for the clients that the operator selected.
pub(crate) fn metrics(app: &App, head: &Parts) -> Response {
    match app.config.metrics {
        MetricsAccess::Off => error::unknown_path(),
        MetricsAccess::Public => rendered(app),
        MetricsAccess::Admin => {
            let authorised = app.cms.commit_state().and_then(|newest| {
                let (query, session) = (Query::of(head), Keys::authenticate_session);
                let caller = auth::caller(app, &head.headers, &query, &newest, session)?;
                app.cms.authorise(&caller, Permission::Admin)
            });
            authorised.map_or_else(Response::from, |()| rendered(app))
        }
    }
}

fn rendered(app: &App) -> Response {
    let text_type = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    match exposition::render(app) {
        Ok(text) => Response::file(text_type, text.into()),
        Err(error) => error.into(),
    }
}
