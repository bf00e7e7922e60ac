//! One generation of the index: a directory of the engine, and its position in the journal.
//!
//! The position is part of every commit, so an index always knows which state of the database it
//! contains. This module does not know the database; the services connect both.

use std::{
    collections::{HashMap, HashSet},
    fs, io, mem,
    path::Path,
};

use cms_model::{
    content_type::catalog::CompiledType,
    error::{Error, Result, is_disk_full},
    object::model::StoredObject,
    search::query::Search,
};
use serde::{Deserialize, Serialize};
use tantivy::{
    Index, IndexReader, IndexWriter, ReloadPolicy, Searcher, TantivyError, Term,
    directory::error::{OpenDirectoryError, OpenReadError, OpenWriteError},
    indexer::{LogMergePolicy, UserOperation},
};

use super::{
    collect::{self, SearchResults, SearchScope},
    document, matches,
    schema::{self, FORMAT, Fields, Flags, name},
};

/// Bytes of objects that are passed to one thread at a time.
const MAX_PENDING_BYTES: usize = 4 * 1024 * 1024;
/// Memory of new documents per thread before it writes a segment, in bytes.
const WRITER_BYTES_PER_THREAD: usize = 48 * 1024 * 1024;
/// Number of segments of one size that are merged.
const SEGMENTS_PER_LEVEL: usize = 6;
/// Segments with fewer documents than this count as equal in size.
const MIN_LEVEL_DOCUMENTS: u32 = 2_000;

/// The position of an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexPosition {
    format: u32,
    /// The last indexed row of the journal.
    pub seq: i64,
    pub nonce: i64,
    /// Reindexes that are not finished, at most one per type.
    // The stored name, kept for old indexes.
    #[serde(rename = "refills")]
    pub reindexes: Vec<TypeReindex>,
}

/// The progress of a reindex of one type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeReindex {
    pub ctd: i64,
    /// Row of the journal that requested it.
    pub seq: i64,
    /// Creation date and primary key of the last indexed object.
    pub after: (i64, i64),
    pub done: u64,
}

impl TypeReindex {
    pub fn new(ctd: i64, seq: i64) -> Self {
        Self { ctd, seq, after: (i64::MIN, 0), done: 0 }
    }
}

impl IndexPosition {
    pub fn new(seq: i64, nonce: i64) -> Self {
        Self { format: FORMAT, seq, nonce, reindexes: Vec::new() }
    }

    /// Returns whether every change up to a row of the journal is indexed.
    pub fn covers(&self, seq: i64) -> bool {
        self.seq >= seq && self.reindexes.iter().all(|reindex| reindex.seq > seq)
    }

    /// Requests reindexing of all objects of a type.
    pub fn reindex(&mut self, ctd: i64, seq: i64) {
        self.reindexes.retain(|reindex| reindex.ctd != ctd);
        self.reindexes.push(TypeReindex::new(ctd, seq));
    }
}

/// An index open for reading.
pub struct Generation {
    index: Index,
    reader: IndexReader,
    fields: Fields,
}

impl Generation {
    /// Creates an empty index.
    pub fn create(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).map_err(Error::from_io)?;
        let (schema, _) = schema::schema();
        Index::create_in_dir(folder, schema).and_then(Self::with_reader).map_err(failed)
    }

    /// Opens an index; none if it is damaged, or its format is one that this version does not support. An error of the
    /// operating system, such as too many open files, is an error: the index may be complete.
    pub fn open(folder: &Path) -> Result<Option<Self>> {
        let opened = Index::open_in_dir(folder).and_then(|index| {
            let generation = Self::with_reader(index)?;
            let position = generation.load_position()?;
            Ok((generation, position))
        });
        match opened {
            Ok((generation, position)) => {
                let (schema, _) = schema::schema();
                let is_supported = generation.index.schema() == schema && position.format == FORMAT;
                Ok(is_supported.then_some(generation))
            }
            Err(error) if is_os_error(&error) => Err(failed(error)),
            Err(_) => Ok(None),
        }
    }

    fn with_reader(index: Index) -> tantivy::Result<Self> {
        let (_, fields) = schema::schema();
        schema::register(&index);
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Self { index, reader, fields })
    }

    /// The position of the last commit.
    pub fn position(&self) -> Result<IndexPosition> {
        self.load_position().map_err(failed)
    }

    fn load_position(&self) -> tantivy::Result<IndexPosition> {
        match self.index.load_metas()?.payload {
            Some(text) => Ok(serde_json::from_str(&text)?),
            None => Ok(IndexPosition::new(0, 0)),
        }
    }

    /// Makes the latest commit visible to searches.
    pub fn reload(&self) -> Result<()> {
        self.reader.reload().map_err(failed)
    }

    fn searcher(&self) -> Searcher {
        self.reader.searcher()
    }

    /// Searches. A page beyond the maximum is empty, as with a `limit` of 0.
    pub fn search(
        &self,
        search: &Search,
        scope: &SearchScope,
        offset: usize,
        limit: usize,
    ) -> Result<SearchResults> {
        within_deadline(collect::run(&self.searcher(), &self.fields, search, scope, offset, limit))
    }

    /// Returns the primary keys of the objects of a type whose current version matches.
    pub fn matches(&self, search: &Search, ctd: i64) -> Result<HashSet<i64>> {
        within_deadline(matches::run(&self.searcher(), &self.fields, search, ctd))
    }

    /// Returns the packed flags of all documents, by the primary key of their object.
    pub fn flags_by_object(&self) -> Result<HashMap<i64, Vec<u64>>> {
        let mut found: HashMap<i64, Vec<u64>> = HashMap::new();
        for segment in self.searcher().segment_readers() {
            let pks = segment.fast_fields().u64(name::PK).map_err(failed)?;
            let flags = segment.fast_fields().u64(name::FLAGS).map_err(failed)?;
            for document in segment.doc_ids_alive() {
                let (Some(pk), Some(flags)) = (pks.first(document), flags.first(document)) else {
                    continue;
                };
                found.entry(i64::try_from(pk).unwrap_or(i64::MAX)).or_default().push(flags);
            }
        }
        Ok(found)
    }

    /// Returns a writer. It opens the engine at its first change, because the engine takes memory and
    /// threads. Only one process at a time may write.
    pub fn writer(&self) -> GenerationWriter {
        GenerationWriter {
            index: self.index.clone(),
            fields: self.fields,
            engine: None,
            operations: Vec::new(),
            pending_bytes: 0,
        }
    }
}

/// An index open for writing; changes are visible after [`Self::commit`].
pub struct GenerationWriter {
    index: Index,
    fields: Fields,
    /// None before the first change.
    engine: Option<IndexWriter>,
    /// Operations that are not yet passed to the engine.
    operations: Vec<UserOperation>,
    /// Size of the objects in these operations, in bytes.
    pending_bytes: usize,
}

impl GenerationWriter {
    /// Opens the engine.
    fn open(index: &Index) -> Result<IndexWriter> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
        let bytes = threads * WRITER_BYTES_PER_THREAD;
        let writer = index.writer_with_num_threads(threads, bytes).map_err(failed)?;
        let mut policy = LogMergePolicy::default();
        policy.set_min_num_segments(SEGMENTS_PER_LEVEL);
        policy.set_min_layer_size(MIN_LEVEL_DOCUMENTS);
        policy.set_del_docs_ratio_before_merge(0.3);
        writer.set_merge_policy(Box::new(policy));
        // A process that was killed may have left files with names that this writer uses again: its
        // commit would fail.
        writer.garbage_collect_files().wait().map_err(failed)?;
        // The engine gives the first operation of a new writer the same operation number (opstamp) as the last commit.
        // A merge of committed segments would apply this operation to some segments and never to the others. So an
        // empty operation uses up this number.
        writer.run(Vec::new()).map_err(failed)?;
        Ok(writer)
    }

    fn engine(&mut self) -> Result<&mut IndexWriter> {
        let engine = match self.engine.take() {
            Some(engine) => engine,
            None => Self::open(&self.index)?,
        };
        Ok(self.engine.insert(engine))
    }

    /// Removes the documents of an object.
    pub fn remove(&mut self, pk: i64) {
        let term = Term::from_field_u64(self.fields.pk, pk.unsigned_abs());
        self.operations.push(UserOperation::Delete(term));
    }

    /// Removes the documents of all objects of a type.
    pub fn remove_type(&mut self, ctd: i64) {
        let term = Term::from_field_u64(self.fields.ctd, ctd.unsigned_abs());
        self.operations.push(UserOperation::Delete(term));
    }

    /// Adds a version of an object; `now` is in milliseconds since the epoch.
    pub fn add(
        &mut self,
        content_type: &CompiledType,
        stored: &StoredObject<'_>,
        flags: Flags,
        now: i64,
    ) -> Result<()> {
        let (properties, name) = (&content_type.properties, content_type.name());
        let document = document::document(&self.fields, properties, stored, name, flags, now);
        self.operations.push(UserOperation::Add(document));
        self.pending_bytes += stored.data.len();
        if self.pending_bytes < MAX_PENDING_BYTES { Ok(()) } else { self.flush() }
    }

    /// Passes the operations so far to one thread of the engine, which writes them to one segment.
    pub fn flush(&mut self) -> Result<()> {
        self.pending_bytes = 0;
        let operations = mem::take(&mut self.operations);
        self.engine()?.run(operations).map(drop).map_err(failed)
    }

    /// Commits everything since the last commit, together with the position.
    pub fn commit(&mut self, position: &IndexPosition) -> Result<()> {
        self.flush()?;
        let payload = serde_json::to_string(position).expect("numbers are valid JSON");
        let mut commit = self.engine()?.prepare_commit().map_err(failed)?;
        commit.set_payload(&payload);
        commit.commit().map(drop).map_err(failed)
    }
}

/// Converts the result of a search; none, which means that its deadline has passed, to an error.
fn within_deadline<T>(found: tantivy::Result<Option<T>>) -> Result<T> {
    let late = || Error::Busy("the search took too long; make it narrower".to_owned());
    found.map_err(failed)?.ok_or_else(late)
}

/// An error of the engine is internal, unless the disk is full.
fn failed(error: TantivyError) -> Error {
    if io_error(&error).is_some_and(is_disk_full) {
        Error::NoSpace(error.into())
    } else {
        Error::Internal(error.into())
    }
}

/// Returns whether the operating system refused an operation. A missing file is damage of the index.
fn is_os_error(error: &TantivyError) -> bool {
    io_error(error).is_some_and(|cause| {
        cause.raw_os_error().is_some() && cause.kind() != io::ErrorKind::NotFound
    })
}

fn io_error(error: &TantivyError) -> Option<&io::Error> {
    match error {
        TantivyError::IoError(cause)
        | TantivyError::OpenDirectoryError(OpenDirectoryError::IoError {
            io_error: cause, ..
        })
        | TantivyError::OpenReadError(OpenReadError::IoError { io_error: cause, .. })
        | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error: cause, .. }) => {
            Some(cause)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use tantivy::{doc, merge_policy::NoMergePolicy};

    use super::*;

    #[test]
    fn operations_of_one_flush_make_one_segment() {
        let folder = tempfile::tempdir().unwrap();
        let generation = Generation::create(folder.path()).unwrap();
        let mut writer = generation.writer();
        for pk in 0..100_u64 {
            writer.operations.push(UserOperation::Add(doc!(writer.fields.pk => pk)));
        }
        writer.commit(&IndexPosition::new(1, 0)).unwrap();
        generation.reload().unwrap();
        assert_eq!(generation.searcher().segment_readers().len(), 1);
    }

    #[test]
    fn file_that_a_crash_left_does_not_prevent_a_commit() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = Generation::create(folder.path()).unwrap().writer();
        for pk in 1..=4_u64 {
            writer.operations.push(UserOperation::Add(doc!(writer.fields.pk => pk)));
        }
        writer.commit(&IndexPosition::new(1, 0)).unwrap();
        let meta = folder.path().join("meta.json");
        let before = fs::read(&meta).unwrap();
        writer.remove(1);
        writer.commit(&IndexPosition::new(2, 0)).unwrap();
        drop(writer);
        // As if the process was killed after it wrote the file of deleted documents, but before it wrote `meta.json`.
        fs::write(&meta, before).unwrap();
        let generation = Generation::open(folder.path()).unwrap().unwrap();
        let mut writer = generation.writer();
        // The name of the file of deleted documents contains an operation number, and a new process uses the same
        // numbers again.
        (1..=3).for_each(|pk| writer.remove(pk));
        writer.commit(&IndexPosition::new(2, 0)).unwrap();
        generation.reload().unwrap();
        assert_eq!(generation.searcher().num_docs(), 1);
    }

    #[test]
    fn damaged_index_is_none_and_an_error_of_the_operating_system_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        drop(Generation::create(folder.path()).unwrap());
        assert!(Generation::open(folder.path()).unwrap().is_some());
        let meta = folder.path().join("meta.json");
        let content = fs::read_to_string(&meta).unwrap();
        for damaged in [
            String::new(),
            content.replace("\"segments\"", "\"segment\""),
            content.replace('}', ""),
        ] {
            fs::write(&meta, damaged).unwrap();
            assert!(Generation::open(folder.path()).unwrap().is_none());
        }
        fs::remove_file(&meta).unwrap();
        assert!(Generation::open(folder.path()).unwrap().is_none());
        // A file that cannot be opened now: too many levels of symbolic links.
        std::os::unix::fs::symlink(&meta, &meta).unwrap();
        assert!(Generation::open(folder.path()).is_err());
        assert!(Generation::open(&folder.path().join("missing")).unwrap().is_none());
    }

    #[test]
    fn merge_after_a_restart_keeps_the_first_removal() {
        const SEGMENTS: u64 = SEGMENTS_PER_LEVEL as u64;
        const DOCUMENTS: u64 = 10;
        let remove = |writer: &mut GenerationWriter, pk: u64| writer.remove(pk.cast_signed());
        // The last commit removes a document of each segment but one.
        for complete in 0..SEGMENTS {
            let others = || (0..SEGMENTS).filter(|segment| *segment != complete);
            let folder = tempfile::tempdir().unwrap();
            let mut writer = Generation::create(folder.path()).unwrap().writer();
            writer.engine().unwrap().set_merge_policy(Box::new(NoMergePolicy));
            for segment in 0..SEGMENTS {
                for pk in segment * DOCUMENTS..(segment + 1) * DOCUMENTS {
                    writer.operations.push(UserOperation::Add(doc!(writer.fields.pk => pk)));
                }
                writer.commit(&IndexPosition::new(1, 0)).unwrap();
            }
            others().for_each(|segment| remove(&mut writer, segment * DOCUMENTS));
            writer.commit(&IndexPosition::new(2, 0)).unwrap();
            drop(writer);

            let generation = Generation::open(folder.path()).unwrap().unwrap();
            let mut writer = generation.writer();
            remove(&mut writer, others().next().unwrap() * DOCUMENTS + 1);
            let added = doc!(writer.fields.pk => SEGMENTS * DOCUMENTS);
            writer.operations.push(UserOperation::Add(added));
            writer.commit(&IndexPosition::new(3, 0)).unwrap();
            writer.engine.take().unwrap().wait_merging_threads().unwrap();
            generation.reload().unwrap();
            let searcher = generation.searcher();
            assert!(searcher.segment_readers().len() <= 2, "nothing was merged");
            // One less for each of the other segments and the first removal, one more for the added document.
            let expected = SEGMENTS * DOCUMENTS - (SEGMENTS - 1);
            assert_eq!(searcher.num_docs(), expected, "{complete}");
        }
    }
}
