//! Users, for admins.

use cms_core::{
    Cms, READ_ONLY_USER_MEMBERS, Result, paging,
    wire::user::{UserListRequest, UserOrder},
};

use super::{
    context::RequestContext,
    objects::{direction, page},
};
use crate::{
    extract::body,
    response::{Response, ignored_names},
};

pub(crate) fn list(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let query = &context.query;
    let request = UserListRequest {
        page: page(query),
        q: query.text("q").map(str::to_owned),
        role: query.text("role").map(str::to_owned),
        disabled: query.text("disabled").map(|text| paging::boolean(Some(text))),
        order_by: query.get("order_by").and_then(UserOrder::parse).unwrap_or_default(),
        direction: direction(query),
    };
    Ok(Response::json(&cms.users().list(&context.caller, &request)?))
}

pub(crate) fn create(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let (payload, url) = (body::object(context.body)?, context.app.config.base_url(context.head));
    Ok(Response::json(&cms.users().create(&context.caller, &payload, &url)?))
}

pub(crate) fn get(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [id, ..] = &context.path;
    Ok(Response::json(&cms.users().get(&context.caller, id)?))
}

pub(crate) fn update(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let payload = body::object(context.body)?;
    let ignored =
        payload.keys().map(String::as_str).filter(|key| READ_ONLY_USER_MEMBERS.contains(key));
    context.ignored_payload = ignored_names::header_value(ignored);
    let [id, ..] = &context.path;
    Ok(Response::json(&cms.users().update(&context.caller, id, &payload)?))
}

pub(crate) fn delete(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [id, ..] = &context.path;
    cms.users().delete(&context.caller, id)?;
    Ok(Response::no_content())
}

/// The body is optional.
pub(crate) fn create_link(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let payload = body::object_or_empty(context.body)?;
    let ([id, ..], url) = (&context.path, context.app.config.base_url(context.head));
    Ok(Response::json(&cms.users().create_link(&context.caller, id, &payload, &url)?))
}

pub(crate) fn sessions(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let ([id, ..], page) = (&context.path, page(&context.query));
    Ok(Response::json(&cms.users().sessions(&context.caller, id, page)?))
}

pub(crate) fn end_sessions(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [id, ..] = &context.path;
    cms.users().end_sessions(&context.caller, id)?;
    Ok(Response::no_content())
}
