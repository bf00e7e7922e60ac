//! Bulk jobs.

use cms_core::{Cms, Result, wire::bulk::BulkResponse};

use super::{context::RequestContext, objects};
use crate::{
    extract::body,
    response::{Response, ignored_names},
};

pub(crate) fn create(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, ..] = &context.path;
    let payload = body::object(context.body)?;
    let response = cms.bulk().create(&context.caller, name, &payload)?;
    let unknown = cms.bulk().unknown_filters(&context.caller, name, &payload);
    let unknown: Vec<String> = unknown.iter().map(|path| format!("filters[{path}]")).collect();
    context.ignored_payload = ignored_names::header_value(unknown.iter().map(String::as_str));
    Ok(match response {
        BulkResponse::Created { .. } => Response::accepted(&response),
        BulkResponse::DryRun(_) => Response::json(&response),
    })
}

pub(crate) fn list(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    Ok(Response::json(&cms.bulk().list(&context.caller, objects::page(&context.query))?))
}

pub(crate) fn get(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [id, ..] = &context.path;
    Ok(Response::json(&cms.bulk().get(&context.caller, id)?))
}

pub(crate) fn stop(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [id, ..] = &context.path;
    cms.bulk().stop(&context.caller, id)?;
    Ok(Response::no_content())
}
