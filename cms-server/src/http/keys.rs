//! API keys, for admin keys.

use cms_core::{Cms, Result, wire::key::NewKey};

use super::context::RequestContext;
use crate::{extract::body, response::Response};

pub(crate) fn list(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    Ok(Response::json(&cms.keys().list(&context.caller)?))
}

pub(crate) fn create(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let new = NewKey::from_payload(&body::object(context.body)?)?;
    Ok(Response::json(&cms.keys().create(&context.caller, &new)?))
}

pub(crate) fn revoke(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let [id, ..] = &context.path;
    cms.keys().revoke(&context.caller, id)?;
    Ok(Response::no_content())
}
