//! The trash (see docs/reference/trash.md): [`service`] lists and removes deleted objects,
//! [`restore`] moves them back.

mod restore;
pub(crate) mod service;
