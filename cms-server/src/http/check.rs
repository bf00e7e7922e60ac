//! The integrity check of the data directory.

use cms_core::{Cms, Result, wire::check::CheckRequest};

use super::context::RequestContext;
use crate::{extract::body, response::Response};

pub(crate) fn check(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let request: CheckRequest = body::structure(body::object_or_empty(context.body)?)?;
    Ok(Response::json(&cms.check(&request)?))
}
