//! Deleted objects.

use cms_core::{
    Cms, Result,
    wire::trash::{EmptyTrashRequest, RestoreRequest, TrashRequest},
};

use super::{context::RequestContext, objects};
use crate::{extract::body, response::Response};

pub(crate) fn list(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let text = |value: Option<&str>| value.map(str::to_owned);
    let query = &context.query;
    let request = TrashRequest {
        page: objects::page(query),
        content_types: query.list("content_type"),
        text: text(query.text("q")),
        deleted_after: text(query.get("deletedAfter")),
        deleted_before: text(query.get("deletedBefore")),
        by: text(query.text("by")),
    };
    Ok(Response::json(&cms.trash().list(&context.caller, &request)?))
}

pub(crate) fn get(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [entry, ..] = &context.path;
    Ok(cms.trash().get(&context.caller, entry)?.into())
}

pub(crate) fn restore(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [entry, ..] = &context.path;
    let payload = body::object_or_empty(context.body)?;
    let exists = || cms.trash().require_restorable(&context.caller, entry);
    let request = body::parsed_or_not_found(RestoreRequest::from_payload(payload), exists)?;
    Ok(Response::tagged(cms.trash().restore(&context.caller, entry, request)?))
}

pub(crate) fn remove(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [entry, ..] = &context.path;
    cms.trash().remove(&context.caller, entry)?;
    Ok(Response::no_content())
}

pub(crate) fn empty(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let request = EmptyTrashRequest::from_payload(&body::object_or_empty(context.body)?)?;
    Ok(Response::json(&cms.trash().empty(&context.caller, &request)?))
}
