//! The search index: all code that uses tantivy.
//!
//! A [`Generation`] is one index on disk, [`GenerationWriter`] changes it. The services decide
//! which objects are indexed, and when: this crate does not read the database.
//!
//! | module | content |
//! |---|---|
//! | `index` | one generation of the index on disk |
//! | `schema`, `tokenizer`, `document` | fields of the index; its words; an object as a document |
//! | `compile` | a [`cms_model::search::query::Search`] as a query of the engine |
//! | `expand`, `phrase`, `range` | wildcards and fuzzy words; phrases; ranges of values |
//! | `collect`, `rank`, `facet` | one or two passes over the matches: count, order, aggregations |
//! | `segment` | visibility and final scores of the matches in a segment |
//! | `hit` | the data that a search returns for each hit |
//! | `matches` | all objects of a type that match, without scores |
//! | `deadline` | the deadline of a search |
//! | `column` | the values of the documents of a segment at a path |

mod collect;
mod column;
mod compile;
mod deadline;
mod document;
mod expand;
mod facet;
mod hit;
mod index;
mod matches;
mod phrase;
mod range;
mod rank;
mod schema;
mod segment;
mod tokenizer;

pub use collect::{SearchResults, SearchScope};
pub use hit::Hit;
pub use index::{Generation, GenerationWriter, IndexPosition, TypeReindex};
pub use schema::Flags;
