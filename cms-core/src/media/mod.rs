//! The operations on files and images (contract 7).
//!
//! | module | what it is |
//! |---|---|
//! | [`service`] | receiving files, removing them with their object |
//! | [`orphaned_files`] | files without an object, objects without a file |
//! | [`verify`] | stored files against what was uploaded |
//! | [`image`] | images on request: found, rendered once, read |

pub(crate) mod image;
pub(crate) mod orphaned_files;
pub(crate) mod service;
pub(crate) mod verify;
