//! Connections: their settings, and the pool of read connections.

use std::{
    ops::Deref,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use cms_model::{error::Result, limits, settings::Durability};
use parking_lot::{Condvar, Mutex};
use rusqlite::{Connection, OpenFlags, config::DbConfig};

use super::{error::map, functions};

/// Maximum prepared statements cached per connection.
const MAX_CACHED_STATEMENTS: usize = 256;

/// Page cache of the write connection. It is small because SQLite visits all cached pages at
/// each commit that has split a page. With a cache four times as large, this took 5% of the time of a
/// create.
const WRITER_CACHE_KIB: u32 = 8_000;
/// Page cache of a read connection. It contains only pages of the WAL, since those of the
/// database file are mapped into memory. It is small because SQLite clears it after each commit, and
/// clearing a larger cache takes longer.
const READER_CACHE_KIB: u32 = 4_000;

/// Settings of every connection. The busy timeout comes first: the others may already need a lock.
const PRAGMAS: &str = "
    PRAGMA busy_timeout = 10000;
    PRAGMA foreign_keys = ON;
    PRAGMA mmap_size = 1073741824;
    PRAGMA temp_store = MEMORY;
    PRAGMA trusted_schema = OFF;
";

/// Opens the write connection.
pub(super) fn connect_writer(path: &Path, durability: Durability) -> Result<Connection> {
    let connection = connect(path, OpenFlags::default(), WRITER_CACHE_KIB)?;
    let synchronous = match durability {
        Durability::Full => "FULL",
        Durability::Normal => "NORMAL",
    };
    connection
        .execute_batch(&format!(
            "PRAGMA journal_mode = WAL;
             PRAGMA synchronous = {synchronous};
             PRAGMA wal_autocheckpoint = 8000;
             PRAGMA journal_size_limit = 67108864;"
        ))
        .map_err(map)?;
    Ok(connection)
}

fn connect(path: &Path, flags: OpenFlags, cache_kib: u32) -> Result<Connection> {
    let flags = flags - OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(path, flags).map_err(map)?;
    connection.execute_batch(PRAGMAS).map_err(map)?;
    connection.pragma_update(None, "cache_size", -i64::from(cache_kib)).map_err(map)?;
    // Without this, the planner uses bound values, and plans a statement again for each new value.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(map)?;
    connection.set_prepared_statement_cache_capacity(MAX_CACHED_STATEMENTS);
    functions::register(&connection).map_err(map)?;
    Ok(connection)
}

/// Database engine instructions between two checks whether a statement has to end.
const INSTRUCTIONS_PER_CHECK: i32 = 200;

/// A read connection, and the deadline of its current read.
struct ReadConnection {
    connection: Connection,
    deadline: Arc<Mutex<Instant>>,
}

impl ReadConnection {
    fn start(self) -> Self {
        *self.deadline.lock() = Instant::now() + limits::READ_TIMEOUT;
        self
    }
}

/// Read-only connections, opened when first needed.
pub(super) struct Pool {
    path: PathBuf,
    size: usize,
    state: Mutex<State>,
    returned: Condvar,
}

struct State {
    idle: Vec<ReadConnection>,
    /// Number of connections that may still be opened.
    unopened: usize,
    /// Number of waiting threads. If it is 0, no wake-up is needed, which would be a system call.
    waiting: usize,
}

impl Pool {
    pub(super) fn new(path: PathBuf) -> Self {
        // Fast reads run on threads that must not block, so they must always find a connection. The
        // pool is larger than the default number of long reads that a server permits, which is 6 per
        // core, at least 12. Connections are opened when needed.
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let size = 8 * cores + 8;
        let state = State { idle: Vec::new(), unopened: size, waiting: 0 };
        Self { path, size, state: Mutex::new(state), returned: Condvar::new() }
    }

    /// Returns the connections in use, their maximum number, and the number of threads that wait
    /// for one.
    pub(super) fn counts(&self) -> [usize; 3] {
        let state = self.state.lock();
        let used = self.size - state.idle.len() - state.unopened;
        [used, self.size, state.waiting]
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes an idle connection, or waits for one.
    pub(super) fn take(&self) -> Result<Pooled<'_>> {
        let mut state = self.state.lock();
        loop {
            if let Some(connection) = state.idle.pop() {
                return Ok(Pooled { pool: self, connection: Some(connection.start()) });
            }
            if state.unopened > 0 {
                state.unopened -= 1;
                break;
            }
            state.waiting += 1;
            self.returned.wait(&mut state);
            state.waiting -= 1;
        }
        drop(state);
        match connect_reader(&self.path) {
            Ok(connection) => Ok(Pooled { pool: self, connection: Some(connection.start()) }),
            Err(error) => {
                self.put(|state| state.unopened += 1);
                Err(error)
            }
        }
    }

    /// Gives back a connection, or the right to open one, and wakes a waiting thread.
    fn put(&self, give: impl FnOnce(&mut State)) {
        let mut state = self.state.lock();
        give(&mut state);
        let has_waiters = state.waiting > 0;
        drop(state);
        if has_waiters {
            self.returned.notify_one();
        }
    }
}

fn connect_reader(path: &Path) -> Result<ReadConnection> {
    let deadline = Arc::new(Mutex::new(Instant::now()));
    let current = Arc::clone(&deadline);
    let is_over = move || Instant::now() > *current.lock();
    Ok(ReadConnection { connection: connect_cancellable(path, is_over)?, deadline })
}

/// Opens a read connection whose statements fail once a function returns true.
pub(super) fn connect_cancellable(
    path: &Path,
    is_over: impl FnMut() -> bool + Send + 'static,
) -> Result<Connection> {
    let mut connection = connect_unlimited(path)?;
    connection.progress_handler(INSTRUCTIONS_PER_CHECK, Some(is_over)).map_err(map)?;
    Ok(connection)
}

/// Opens a read connection without a time limit.
pub(super) fn connect_unlimited(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::default() - OpenFlags::SQLITE_OPEN_CREATE;
    let connection = connect(path, flags, READER_CACHE_KIB)?;
    connection.execute_batch("PRAGMA query_only = ON").map_err(map)?;
    Ok(connection)
}

/// A connection that returns to the pool when it is dropped.
pub(super) struct Pooled<'p> {
    pool: &'p Pool,
    connection: Option<ReadConnection>,
}

impl Deref for Pooled<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection.as_ref().expect("taken only by drop").connection
    }
}

impl Drop for Pooled<'_> {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        if connection.connection.is_autocommit() {
            self.pool.put(|state| state.idle.push(connection));
        } else {
            // A reader panicked inside its snapshot: a new connection is safer than this one.
            self.pool.put(|state| state.unopened += 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use cms_model::{
        error::Error,
        settings::{Durability, NewDatabase},
    };
    use tempfile::TempDir;

    use crate::Store;

    #[test]
    fn cancelled_statement_ends_and_writes_continue() {
        let folder = TempDir::new().unwrap();
        let store =
            Store::open(folder.path(), NewDatabase::InNewDirectory, Durability::Normal).unwrap();
        let checks = AtomicUsize::new(0);
        let is_cancelled = move || checks.fetch_add(1, Ordering::Relaxed) > 1000;
        let endless = "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number)
                       SELECT count(*) FROM number";
        let read: Result<i64, _> = store.read_without_timeout(is_cancelled, |reader| {
            store.write(|writer| writer.recount(1))?;
            reader.query_value(endless, [])
        });
        assert!(matches!(read, Err(Error::Busy(_))), "{read:?}");
        store.write(|writer| writer.recount(1)).unwrap();
        let errors = |is_cancelled: bool| {
            let read = store.read_without_timeout(
                move || is_cancelled,
                |reader| Ok(reader.integrity_errors()?.len()),
            );
            read.map_err(|error| matches!(error, Error::Busy(_)))
        };
        assert_eq!(errors(true), Err(true));
        assert_eq!(errors(false), Ok(0));
    }
}
