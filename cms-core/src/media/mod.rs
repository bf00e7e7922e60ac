//! Files and pictures (contract 7).
//!
//! | module | what it is |
//! |---|---|
//! | [`service`] | receiving files, removing them with their object |
//! | [`leftovers`] | files without an object, objects without a file |
//! | [`verify`] | stored files against what was uploaded |
//! | [`image`] | pictures on request: found, rendered once, read |
//! | [`upload`] | what is told of an uploaded file, or what is wrong with it |
//! | [`kind`] | media types: by content, name and declaration; extensions |
//! | [`svg`], [`png`], [`animation`] | what a file says of its picture, without decoding it |
//! | [`path`] | addresses of pictures |
//! | [`transform`] | trim and resize: which part of a picture, and how large |
//! | [`render`] | what is wanted of a picture, as values |
//! | [`output`] | formats that requests ask for |
//! | [`pipeline`] | decoding, scaling, colours, encoding: the only place that names codecs |
//! | [`id`], [`incoming`], [`files`], [`storage`], [`s3`] | files: their names, on their way in, and stored |
//! | [`fingerprint`] | size and SHA-256 of a file |
//! | [`renders`] | rendered pictures on disk |

pub(crate) mod animation;
pub(crate) mod files;
pub(crate) mod image;
pub(crate) mod incoming;
pub(crate) mod kind;
pub(crate) mod leftovers;
pub(crate) mod pipeline;
mod png;
pub(crate) mod renders;
mod s3;
pub(crate) mod service;
pub(crate) mod storage;
pub(crate) mod svg;
mod upload;
pub(crate) mod verify;
