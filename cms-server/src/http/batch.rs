//! Batches of content objects.

use axum::http::StatusCode;
use cms_core::{
    Cms, Result, paging,
    wire::batch::{BatchElements, BatchReport, read_array_prefix},
};
use serde_json::json;

use super::context::RequestContext;
use crate::response::Response;

pub(crate) fn create(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, ..] = &context.path;
    let elements = elements(cms, context)?;
    let update_existing = paging::boolean(context.query.get("updateExisting"));
    let report = cms.objects().batch_create(&context.caller, name, &elements, update_existing)?;
    Ok(response(&report))
}

pub(crate) fn patch(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, ..] = &context.path;
    let elements = elements(cms, context)?;
    Ok(response(&cms.objects().batch_patch(&context.caller, name, &elements)?))
}

pub(crate) fn delete(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, ..] = &context.path;
    let ids: Vec<String> = read_array_prefix(context.body, cms.config().batch_limit)?;
    let count = cms.objects().batch_delete(&context.caller, name, &ids)?;
    Ok(Response::json(&json!({ "deletedCount": count })))
}

fn elements(cms: &Cms, context: &RequestContext<'_>) -> Result<BatchElements> {
    BatchElements::read(context.body, cms.config().batch_limit)
}

/// A report with errors is a 400, even when some objects were saved.
fn response(report: &BatchReport) -> Response {
    let response = Response::json(report);
    if report.batch_error_count == 0 {
        return response;
    }
    response.with_status(StatusCode::BAD_REQUEST)
}
