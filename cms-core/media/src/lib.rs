//! Files and images (see docs/reference/media.md).
//!
//! | module | content |
//! |---|---|
//! | [`incoming`], [`files`], [`storage`] | files: received, stored, in a directory or in a bucket |
//! | [`chunks`] | reading a large file in chunks |
//! | [`media_type`] | media types: by content, name and declaration; extensions |
//! | [`upload`] | the metadata of an uploaded file, or its validation errors |
//! | [`svg`], [`animation`] | properties of an image, read without decoding it |
//! | [`pipeline`] | decoding, scaling, colours, encoding: the only code that uses codecs, except tests |
//! | [`renders`] | rendered images on disk |
//!
//! The request for an image is a value of [`cms_model::media`]. This crate does not know the
//! database.

pub mod animation;
pub mod chunks;
pub mod files;
pub mod incoming;
pub mod media_type;
pub mod pipeline;
mod png;
pub mod renders;
#[cfg(feature = "s3")]
mod s3;
#[cfg(not(feature = "s3"))]
#[path = "no_s3.rs"]
mod s3;
pub mod storage;
pub mod svg;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod upload;
