//! Users as values: their settings ([`profile`]), passwords ([`password`]), the lifetime of sessions
//! ([`session`]), sign-in by OpenID Connect ([`openid`]) and the order of lists ([`list`]), see
//! docs/reference/users.md
//!
//! Nothing here hashes passwords or reads the database.

pub mod list;
pub mod openid;
pub mod password;
pub mod profile;
pub mod session;
