//! Full-text search (contract 6).
//!
//! | module | what it is |
//! |---|---|
//! | [`query`] | a search as a value |
//! | [`parse`] | parameters and the query language, read into it |
//! | [`analysis`] | how texts become words |
//! | [`geo`] | distances |
//! | `schema`, `word`, `document` | fields of the index; its words; an object as documents |
//! | `lower` | the value as a query of the engine |
//! | `expand`, `range` | words that stand for many; ranges of values |
//! | `collect`, `rank`, `facet` | one pass over the hits: count, order, aggregations |
//! | `deadline` | when a search has to end |
//! | `column` | what the documents of a segment have at a path |
//! | `index` | one generation of the index on disk |
//! | `feed` | journal → documents: the only place where store meets index |
//! | `indexer` | who brings the index up to date, and when |
//! | `service`, `answer` | searching; the hits as JSON |
//! | `reindex` | making the index anew, for operators |

mod answer;
mod collect;
mod column;
mod compare;
mod deadline;
mod document;
mod expand;
mod facet;
mod feed;
mod index;
pub(crate) mod indexer;
mod lower;
mod range;
mod rank;
mod reindex;
mod schema;
pub(crate) mod service;
mod tokenizer;
