//! Recognizes the newest commit of any process without an SQL statement.
//!
//! SQLite writes the header of the WAL index (`cms.db-shm`) with each commit, and compares it to
//! find out whether cached pages are current; [`WalIndex`] reads the same bytes. Format:
//! <https://www.sqlite.org/walformat.html#the_wal_index_file_format>

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    sync::{Arc, OnceLock, Weak},
};

use parking_lot::Mutex;

const HEADER_BYTES: usize = 48;
/// The first field of a header whose format is known.
const VERSION: u32 = 3_007_000;
/// Offset of the counter of commits, in bytes.
const COUNTER_OFFSET: usize = 8;

/// Identifies a commit: equal marks mean equal content of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitMark([u8; HEADER_BYTES]);

impl CommitMark {
    /// Reads the header, which is stored twice. Returns none while a process writes the header, or if
    /// its format is not known.
    fn parse(headers: &[u8; 2 * HEADER_BYTES]) -> Option<Self> {
        let (first, second) = headers.split_at(HEADER_BYTES);
        let is_known = first.starts_with(&VERSION.to_ne_bytes());
        let header = first.try_into().ok().filter(|_| is_known && first == second)?;
        Some(Self(header))
    }

    /// Returns whether this is the commit after another one.
    pub(crate) fn is_next_after(&self, before: &Self) -> bool {
        self.counter() == before.counter().wrapping_add(1)
    }

    fn counter(&self) -> u32 {
        let bytes = self.0[COUNTER_OFFSET..COUNTER_OFFSET + size_of::<u32>()].try_into();
        u32::from_ne_bytes(bytes.expect("it has four bytes"))
    }
}

/// The WAL index of a database.
pub(crate) struct WalIndex {
    path: PathBuf,
    file: OnceLock<Option<Arc<File>>>,
}

impl WalIndex {
    /// The WAL index of the database at `path`.
    ///
    /// It must be dropped after all connections to the database: when a process closes a file, it
    /// loses its locks on that file, also those of SQLite.
    pub(crate) fn of(path: &Path) -> Self {
        let mut path = path.as_os_str().to_owned();
        path.push("-shm");
        Self { path: path.into(), file: OnceLock::new() }
    }

    /// Returns the mark of the newest commit of any process: while the mark stays the same, so does
    /// the content of the database. None if this requires a statement.
    pub(crate) fn newest(&self) -> Option<CommitMark> {
        let file = self.file.get_or_init(|| open_shared(&self.path)).as_ref()?;
        let mut headers = [0; 2 * HEADER_BYTES];
        read_start(file, &mut headers).then(|| CommitMark::parse(&headers))?
    }
}

/// Opens the file once per process, even if the process opens the database several times: closing a
/// second file would release the locks of the first.
#[cfg(unix)]
fn open_shared(path: &Path) -> Option<Arc<File>> {
    use std::os::unix::fs::MetadataExt;
    /// Device and inode, and the open file.
    type OpenFile = (u64, u64, Weak<File>);
    static OPEN: Mutex<Vec<OpenFile>> = Mutex::new(Vec::new());

    let mut open = OPEN.lock();
    open.retain(|(.., file)| file.strong_count() > 0);
    let metadata = fs::metadata(path).ok()?;
    let (device, inode) = (metadata.dev(), metadata.ino());
    let known = open.iter().find(|known| (known.0, known.1) == (device, inode));
    if let Some(file) = known.and_then(|(.., file)| file.upgrade()) {
        return Some(file);
    }
    let file = Arc::new(File::open(path).ok()?);
    open.push((device, inode, Arc::downgrade(&file)));
    Some(file)
}

#[cfg(unix)]
fn read_start(file: &File, bytes: &mut [u8]) -> bool {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, 0).is_ok()
}

/// On other systems, a read of the file may not return what SQLite has written to its memory map.
#[cfg(not(unix))]
fn open_shared(_: &Path) -> Option<Arc<File>> {
    None
}

#[cfg(not(unix))]
fn read_start(_: &File, _: &mut [u8]) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    fn open(path: &Path) -> Connection {
        let connection = Connection::open(path).unwrap();
        connection.execute_batch("PRAGMA journal_mode = WAL").unwrap();
        connection
    }

    #[test]
    fn mark_changes_with_each_commit_of_any_connection() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.db");
        let (first, second) = (open(&path), open(&path));
        let index = WalIndex::of(&path);
        first.execute_batch("CREATE TABLE t (a)").unwrap();
        let mut seen = vec![index.newest().expect("the WAL index exists")];
        for round in 0..200 {
            let writer = if round % 2 == 0 { &first } else { &second };
            writer.execute_batch("BEGIN IMMEDIATE; INSERT INTO t VALUES (1)").unwrap();
            assert_eq!(index.newest().as_ref(), seen.last(), "before the commit");
            writer.execute_batch("COMMIT").unwrap();
            let mark = index.newest().unwrap();
            assert!(!seen.contains(&mark), "commit {round}");
            assert!(mark.is_next_after(seen.last().unwrap()), "commit {round}");
            if round % 50 == 0 {
                // The next commit writes to the start of the WAL again.
                writer.execute_batch("PRAGMA wal_checkpoint(RESTART)").unwrap();
            }
            seen.push(index.newest().unwrap());
        }
        first.execute_batch("BEGIN IMMEDIATE; INSERT INTO t VALUES (1); ROLLBACK").unwrap();
        assert_eq!(index.newest().as_ref(), seen.last(), "after a rollback");
        let count: i64 = second.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap();
        assert_eq!((count, index.newest().as_ref()), (200, seen.last()), "after a read");
    }

    /// A process that closes a file loses its locks on it.
    #[cfg(unix)]
    #[test]
    fn file_is_open_until_its_last_database_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.db");
        let connection = open(&path);
        connection.execute_batch("CREATE TABLE t (a)").unwrap();
        let (first, second) = (WalIndex::of(&path), WalIndex::of(&path));
        assert_eq!(first.newest(), second.newest());
        let file = Arc::downgrade(second.file.get().unwrap().as_ref().unwrap());
        drop(first);
        assert_eq!(file.strong_count(), 1);
        drop(second);
        assert_eq!(file.strong_count(), 0);
    }

    #[test]
    fn header_of_unknown_format_or_during_a_write_is_rejected() {
        let header = |version: u32, change: u8| {
            let mut header = [change; HEADER_BYTES];
            header[..4].copy_from_slice(&version.to_ne_bytes());
            header
        };
        let parse = |first: [u8; HEADER_BYTES], second: [u8; HEADER_BYTES]| {
            CommitMark::parse(&[first, second].concat().try_into().unwrap())
        };
        let known = header(VERSION, 7);
        assert_eq!(parse(known, known), Some(CommitMark(known)));
        assert_eq!(parse(known, header(VERSION, 8)), None, "while it is written");
        let unknown = header(VERSION + 1, 7);
        assert_eq!(parse(unknown, unknown), None);
    }

    #[test]
    fn missing_index_has_no_mark() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(WalIndex::of(&folder.path().join("t.db")).newest(), None);
    }
}
