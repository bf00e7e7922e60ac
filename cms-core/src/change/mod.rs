//! The change feed: the part of the journal that a caller may read (see docs/reference/changes.md).
//!
//! [`service`] reads it. Each journal row has all fields of the change and its audience, so reading
//! needs no objects and types, which may be deleted.

pub(crate) mod service;
