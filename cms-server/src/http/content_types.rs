//! Content type definitions.

use cms_core::{
    Cms, Result, limits,
    paging::{self, PageRequest},
    wire::{
        content_type::{TypeListRequest, TypeOrder, deletes_schema, unsupported_keys},
        plan::{ApplyRequest, PlanAction, PlanRequest, check_payload},
    },
};
use serde_json::{Map, Value};

use super::{context::RequestContext, objects::direction};
use crate::{
    extract::body,
    response::{Response, ignored_names},
};

pub(crate) fn list(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let query = &context.query;
    let request = TypeListRequest {
        page: PageRequest::parse(query.get("page"), query.get("limit"), limits::MAX_TYPE_PAGE_SIZE),
        order_by: query.get("order_by").and_then(TypeOrder::parse).unwrap_or_default(),
        direction: direction(query),
        name: query.text("name").map(str::to_owned),
        label: query.text("label").map(str::to_owned),
        names: query.list("names").map(|names| comma_separated(&names)),
        internal: query.text("internal").map(|text| paging::boolean(Some(text))),
    };
    Ok(Response::json(&cms.types().list(&context.caller, &request)?))
}

pub(crate) fn get(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, ..] = &context.path;
    if !paging::boolean(context.query.get("resolveRef")) {
        return Ok(Response::json(&cms.types().get(&context.caller, name)?));
    }
    let strict = paging::boolean(context.query.get("strictSchema"));
    Ok(Response::json(&cms.types().get_resolved(&context.caller, name, strict)?))
}

pub(crate) fn create(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let payload = definition(context)?;
    Ok(Response::json(&cms.types().create(&context.caller, payload)?))
}

pub(crate) fn update(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let payload = definition(context)?;
    let [name, ..] = &context.path;
    Ok(Response::json(&cms.types().update(&context.caller, name, payload)?))
}

/// The response is a 200 without a body.
pub(crate) fn delete(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, ..] = &context.path;
    cms.types().delete(&context.caller, name)?;
    Ok(Response::empty())
}

/// The body is optional.
pub(crate) fn purge(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, ..] = &context.path;
    let delete_schema = deletes_schema(&body::object_or_empty(context.body)?)?;
    cms.types().purge(&context.caller, name, delete_schema)?;
    Ok(Response::no_content())
}

pub(crate) fn purge_space(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [space, ..] = &context.path;
    cms.types().purge_space(&context.caller, space)?;
    Ok(Response::no_content())
}

pub(crate) fn plan(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let payload = project(context, &["workflows", "contentTypes", "keys", "prune"])?;
    let request: PlanRequest = body::deserialize(payload)?;
    let progress = context.progress.clone().unwrap_or_default();
    Ok(Response::json(&cms.types().plan_with_progress(&context.caller, &request, &progress)?))
}

pub(crate) fn apply(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let payload = project(
        context,
        &["workflows", "contentTypes", "keys", "prune", "token", "allowDataLoss"],
    )?;
    let request: ApplyRequest = body::deserialize(payload)?;
    let progress = context.progress.clone().unwrap_or_default();
    let applied = cms.types().apply_with_progress(&context.caller, &request, progress)?;
    let response = Response::json(&applied);
    let changes_keys = applied.keys.iter().any(|key| key.action != PlanAction::None);
    Ok(if changes_keys { response.revoking_access() } else { response })
}

/// Parses a definition, and lists its ignored keys.
fn definition(context: &mut RequestContext<'_>) -> Result<Map<String, Value>> {
    let payload = body::object(context.body)?;
    context.ignored_payload = ignored_names::header_value(unsupported_keys(&payload).into_iter());
    Ok(payload)
}

/// Parses a project, and lists its ignored keys.
fn project(context: &mut RequestContext<'_>, known: &[&str]) -> Result<Map<String, Value>> {
    let payload = body::object(context.body)?;
    check_payload(&payload)?;
    let ignored = payload.keys().map(String::as_str).filter(|key| !known.contains(key));
    context.ignored_payload = ignored_names::header_value(ignored);
    Ok(payload)
}

/// `names[]=a&names[]=b` and `names=a,b` are the same.
fn comma_separated(values: &[String]) -> Vec<String> {
    values.iter().flat_map(|value| value.split(',')).map(|name| name.trim().to_owned()).collect()
}
