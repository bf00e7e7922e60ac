//! The description of the API for programs (contract 9).

use axum::http::{HeaderValue, header};
use cms_core::{
    Cms, Result, paging,
    wire::openapi::{OpenApiRequest, OpenApiVersion},
};

use crate::{answer::Answer, compression::Coding, extract::validators::knows_tag, request::Call};

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
    // A strong tag stands for the very bytes that are sent, compressed or not.
    let headers = &call.head.headers;
    let coding = Coding::wanted(headers).map_or("", Coding::name);
    let etag = format!("\"{}{coding}\"", document.digest);
    let tag = HeaderValue::try_from(&etag).expect("digits and letters make a header value");
    let answer = if knows_tag(headers, &etag) {
        Answer::not_modified().with_header(header::VARY, ENCODED)
    } else {
        Answer::from(document.text.clone())
    };
    Ok(answer.with_header(header::ETAG, tag))
}
