//! `GET /api/auth-context` (contract 1.13).

use cms_core::{Cms, Result};

use crate::{response::Answer, routing::request::Call};

pub(crate) fn get(cms: &Cms, call: &mut Call<'_>) -> Result<Answer> {
    Ok(Answer::json(&cms.auth_context(&call.caller)?))
}
