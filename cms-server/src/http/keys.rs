//! API keys, for admin keys (contract 10.1).

use cms_core::{Cms, Result, wire::key::NewKey};

use crate::{extract::body, response::Answer, routing::request::Call};

pub(crate) fn list(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    Ok(Answer::json(&cms.keys().list(&call.caller)?))
}

pub(crate) fn create(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let new = NewKey::from_payload(&body::object(call.body)?)?;
    Ok(Answer::json(&cms.keys().create(&call.caller, &new)?))
}

pub(crate) fn revoke(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [id, ..] = &call.path;
    cms.keys().revoke(&call.caller, id)?;
    Ok(Answer::no_content())
}
