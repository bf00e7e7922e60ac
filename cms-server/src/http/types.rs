//! Content type definitions (contract 2).

use cms_core::{
    Cms, Result, limits,
    paging::{self, Page},
    wire::{
        content_type::{TypeListRequest, TypeOrder, deletes_schema, unsupported_keys},
        plan::{ApplyRequest, PlanRequest, check_payload},
    },
};
use serde_json::{Map, Value};

use super::objects::direction;
use crate::{answer::Answer, deprecation, extract::body, request::Call};

pub(crate) fn list(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let query = &call.query;
    let request = TypeListRequest {
        page: Page::parse(query.get("page"), query.get("limit"), limits::MAX_TYPE_PAGE_SIZE),
        order_by: TypeOrder::parse(query.get("order_by")),
        direction: direction(query),
        name: query.text("name").map(str::to_owned),
        label: query.text("label").map(str::to_owned),
        names: query.list("names").map(|names| comma_separated(&names)),
        internal: query.text("internal").map(|text| paging::boolean(Some(text))),
    };
    Ok(Answer::json(&cms.types().list(&call.caller, &request)?))
}

pub(crate) fn get(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [name, ..] = &call.path;
    if !paging::boolean(call.query.get("resolveRef")) {
        return Ok(Answer::json(&cms.types().get(&call.caller, name)?));
    }
    let strict = paging::boolean(call.query.get("strictSchema"));
    Ok(Answer::json(&cms.types().get_resolved(&call.caller, name, strict)?))
}

pub(crate) fn create(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let payload = definition(call)?;
    Ok(Answer::json(&cms.types().create(&call.caller, payload)?))
}

pub(crate) fn update(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let payload = definition(call)?;
    let [name, ..] = &call.path;
    Ok(Answer::json(&cms.types().update(&call.caller, name, payload)?))
}

/// Answers 200 without a body (contract 1.1).
pub(crate) fn delete(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [name, ..] = &call.path;
    cms.types().delete(&call.caller, name)?;
    Ok(Answer::empty())
}

/// The body may be absent (contract 2.7).
pub(crate) fn purge(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [name, ..] = &call.path;
    let payload = if call.body.is_empty() { Map::new() } else { body::object(call.body)? };
    let delete_schema = deletes_schema(&payload)?;
    cms.types().purge(&call.caller, name, delete_schema)?;
    Ok(Answer::no_content())
}

pub(crate) fn purge_space(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [space, ..] = &call.path;
    cms.types().purge_space(&call.caller, space)?;
    Ok(Answer::no_content())
}

pub(crate) fn plan(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let payload = project(call, &["workflows", "contentTypes", "keys", "prune"])?;
    let request: PlanRequest = body::structure(payload)?;
    Ok(Answer::json(&cms.types().plan(&call.caller, &request)?))
}

pub(crate) fn apply(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let payload =
        project(call, &["workflows", "contentTypes", "keys", "prune", "token", "allowDataLoss"])?;
    let request: ApplyRequest = body::structure(payload)?;
    Ok(Answer::json(&cms.types().apply(&call.caller, &request)?))
}

/// Reads a definition, and notes the keys of it that are ignored.
fn definition(call: &mut Call<'_>) -> Result<Map<String, Value>> {
    let payload = body::object(call.body)?;
    call.ignored_payload = deprecation::names(unsupported_keys(&payload).into_iter());
    Ok(payload)
}

/// Reads a project, and notes the keys of it that are ignored.
fn project(call: &mut Call<'_>, known: &[&str]) -> Result<Map<String, Value>> {
    let payload = body::object(call.body)?;
    check_payload(&payload)?;
    let ignored = payload.keys().map(String::as_str).filter(|key| !known.contains(key));
    call.ignored_payload = deprecation::names(ignored);
    Ok(payload)
}

/// `names[]=a&names[]=b` and `names=a,b` mean the same (contract 2.2).
fn comma_separated(values: &[String]) -> Vec<String> {
    values.iter().flat_map(|value| value.split(',')).map(|name| name.trim().to_owned()).collect()
}
