//! The operations of full-text search (see docs/reference/search.md).
//!
//! | module | content |
//! |---|---|
//! | [`index_follower`] | journal → documents: the only code that writes objects of the store to the index |
//! | [`indexer`] | which thread updates the index, and when |
//! | [`generation_folder`] | the directory of the index, and the generation that searches use |
//! | [`service`], `response` | searches; renders hits as JSON |
//! | [`compare`] | compares the index with the database |
//! | [`mod@matches`] | the objects that match a text, for bulk jobs |
//! | [`reindex`] | rebuilds the index, for operators |
//!
//! The model of a search: [`cms_model::search`]; the index: [`cms_search`].

mod compare;
mod generation_folder;
mod index_follower;
pub(crate) mod indexer;
mod matches;
mod reindex;
mod response;
pub(crate) mod service;
