//! The delivery log of webhooks, for admins. Webhooks are content objects.

use cms_core::{Cms, Result, wire::webhook::ReplayRequest};

use super::{context::RequestContext, objects};
use crate::{extract::body, response::Response};

pub(crate) fn list(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    Ok(Response::json(&cms.webhooks().list(&context.caller)?))
}

pub(crate) fn log(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [id, ..] = &context.path;
    Ok(Response::json(&cms.webhooks().log(&context.caller, id, objects::page(&context.query))?))
}

pub(crate) fn replay(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [id, ..] = &context.path;
    let payload = body::object_or_empty(context.body)?;
    let exists = || cms.webhooks().require(&context.caller, id);
    let request = body::parsed_or_not_found(ReplayRequest::from_payload(&payload), exists)?;
    Ok(Response::json(&cms.webhooks().replay(&context.caller, id, &request)?))
}

pub(crate) fn test(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [id, ..] = &context.path;
    Ok(Response::json(&cms.webhooks().test(&context.caller, id)?))
}
