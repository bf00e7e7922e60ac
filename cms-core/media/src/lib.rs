//! Files and images (contract 7).
//!
//! | module | what it is |
//! |---|---|
//! | [`incoming`], [`files`], [`storage`] | files: being received, stored, in a folder or in a bucket |
//! | [`kind`] | media types: by content, name and declaration; extensions |
//! | [`upload`] | the metadata of an uploaded file, or its validation errors |
//! | [`svg`], [`animation`] | what a file says of its image, without decoding it |
//! | [`pipeline`] | decoding, scaling, colours, encoding: the only place that names codecs |
//! | [`renders`] | rendered images on disk |
//!
//! What is wanted of an image is a value of [`cms_model::media`]. Nothing here knows the database.

pub mod animation;
pub mod files;
pub mod incoming;
pub mod kind;
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
