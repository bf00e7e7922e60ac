//! Keys: create, list, revoke, and turn a token into a [`Caller`] (contract 10).

use crate::{
    cms::Cms,
    context::Caller,
    error::Result,
    wire::{
        key::{CreatedKey, Key, NewKey},
        list::List,
    },
};

/// Operations on API keys.
pub struct Keys<'a> {
    pub(crate) cms: &'a Cms,
}

/// Tokens that the operator wants the three first keys to have; none means a new one.
#[derive(Clone, Default)]
pub struct FirstKeys {
    pub admin: Option<String>,
    pub read_write: Option<String>,
    pub read_only: Option<String>,
}

impl Keys<'_> {
    /// Finds the caller that a token belongs to.
    ///
    /// # Errors
    /// [`crate::Error::Unauthenticated`] for an unknown or revoked token.
    pub fn authenticate(&self, _token: &str) -> Result<Caller> {
        todo!()
    }

    /// Makes the first keys of a new folder, and gives the first keys the tokens that the operator
    /// set. Returns the keys whose token is new and was not set: they are shown this once.
    pub fn ensure_first(&self, _wanted: &FirstKeys) -> Result<Vec<CreatedKey>> {
        todo!()
    }

    /// Lists the keys that are valid, oldest first.
    pub fn list(&self, _caller: &Caller) -> Result<List<Key>> {
        todo!()
    }

    /// Makes a key. Its token is in the answer and nowhere else.
    pub fn create(&self, _caller: &Caller, _new: &NewKey) -> Result<CreatedKey> {
        todo!()
    }

    /// Revokes a key by id: it is refused from the next request on.
    pub fn revoke(&self, _caller: &Caller, _id: &str) -> Result<()> {
        todo!()
    }
}
