//! The OpenAPI document.

use axum::http::{HeaderValue, header};
use cms_core::{
    Cms, Result, paging,
    wire::openapi::{OpenApiRequest, OpenApiVersion},
};

use super::context::RequestContext;
use crate::{
    extract::preconditions::has_cached,
    response::{Response, compression::Coding, etag},
};

const ACCEPT_ENCODING: HeaderValue = HeaderValue::from_static("accept-encoding");

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
    let headers = &context.head.headers;
    let etag = etag(document.tag, Coding::preferred(headers));
    let tag = HeaderValue::try_from(&etag).expect("digits and letters make a header value");
    let response = if has_cached(headers, &etag) {
        Response::not_modified().with_header(header::VARY, ACCEPT_ENCODING)
    } else {
        Response::from(document.text.clone())
    };
    Ok(response.with_header(header::ETAG, tag))
}
