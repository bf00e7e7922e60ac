//! For whoever watches over the process (contract 10.1).

use axum::http::{HeaderValue, StatusCode, header, request::Parts};
use cms_core::{Error, Permission, wire};
use serde_json::{Map, Value, json};

use crate::{
    answer::Answer,
    config::MetricsAccess,
    error,
    extract::{auth, query::Query},
    metrics,
    request::query_text,
    state::App,
};

/// The process answers.
pub(crate) fn alive(_: &App, _: &Parts) -> Answer {
    Answer::json(&json!({ "status": "ok" }))
}

/// Every part of the data folder can serve, and the server is not about to stop; else which part it
/// is. Why stands in the log only: anybody may ask.
pub(crate) fn ready(app: &App, _: &Parts) -> Answer {
    let mut parts = Map::new();
    let mut is_ready = true;
    let mut note = |name: &str, is_faulty: bool| {
        is_ready &= !is_faulty;
        parts.insert(name.to_owned(), Value::from(if is_faulty { "not ready" } else { "ok" }));
    };
    note("server", app.is_draining());
    for part in app.cms.readiness() {
        note(part.name, part.error.is_some());
        if let Some(error) = part.error {
            tracing::warn!(part = part.name, error, "not ready");
        }
    }
    if is_ready {
        return Answer::json(&json!({ "status": "ok", "parts": parts }));
    }
    let mut body = wire::error::body(&Error::Busy(String::new()));
    body["status"] = Value::from("not ready");
    body["parts"] = Value::Object(parts);
    Answer::json(&body)
        .with_status(StatusCode::SERVICE_UNAVAILABLE)
        .with_header(header::RETRY_AFTER, HeaderValue::from_static("1"))
}

/// The metrics, for whom the operator lets have them.
pub(crate) fn metrics(app: &App, head: &Parts) -> Answer {
    match app.metrics_for {
        MetricsAccess::Off => error::unknown_path(),
        MetricsAccess::Public => written(app),
        MetricsAccess::Admin => {
            let query = Query::parse(query_text(head));
            let caller = auth::caller(&app.cms, &head.headers, &query);
            let admitted = caller.and_then(|caller| app.cms.authorise(&caller, Permission::Manage));
            admitted.map_or_else(Answer::from, |()| written(app))
        }
    }
}

fn written(app: &App) -> Answer {
    let text_type = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    match metrics::write(app) {
        Ok(text) => Answer::file(text_type, text.into()),
        Err(error) => error.into(),
    }
}
