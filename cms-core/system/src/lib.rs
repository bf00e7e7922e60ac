//! Inputs from the operating system: time, random ids, private files and locks.
//!
//! Each is an input of the layers above, behind the traits of `cms_model`. This crate knows no
//! content.

pub mod clock;
pub mod folder;
pub mod ids;
pub mod lock;
