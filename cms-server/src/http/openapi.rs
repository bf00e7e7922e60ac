//! The OpenAPI document.

use cms_core::{
    Cms, Result, paging,
    wire::openapi::{OpenApiRequest, OpenApiVersion},
};

use super::context::RequestContext;
use crate::response::Response;

/// The parameters of the management document; it has no `user_only`.
const MANAGEMENT_PARAMETERS: &[&str] = &["version", "hydrate", "management"];

/// A client that has the document gets a 304.
pub(crate) fn get(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let management = paging::boolean(context.query.get("management"));
    if management {
        context.known_parameters = MANAGEMENT_PARAMETERS;
    }
    let request = OpenApiRequest {
        version: OpenApiVersion::parse(context.query.get("version"))?,
        hydrate: paging::hydration(context.query.get("hydrate")) > 0,
        user_only: !management && paging::boolean(context.query.get("user_only")),
        management,
        open_id: context.app.openid.is_some(),
        base_url: context.app.config.base_url(context.head),
    };
    let document = cms.openapi().document(&context.caller, &request)?;
    Ok(Response::from(document.text.clone()).with_tag(document.tag))
}
