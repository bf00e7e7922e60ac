//! API keys, for admins.

use cms_core::{
    Cms, Result,
    wire::key::{KeyUpdate, NewKey, grace_hours},
};

use super::context::RequestContext;
use crate::{
    extract::body,
    response::{Response, ignored_names},
};

pub(crate) fn list(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    Ok(Response::json(&cms.keys().list(&context.caller)?))
}

pub(crate) fn create(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let new = NewKey::from_payload(&body::object(context.body)?)?;
    Ok(Response::json(&cms.keys().create(&context.caller, &new)?))
}

pub(crate) fn update(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [id, ..] = &context.path;
    let payload = body::object(context.body)?;
    let exists = || cms.keys().require(&context.caller, id);
    let update = body::parsed_or_not_found(KeyUpdate::from_payload(&payload), exists)?;
    let ignored = payload.keys().map(String::as_str);
    let ignored = ignored.filter(|member| KeyUpdate::READ_ONLY.contains(member));
    context.ignored_payload = ignored_names::header_value(ignored);
    Ok(Response::json(&cms.keys().update(&context.caller, id, &update)?))
}

pub(crate) fn rotate(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [id, ..] = &context.path;
    let payload = body::object_or_empty(context.body)?;
    let exists = || cms.keys().require(&context.caller, id);
    let hours = body::parsed_or_not_found(grace_hours(&payload), exists)?;
    Ok(Response::json(&cms.keys().rotate(&context.caller, id, hours)?))
}

pub(crate) fn revoke(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [id, ..] = &context.path;
    cms.keys().revoke(&context.caller, id)?;
    Ok(Response::no_content())
}
