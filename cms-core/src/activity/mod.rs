//! The activity log: the part of the journal that a caller may read, newest first (see
//! docs/reference/activity.md).
//!
//! [`service`] reads it. The journal is written in the transaction of each change.

pub(crate) mod service;
