//! The log of webhooks, for admin keys. Webhooks themselves are objects (contract 11.1).

use cms_core::{Cms, Result, wire::webhook::ReplayRequest};

use super::objects;
use crate::{extract::body, response::Answer, routing::request::Call};

pub(crate) fn list(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    Ok(Answer::json(&cms.webhooks().list(&call.caller)?))
}

pub(crate) fn log(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [id, ..] = &call.path;
    Ok(Answer::json(&cms.webhooks().log(&call.caller, id, objects::page(&call.query))?))
}

pub(crate) fn replay(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [id, ..] = &call.path;
    let request = ReplayRequest::from_payload(&body::object_or_empty(call.body)?)?;
    Ok(Answer::json(&cms.webhooks().replay(&call.caller, id, &request)?))
}

pub(crate) fn test(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [id, ..] = &call.path;
    Ok(Answer::json(&cms.webhooks().test(&call.caller, id)?))
}
