//! Users (see docs/reference/users.md): [`service`] manages them, [`sessions`] signs them in,
//! [`openid`] by OpenID Connect, [`passwords`] hashes passwords, [`settings`] stores
//! the settings of each user.
//!
//! Requests are authenticated by `auth`, which caches keys and sessions together.

pub(crate) mod openid;
mod passwords;
pub(crate) mod service;
pub(crate) mod sessions;
pub(crate) mod settings;
