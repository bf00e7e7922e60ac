//! Full-text search (contract 6), as values: [`query`] is a search, [`parse`] reads parameters and the
//! query language into it, [`analysis`] splits texts into words, [`word`] spells them as the index does,
//! [`geo`] measures distances. Knows no index.

pub mod analysis;
pub mod geo;
pub mod parse;
pub mod query;
pub mod word;
