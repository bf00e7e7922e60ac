//! [`Cms`]: one open data folder, and the services that work on it.

use std::sync::Arc;

use crate::{
    CoreConfig, Keys, Objects, Types, auth::scope::Permission, context::Caller, error::Result,
    wire::context::AuthContext,
};

/// One open data folder.
///
/// Cheap to share behind an [`Arc`]; every method takes `&self` and may be called from any thread.
pub struct Cms {
    pub(crate) config: CoreConfig,
}

impl Cms {
    /// Opens a data folder, makes it when missing, and brings its database up to date.
    ///
    /// # Errors
    /// [`crate::Error::Conflict`] when the database was written by a newer version or another
    /// process migrates it, [`crate::Error::Internal`] when the folder cannot be used.
    pub fn open(_config: CoreConfig) -> Result<Self> {
        todo!()
    }

    /// Checks key kind, type and scope in the contract's order (1.4), before a body is read.
    pub fn authorise(&self, _caller: &Caller, _permission: Permission<'_>) -> Result<()> {
        todo!()
    }

    /// Content objects.
    pub fn objects(&self) -> Objects<'_> {
        Objects { cms: self }
    }

    /// Content type definitions.
    pub fn types(&self) -> Types<'_> {
        Types { cms: self }
    }

    /// API keys.
    pub fn keys(&self) -> Keys<'_> {
        Keys { cms: self }
    }

    /// Says which server, space and key this is (contract 1.13).
    pub fn auth_context(&self, _caller: &Caller) -> Result<AuthContext> {
        todo!()
    }

    /// Runs one small read; an error means that the folder cannot serve.
    pub fn check_ready(&self) -> Result<()> {
        todo!()
    }

    /// The settings this folder was opened with.
    pub fn config(&self) -> &CoreConfig {
        &self.config
    }
}

const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<Arc<Cms>>();
};
