//! The integrity check of the data directory.

use std::sync::Arc;

use cms_core::{Cms, EnsureRunning, Result, wire::check::CheckRequest};

use super::context::RequestContext;
use crate::{extract::body, response::Response};

pub(crate) fn check(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let request = CheckRequest::from_payload(&body::object_or_empty(context.body)?)?;
    let progress = context.progress.clone().unwrap_or_default();
    let ensure_running: EnsureRunning = Arc::new(move || progress.ensure_running());
    Ok(Response::json(&cms.check_while(&request, &ensure_running)?))
}
