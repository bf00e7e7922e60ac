//! Uploads (contract 7.1). Media objects are content objects like all others; their files are
//! [`super::images`].

use cms_core::{Cms, Result};

use crate::{extract::form::Form, response::Answer, routing::request::Call};

pub(crate) fn upload(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let Form { file, request } = std::mem::take(&mut call.form);
    Ok(cms.media().upload(&call.caller, file, &request)?.into())
}
