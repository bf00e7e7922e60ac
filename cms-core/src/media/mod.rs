//! Files and pictures (contract 7).
//!
//! | module | what it is |
//! |---|---|
//! | [`upload`] | what is told of an uploaded file, or what is wrong with it |
//! | [`kind`] | media types: by content, name and declaration; extensions |
//! | [`svg`], [`animation`] | what a file says of its picture, without decoding it |
//! | [`path`] | addresses of pictures |
//! | [`transform`] | trim and resize: which part of a picture, and how large |
//! | [`render`] | what is wanted of a picture, as values |
//! | [`pipeline`] | decoding, scaling, colours, encoding: the only place that names codecs |

pub(crate) mod animation;
pub(crate) mod dimensions;
pub(crate) mod kind;
pub(crate) mod path;
pub(crate) mod pipeline;
pub(crate) mod render;
pub(crate) mod svg;
pub(crate) mod transform;
pub(crate) mod upload;
