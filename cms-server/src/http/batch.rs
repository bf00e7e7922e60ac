//! Many content objects in one call (contract 3.8, 3.9).

use axum::http::StatusCode;
use cms_core::{
    Cms, Result, paging,
    wire::batch::{BatchElements, BatchReport, read_array_prefix},
};
use serde_json::json;

use crate::{answer::Answer, request::Call};

pub(crate) fn create(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [name, ..] = &call.path;
    let elements = elements(cms, call)?;
    let update_existing = paging::boolean(call.query.get("updateExisting"));
    let report = cms.objects().batch_create(&call.caller, name, &elements, update_existing)?;
    Ok(reported(&report))
}

pub(crate) fn patch(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [name, ..] = &call.path;
    let elements = elements(cms, call)?;
    Ok(reported(&cms.objects().batch_patch(&call.caller, name, &elements)?))
}

pub(crate) fn delete(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [name, ..] = &call.path;
    let ids: Vec<String> = read_array_prefix(call.body, cms.config().batch_limit)?;
    let count = cms.objects().batch_delete(&call.caller, name, &ids)?;
    Ok(Answer::json(&json!({ "deletedCount": count })))
}

fn elements(cms: &Cms, call: &Call<'_>) -> Result<BatchElements> {
    BatchElements::read(call.body, cms.config().batch_limit)
}

/// A report with errors is a 400, whatever was saved.
fn reported(report: &BatchReport) -> Answer {
    let answer = Answer::json(report);
    if report.batch_error_count == 0 { answer } else { answer.with_status(StatusCode::BAD_REQUEST) }
}
