//! All objects of one type that match a query, without scores and without a maximum number.

use std::collections::HashSet;

use cms_model::search::query::Search;
use tantivy::{Searcher, query::EnableScoring};

use super::{
    collect::SearchScope,
    compile::QueryCompiler,
    deadline::{Deadline, DeadlineClock},
    schema::{Fields, name},
    segment::{Block, DocumentFilter, Segment},
};

/// Returns the primary keys of objects whose current version matches; none when the deadline has passed.
pub(super) fn run(
    searcher: &Searcher,
    fields: &Fields,
    search: &Search,
    ctd: i64,
) -> tantivy::Result<Option<HashSet<i64>>> {
    let deadline = Deadline::from_now();
    let mut compiler = QueryCompiler::new(searcher, fields, search.fields.as_deref(), deadline);
    let query = compiler.query(&search.query)?;
    let weight = query.weight(EnableScoring::disabled_from_searcher(searcher))?;
    let clock = DeadlineClock::new(deadline);
    let scope = SearchScope { ctds: Some(vec![ctd]), ..SearchScope::default() };
    let filter = DocumentFilter::new(&scope);
    let mut found = HashSet::new();
    for reader in searcher.segment_readers() {
        let pks = reader.fast_fields().u64(name::PK)?;
        let segment = Segment::open(reader, search, &filter)?;
        let mut matches = weight.scorer(reader, 1.0)?;
        let mut block = Block::new(false);
        loop {
            let has_matches = block.read(matches.as_mut());
            // Checked after the block was read: a phrase ends at the deadline.
            if clock.is_over() {
                return Ok(None);
            }
            if !has_matches {
                break;
            }
            segment.retain_visible(&mut block);
            let pks = block.docs().iter().map(|doc| pks.values.get_val(*doc));
            found.extend(pks.map(|pk| i64::try_from(pk).unwrap_or(i64::MAX)));
        }
    }
    Ok(Some(found))
}
