//! For whoever watches over the process (contract 10.1).

use std::sync::atomic::Ordering;

use axum::http::request::Parts;
use cms_core::Error;
use serde_json::json;

use crate::{answer::Answer, state::App};

/// The process answers.
pub(crate) fn alive(_: &App, _: &Parts) -> Answer {
    Answer::json(&json!({ "status": "ok" }))
}

/// The data folder answers, and the server is not about to stop.
pub(crate) fn ready(app: &App, head: &Parts) -> Answer {
    if app.draining.load(Ordering::Relaxed) {
        return Error::Busy("the server is stopping".to_owned()).into();
    }
    match app.cms.check_ready() {
        Ok(()) => alive(app, head),
        Err(error) => {
            tracing::warn!(%error, cause = ?std::error::Error::source(&error), "not ready");
            Error::Busy("the data folder does not answer".to_owned()).into()
        }
    }
}
