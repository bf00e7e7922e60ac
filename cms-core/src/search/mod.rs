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
//! | `expand`, `range` | words that stand for many; ranges of values |
//! | `collect`, `rank`, `facet` | one pass over the hits: count, order, aggregations |
//! | `column` | what the documents of a segment have at a path |
//! | `index` | one generation of the index on disk |
//! | `indexer` | journal → documents → commit: the only place where store meets index |
//! | `service` | searching, and asking for a new index |

pub(crate) mod analysis;
mod collect;
mod column;
mod document;
mod expand;
mod facet;
pub(crate) mod geo;
pub(crate) mod parse;
mod lower;
pub(crate) mod query;
mod range;
mod rank;
mod schema;
mod tokenizer;
