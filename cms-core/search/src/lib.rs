//! The search index: tantivy, and everything that names it.
//!
//! A [`Generation`] is one index on disk, [`Documents`] changes it. Which objects belong there, and when
//! they are indexed, is for the services to know: nothing here reads the database.
//!
//! | module | what it is |
//! |---|---|
//! | `index` | one generation of the index on disk |
//! | `schema`, `tokenizer`, `document` | fields of the index; its words; an object as a document |
//! | `lower` | a [`cms_model::search::query::Search`] as a query of the engine |
//! | `expand`, `range` | words that stand for many; ranges of values |
//! | `collect`, `rank`, `facet` | one pass over the hits: count, order, aggregations |
//! | `deadline` | when a search has to end |
//! | `column` | what the documents of a segment have at a path |

mod collect;
mod column;
mod deadline;
mod document;
mod expand;
mod facet;
mod index;
mod lower;
mod range;
mod rank;
mod schema;
mod tokenizer;

pub use collect::{Found, Hit, Scope};
pub use index::{Documents, Generation, Progress, Refill};
pub use schema::Flags;
