//! The hits of a page, read from the columns of the index.

use std::collections::{HashMap, hash_map::Entry};

use tantivy::{Searcher, columnar::Column};

use super::{
    rank::Candidate,
    schema::{Flags, name},
};

/// A hit of the page.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    pub pk: i64,
    pub ctd: i64,
    pub score: f32,
    /// Time of indexing, in milliseconds.
    pub indexed: i64,
}

/// The columns of one segment that hits are read from.
struct SegmentColumns {
    pk: Column<u64>,
    flags: Column<u64>,
    indexed: Column<i64>,
}

/// The columns of the segments that have hits, each opened once.
pub(super) struct HitColumns<'a> {
    searcher: &'a Searcher,
    opened: HashMap<usize, SegmentColumns>,
}

impl<'a> HitColumns<'a> {
    pub(super) fn new(searcher: &'a Searcher) -> Self {
        Self { searcher, opened: HashMap::new() }
    }

    pub(super) fn hit(&mut self, candidate: &Candidate) -> tantivy::Result<Hit> {
        let Candidate { doc, score, segment, .. } = *candidate;
        let columns = match self.opened.entry(segment) {
            Entry::Occupied(opened) => opened.into_mut(),
            Entry::Vacant(vacant) => {
                let fields = self.searcher.segment_readers()[segment].fast_fields();
                vacant.insert(SegmentColumns {
                    pk: fields.u64(name::PK)?,
                    flags: fields.u64(name::FLAGS)?,
                    indexed: fields.i64(name::INDEXED)?,
                })
            }
        };
        Ok(Hit {
            pk: i64::try_from(columns.pk.values.get_val(doc)).unwrap_or(i64::MAX),
            ctd: Flags::ctd(columns.flags.values.get_val(doc)),
            score,
            indexed: columns.indexed.values.get_val(doc),
        })
    }
}
