//! Full-text search (see docs/reference/search.md) without an engine.
//!
//! [`query`] is a search as a value, [`parse`] reads parameters and the query language into it.
//! [`analysis`] splits texts into words, [`word`] encodes words as entries of the index, [`geo`]
//! computes distances.

pub mod analysis;
pub mod geo;
pub mod parse;
pub mod query;
pub mod word;
