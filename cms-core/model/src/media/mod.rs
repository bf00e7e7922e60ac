//! Files and images (contract 7), as values.
//!
//! [`path`] are addresses of images, [`transform`] trims and resizes, [`output`] are the formats that
//! requests name, [`render`] is one rendering. [`id`] names stored files, [`fingerprint`] is their size
//! and SHA-256.

pub mod fingerprint;
pub mod id;
pub mod output;
pub mod path;
pub mod render;
pub mod transform;
