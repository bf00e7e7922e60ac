//! Workflows: the states of objects, and definitions for admins.

use cms_core::{Cms, Permission, Result};

use super::context::RequestContext;
use crate::{extract::body, response::Response};

pub(crate) fn list(cms: &Cms, _: &mut RequestContext<'_>) -> Result<Response> {
    Ok(Response::json(&cms.workflows().list()?))
}

/// The same list, for admins.
pub(crate) fn definitions(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    cms.authorise(&context.caller, Permission::Admin)?;
    list(cms, context)
}

pub(crate) fn state(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, id, _] = &context.path;
    Ok(Response::json(&cms.workflows().state(&context.caller, name, id)?))
}

pub(crate) fn run_transition(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, id, _] = &context.path;
    let payload = body::object(context.body)?;
    Ok(Response::json(&cms.workflows().run_transition(&context.caller, name, id, payload)?))
}

pub(crate) fn get(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [id, ..] = &context.path;
    Ok(Response::json(&cms.workflows().get(&context.caller, id)?))
}

pub(crate) fn create(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let payload = body::object(context.body)?;
    Ok(Response::json(&cms.workflows().create(&context.caller, payload)?))
}

pub(crate) fn replace(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [id, ..] = &context.path;
    let payload = body::object(context.body)?;
    Ok(Response::json(&cms.workflows().replace(&context.caller, id, payload)?))
}

pub(crate) fn delete(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [id, ..] = &context.path;
    cms.workflows().delete(&context.caller, id)?;
    Ok(Response::no_content())
}
