//! Copies of a whole space in one file, made while it is in use.
//!
//! | module | what it is |
//! |---|---|
//! | [`service`] | making a copy, writing it, looking at it again |
//! | [`archive`] | how the file is laid out, and everything that can be wrong with one |
//! | [`restore`] | making a data folder from a file |
//! | [`schedule`] | making one again and again, and keeping the newest |
//!
//! What is derived (search index, rendered pictures) is not in it: it is made again.

mod archive;
pub(crate) mod restore;
pub(crate) mod schedule;
pub(crate) mod service;
