//! The activity log.

use cms_core::{Cms, Result, limits, paging::PageRequest, wire::activity::ActivityRequest};

use super::context::RequestContext;
use crate::response::Response;

pub(crate) fn list(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let query = &context.query;
    let text = |name| query.get(name).map(str::to_owned);
    let request = ActivityRequest {
        content_types: query.list("content_type"),
        id: text("id"),
        by: text("by"),
        actions: query.list("action"),
        from: text("from"),
        to: text("to"),
        before: query.get("before").map(ActivityRequest::cursor).transpose()?,
        limit: PageRequest::parse(None, query.get("limit"), limits::MAX_PAGE_SIZE).limit,
    };
    Ok(Response::json(&cms.activity().list(&context.caller, &request)?))
}
