//! The description of the API for programs (contract 9).

use axum::http::{HeaderValue, header};
use cms_core::{
    Cms, Result, paging,
    wire::openapi::{OpenApiRequest, OpenApiVersion},
};

use crate::{
    extract::validators::knows_tag,
    response::compression::Coding,
    response::{Answer, etag},
    routing::request::Call,
};

const ENCODED: HeaderValue = HeaderValue::from_static("accept-encoding");

/// Who knows the description already is told so.
pub(crate) fn get(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let request = OpenApiRequest {
        version: OpenApiVersion::parse(call.query.get("version"))?,
        hydrate: paging::hydration(call.query.get("hydrate")) > 0,
        user_only: paging::boolean(call.query.get("user_only")),
        base_url: call.site.base_url(call.head),
    };
    let document = cms.openapi().document(&call.caller, &request)?;
    let headers = &call.head.headers;
    let etag = etag(document.tag, Coding::wanted(headers));
    let tag = HeaderValue::try_from(&etag).expect("digits and letters make a header value");
    let answer = if knows_tag(headers, &etag) {
        Answer::not_modified().with_header(header::VARY, ENCODED)
    } else {
        Answer::from(document.text.clone())
    };
    Ok(answer.with_header(header::ETAG, tag))
}
