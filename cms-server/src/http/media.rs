//! Uploads. Media objects are content objects; [`super::images`] serves their files.

use cms_core::{Cms, Result};

use super::context::RequestContext;
use crate::{extract::form::Form, response::Response};

pub(crate) fn upload(cms: &Cms, context: &mut RequestContext<'_>) -> Result<Response> {
    let Form { file, request } = std::mem::take(&mut context.form);
    Ok(cms.media().upload(&context.caller, file, &request)?.into())
}
