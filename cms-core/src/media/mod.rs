//! The operations on files and images (see docs/reference/media.md).
//!
//! | module | content |
//! |---|---|
//! | [`service`] | stores uploads, removes files of objects that left the trash |
//! | [`orphaned_files`] | orphaned files, objects without a file |
//! | [`verify`] | compares stored files with their uploads |
//! | [`image`] | images on request: finds, renders once, reads |

pub(crate) mod image;
pub(crate) mod orphaned_files;
pub(crate) mod service;
pub(crate) mod verify;
