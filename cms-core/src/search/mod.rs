//! Full-text search (contract 6).
//!
//! | module | what it is |
//! |---|---|
//! | [`query`] | a search as a value |
//! | [`parse`] | parameters and the query language, read into it |
//! | [`analysis`] | how texts become words |
//! | [`geo`] | distances |
//! | `schema`, `document` | fields of the index; an object as documents |
//! | `lower` | the value as a query of the engine |
//! | `collect`, `rank`, `facet` | one pass over the hits: count, order, aggregations |
//! | `index` | one generation of the index on disk |
//! | `indexer` | journal → documents → commit: the only place where store meets index |
//! | `service` | searching, and asking for a new index |

pub(crate) mod analysis;
mod document;
pub(crate) mod geo;
pub(crate) mod parse;
pub(crate) mod query;
mod schema;
mod tokenizer;
