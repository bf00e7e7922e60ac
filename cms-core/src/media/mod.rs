//! Files and pictures (contract 7), as functions from values to values.
//!
//! | module | what it is |
//! |---|---|
//! | [`path`] | addresses of pictures |
//! | [`transform`] | trim and resize: which part of a picture, and how large |
//!
//! Nothing here reads a file, decodes a pixel or knows where files are kept.

pub(crate) mod path;
pub(crate) mod transform;
