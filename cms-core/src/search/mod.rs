//! The operations of full-text search (contract 6).
//!
//! | module | what it is |
//! |---|---|
//! | [`feed`] | journal → documents: the only place where store meets index |
//! | [`indexer`] | which thread brings the index up to date, and when |
//! | [`service`], `answer` | searching; the hits as JSON |
//! | [`compare`] | the index against the database |
//! | [`reindex`] | rebuilding the index, for operators |
//!
//! What a search is: [`cms_model::search`]; the index: [`cms_search`].

mod compare;
mod feed;
pub(crate) mod indexer;
mod reindex;
mod response;
pub(crate) mod service;
