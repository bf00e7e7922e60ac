//! All objects of one type that match a query, without scores and without a maximum number.

use std::collections::HashSet;

use cms_model::search::query::Search;
use tantivy::{COLLECT_BLOCK_BUFFER_LEN, Searcher, query::EnableScoring};

use super::{
    compile::QueryCompiler,
    deadline::{Deadline, DeadlineClock},
    schema::{Fields, Flags, name},
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
    let mut found = HashSet::new();
    for reader in searcher.segment_readers() {
        let pks = reader.fast_fields().u64(name::PK)?;
        let flags = reader.fast_fields().u64(name::FLAGS)?;
        let alive = reader.alive_bitset();
        let mut matches = weight.scorer(reader, 1.0)?;
        let mut docs = [0; COLLECT_BLOCK_BUFFER_LEN];
        loop {
            let length = matches.fill_buffer(&mut docs);
            // Checked after the buffer was filled: a phrase ends at the deadline.
            if clock.is_over() {
                return Ok(None);
            }
            for &doc in &docs[..length] {
                let packed = flags.values.get_val(doc);
                let is_wanted = packed & Flags::CURRENT != 0
                    && Flags::ctd(packed) == ctd
                    && alive.is_none_or(|alive| alive.is_alive(doc));
                if is_wanted {
                    found.insert(i64::try_from(pks.values.get_val(doc)).unwrap_or(i64::MAX));
                }
            }
            if length < docs.len() {
                break;
            }
        }
    }
    Ok(Some(found))
}
