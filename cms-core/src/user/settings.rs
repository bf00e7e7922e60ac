//! Settings of the user of a session (see docs/reference/views.md#settings-of-a-user). The server stores them
//! and does not interpret them.

use cms_model::{
    context::Caller,
    error::{Error, Result},
    wire::{condition::EntityTag, object::Json},
};
use serde_json::{Map, Value};

use crate::cms::service;

/// The settings of a user before the first change.
const NO_SETTINGS: &str = "{}";

service! {
    /// Operations on the settings of the caller.
    UserSettings, user_settings
}

impl UserSettings<'_> {
    /// Returns the settings of the caller.
    pub fn get(&self, caller: &Caller) -> Result<Json> {
        let user = user_of(caller)?;
        let stored = self.cms.store.read_autocommit(|reader| reader.user_settings(user))?;
        Ok(to_json(stored))
    }

    /// Replaces the settings of the caller.
    ///
    /// # Errors
    /// [`Error::PreconditionFailed`] when `If-Match` lacks the tag of the present settings.
    pub fn put(&self, caller: &Caller, settings: &Map<String, Value>) -> Result<Json> {
        let user = user_of(caller)?;
        let text = serde_json::to_string(settings).map_err(Error::internal)?;
        let guards = caller.write_guards.clone();
        self.cms.store.write(move |writer| {
            let present = to_json(writer.user_settings(user)?);
            if guards.if_match().is_some_and(|wanted| !wanted.admits(EntityTag::of(&present.0))) {
                return Err(Error::PreconditionFailed);
            }
            writer.set_user_settings(user, &text)?;
            Ok(to_json(Some(text)))
        })
    }
}

fn to_json(stored: Option<String>) -> Json {
    Json(stored.unwrap_or_else(|| NO_SETTINGS.to_owned()).into_bytes())
}

/// The primary key of the user of a session; keys have no settings.
fn user_of(caller: &Caller) -> Result<i64> {
    caller.actor().pk.filter(|_| caller.has_session()).ok_or(Error::Forbidden)
}
