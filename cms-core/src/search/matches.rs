//! The objects of one type that match a search text, for bulk jobs (see
//! docs/reference/bulk.md#objects-of-a-job).

use std::collections::HashSet;

use cms_model::{
    content_type::catalog::CompiledType,
    error::{Error, Result},
    search::query::Search,
    wire::search::SearchRequest,
};

use super::service::Searching;

impl Searching<'_> {
    /// Returns the primary keys of all objects whose current version matches a text.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a text that is not valid, [`Error::Busy`] when the index does not
    /// contain all writes in time.
    pub(crate) fn matches(&self, content_type: &CompiledType, q: &str) -> Result<HashSet<i64>> {
        let search =
            Search::read(&SearchRequest { q: Some(q.to_owned()), ..SearchRequest::default() })?;
        let head = self.cms.store.read_autocommit(|reader| Ok(reader.journal_head()?.seq))?;
        let current =
            self.cms.index.wait_for_position(self.source(), head, self.cms.config.search_wait)?;
        if !current.position.covers(head) {
            return Err(Error::Busy("the search index is not up to date yet".to_owned()));
        }
        current.generation.matches(&search, content_type.pk)
    }
}
