//! Users (see docs/reference/users.md): [`service`] manages them, [`sessions`] signs them in,
//! [`passwords`] computes the digests of passwords.
//!
//! Requests are authenticated by `auth`, which caches keys and sessions together.

mod passwords;
pub(crate) mod service;
pub(crate) mod sessions;
