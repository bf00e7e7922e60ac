//! Preview tokens.

use cms_core::{Cms, Result, wire::preview::PreviewRequest};

use super::context::RequestContext;
use crate::{extract::body, response::Response};

pub(crate) fn create(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let request = PreviewRequest::from_payload(&body::object(context.body)?)?;
    let base_url = context.app.config.base_url(context.head);
    Ok(Response::json(&cms.previews().create(&context.caller, &request, &base_url)?))
}
