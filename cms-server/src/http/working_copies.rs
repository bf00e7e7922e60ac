//! Working copies: unfinished work of the caller.

use cms_core::{Cms, Result, wire::working_copy};

use super::{context::RequestContext, objects};
use crate::response::Response;

pub(crate) fn get(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, id, _] = &context.path;
    let (json, tag) = cms.working_copies().get(&context.caller, name, id)?;
    Ok(Response::from(json).with_tag(tag))
}

pub(crate) fn put(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, id, _] = &context.path;
    let payload = working_copy::read(context.body, id)?;
    let (json, tag) = cms.working_copies().put(&context.caller, name, id, payload)?;
    Ok(Response::from(json).with_tag(tag))
}

pub(crate) fn delete(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, id, _] = &context.path;
    cms.working_copies().delete(&context.caller, name, id)?;
    Ok(Response::no_content())
}

pub(crate) fn list(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let types = context.query.list("content_type");
    let page = objects::page(&context.query);
    let list = cms.working_copies().list(&context.caller, types.as_deref(), page)?;
    Ok(Response::json(&list))
}
