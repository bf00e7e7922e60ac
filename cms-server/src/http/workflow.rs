//! Workflows: the states of objects, and definitions for admin keys (contract 5, 10.1).

use cms_core::{Cms, Permission, Result};

use crate::{extract::body, response::Answer, routing::request::Call};

pub(crate) fn list(cms: &Cms, _: &mut Call<'_>) -> Result<Answer> {
    Ok(Answer::json(&cms.workflows().list()?))
}

/// The same list, for those who may change it.
pub(crate) fn definitions(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    cms.authorise(&call.caller, Permission::Manage)?;
    list(cms, call)
}

pub(crate) fn state(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [name, id, _] = &call.path;
    Ok(Answer::json(&cms.workflows().state(&call.caller, name, id)?))
}

pub(crate) fn act(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [name, id, _] = &call.path;
    let payload = body::object(call.body)?;
    Ok(Answer::json(&cms.workflows().act(&call.caller, name, id, payload)?))
}

pub(crate) fn get(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [id, ..] = &call.path;
    Ok(Answer::json(&cms.workflows().get(&call.caller, id)?))
}

pub(crate) fn create(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let payload = body::object(call.body)?;
    Ok(Answer::json(&cms.workflows().create(&call.caller, payload)?))
}

pub(crate) fn replace(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [id, ..] = &call.path;
    let payload = body::object(call.body)?;
    Ok(Answer::json(&cms.workflows().replace(&call.caller, id, payload)?))
}

pub(crate) fn delete(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    let [id, ..] = &call.path;
    cms.workflows().delete(&call.caller, id)?;
    Ok(Answer::no_content())
}
