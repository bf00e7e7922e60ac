//! Files and images (see docs/reference/media.md), without pixels and storage.
//!
//! [`path`] parses image URLs, [`transform`] computes trims and resizes, [`focal_point`] is the point
//! that a crop keeps, [`output`] chooses the format, [`render`] describes one rendering. [`id`] are
//! names of stored files, [`fingerprint`] their size and SHA-256.

pub mod fingerprint;
pub mod focal_point;
pub mod id;
pub mod output;
pub mod path;
pub mod render;
pub mod transform;
