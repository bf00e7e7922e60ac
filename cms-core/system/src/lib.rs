//! Inputs from the operating system: time, random ids, private files and locks.
//!
//! `clock` and `ids` implement traits of `cms_model`; `folder` and `lock` are plain functions. This
//! crate does not know objects and types.

pub mod clock;
pub mod folder;
pub mod ids;
pub mod lock;
