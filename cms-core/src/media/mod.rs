//! Files and pictures (contract 7), as functions from values to values.
//!
//! | module | what it is |
//! |---|---|
//! | [`upload`] | what is told of an uploaded file, or what is wrong with it |
//! | [`kind`] | media types: by content, name and declaration; extensions |
//! | [`dimensions`], [`svg`], [`animation`] | what a file says of its picture, without decoding it |
//! | [`path`] | addresses of pictures |
//! | [`transform`] | trim and resize: which part of a picture, and how large |
//!
//! Nothing here reads a file, decodes a pixel or knows where files are kept.

pub(crate) mod animation;
pub(crate) mod dimensions;
pub(crate) mod kind;
pub(crate) mod path;
pub(crate) mod svg;
pub(crate) mod transform;
pub(crate) mod upload;
