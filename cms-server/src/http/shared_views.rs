//! Shared views of a content type.

use cms_core::{
    Cms, Result,
    wire::shared_view::{NewSharedView, SharedViewChange},
};

use super::{context::RequestContext, objects};
use crate::{extract::body, response::Response};

pub(crate) fn list(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, ..] = &context.path;
    let page = objects::page(&context.query);
    Ok(Response::json(&cms.shared_views().list(&context.caller, name, page)?))
}

pub(crate) fn create(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, ..] = &context.path;
    let new = NewSharedView::from_payload(&body::object(context.body)?)?;
    Ok(Response::json(&cms.shared_views().create(&context.caller, name, new)?))
}

pub(crate) fn update(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, id, _] = &context.path;
    let change = SharedViewChange::from_payload(&body::object(context.body)?);
    Ok(Response::json(&cms.shared_views().update(&context.caller, name, id, change)?))
}

pub(crate) fn delete(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [name, id, _] = &context.path;
    cms.shared_views().delete(&context.caller, name, id)?;
    Ok(Response::no_content())
}
