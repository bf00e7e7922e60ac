//! Presence: the objects that editors have open.

use cms_core::{Cms, Result, wire::presence::PresenceRequest};
use serde_json::json;

use super::context::RequestContext;
use crate::{extract::body, response::Response};

pub(crate) fn list(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let (content_type, id) = (context.query.text("content_type"), context.query.text("id"));
    let data = cms.presences().list(&context.caller, content_type, id)?;
    Ok(Response::json(&json!({ "data": data })))
}

pub(crate) fn put(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let request = PresenceRequest::from_payload(&body::object(context.body)?)?;
    cms.presences().put(&context.caller, request)?;
    Ok(Response::no_content())
}

pub(crate) fn delete(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [tab, ..] = &context.path;
    cms.presences().remove(&context.caller, tab)?;
    Ok(Response::no_content())
}
