//! `GET /api/auth-context`: the key, its rules, and the space.

use cms_core::{Cms, Result};

use super::context::RequestContext;
use crate::response::Response;

pub(crate) fn get(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    Ok(Response::json(&cms.auth_context(&context.caller)?))
}
