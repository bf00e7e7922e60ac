//! Settings of the user of a session.

use cms_core::{Cms, Result};

use super::context::RequestContext;
use crate::{extract::body, response::Response};

pub(crate) fn get(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    Ok(Response::tagged(cms.user_settings().get(&context.caller)?))
}

pub(crate) fn put(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let settings = body::object(context.body)?;
    Ok(Response::tagged(cms.user_settings().put(&context.caller, &settings)?))
}
