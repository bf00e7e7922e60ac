//! Looking for what does not fit together in the data folder.

use cms_core::{Cms, Result, wire::check::CheckRequest};

use crate::{extract::body, response::Answer, routing::request::Call};

pub(crate) fn check(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let request: CheckRequest = body::structure(body::object_or_empty(call.body)?)?;
    Ok(Answer::json(&cms.check(&request)?))
}
