//! `GET /api/auth-context`: the caller, its rights, the space and the limits.

use cms_core::{Cms, Result, wire::context::AuthContext};

use super::context::RequestContext;
use crate::{response::Response, state::App};

pub(crate) fn get(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    Ok(Response::json(&complete(context.app, cms.auth_context(&context.caller)?)))
}

/// Adds the limits and features of the server.
pub(super) fn complete(app: &App, mut context: AuthContext) -> AuthContext {
    context.limits.body_bytes = Some(app.config.body_limit);
    context.limits.upload_bytes = Some(app.config.upload_limit);
    context.features.webhooks = true;
    context.features.open_id = app.openid.is_some();
    context
}
