//! Backups: copies of a space in one file, created while the space is in use.
//!
//! | module | content |
//! |---|---|
//! | [`service`] | creates backups |
//! | [`archive`] | the format of the file: writing, reading, verification |
//! | [`restore`] | creates a data directory from a backup |
//! | [`schedule`] | creates scheduled backups and removes old ones |
//!
//! Derived data (search index, rendered images) is not part of a backup: it is rebuilt.

mod archive;
pub(crate) mod restore;
pub(crate) mod schedule;
pub(crate) mod service;
