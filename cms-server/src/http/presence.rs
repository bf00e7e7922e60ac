//! Presence: the objects that editors have open.

use cms_core::{Cms, Result, wire::presence::PresenceRequest};
use serde_json::{Value, json};

use super::context::RequestContext;
use crate::{extract::body, response::Response};

pub(crate) fn list(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let (content_type, id) = (context.query.text("content_type"), context.query.text("id"));
    let data = cms.presences().list(&context.caller, content_type, id)?;
    Ok(Response::json(&json!({ "data": data })))
}

pub(crate) fn put(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let payload = body::object(context.body)?;
    let text = |name: &str| payload.get(name).and_then(Value::as_str);
    let exists = || match (text("contentType"), text("id")) {
        (Some(content_type), Some(id)) => {
            cms.presences().require(&context.caller, content_type, id)
        }
        _ => Ok(()),
    };
    let request = body::parsed_or_not_found(PresenceRequest::from_payload(&payload), exists)?;
    cms.presences().put(&context.caller, request)?;
    Ok(Response::no_content())
}

pub(crate) fn delete(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [tab, ..] = &context.path;
    cms.presences().remove(&context.caller, tab)?;
    Ok(Response::no_content())
}
