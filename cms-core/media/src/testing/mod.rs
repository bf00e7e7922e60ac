//! For tests and benchmarks of this and other crates: images, and calls of the pipeline.

mod hostile;
pub mod images;

pub use hostile::read_image;
