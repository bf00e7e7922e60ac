//! Connections: how each is set up, and the readers that wait to be used.

use std::{
    ops::Deref,
    path::{Path, PathBuf},
    sync::{Condvar, Mutex, PoisonError},
};

use rusqlite::{Connection, OpenFlags, config::DbConfig};

use super::{error::map, functions};
use crate::{config::Durability, error::Result};

/// Statements that a connection keeps prepared.
const STATEMENTS: usize = 256;

/// Settings of every connection. The time-out comes first: the others may already need a lock.
const COMMON: &str = "
    PRAGMA busy_timeout = 10000;
    PRAGMA foreign_keys = ON;
    PRAGMA mmap_size = 1073741824;
    PRAGMA cache_size = -32000;
    PRAGMA temp_store = MEMORY;
    PRAGMA trusted_schema = OFF;
";

/// Opens the connection that writes.
pub(super) fn connect_writer(path: &Path, durability: Durability) -> Result<Connection> {
    let connection = connect(path, OpenFlags::default())?;
    let synchronous = match durability {
        Durability::Full => "FULL",
        Durability::Normal => "NORMAL",
    };
    connection
        .execute_batch(&format!(
            "PRAGMA journal_mode = WAL;
             PRAGMA synchronous = {synchronous};
             PRAGMA wal_autocheckpoint = 4000;
             PRAGMA journal_size_limit = 67108864;"
        ))
        .map_err(map)?;
    Ok(connection)
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection> {
    let flags = flags - OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(path, flags).map_err(map)?;
    connection.execute_batch(COMMON).map_err(map)?;
    // Otherwise the planner looks at bound values, and plans a statement anew for each of them.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(map)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    functions::register(&connection).map_err(map)?;
    Ok(connection)
}

/// Connections that can only read, opened when first needed.
pub(super) struct Pool {
    path: PathBuf,
    state: Mutex<State>,
    returned: Condvar,
}

struct State {
    idle: Vec<Connection>,
    /// How many more may be opened.
    unopened: usize,
    /// Threads that wait; to wake one is a system call, even when there is none.
    waiting: usize,
}

impl Pool {
    pub(super) fn new(path: PathBuf) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let state = State { idle: Vec::new(), unopened: (2 * cores).max(4), waiting: 0 };
        Self { path, state: Mutex::new(state), returned: Condvar::new() }
    }

    /// Takes an idle connection, or waits for one.
    pub(super) fn take(&self) -> Result<Pooled<'_>> {
        let mut state = self.lock();
        loop {
            if let Some(connection) = state.idle.pop() {
                return Ok(Pooled { pool: self, connection: Some(connection) });
            }
            if state.unopened > 0 {
                state.unopened -= 1;
                break;
            }
            state.waiting += 1;
            state = self.returned.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
        drop(state);
        match connect_reader(&self.path) {
            Ok(connection) => Ok(Pooled { pool: self, connection: Some(connection) }),
            Err(error) => {
                self.put(|state| state.unopened += 1);
                Err(error)
            }
        }
    }

    /// Gives something back, and wakes a thread that waits for it.
    fn put(&self, give: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        give(&mut state);
        let is_wanted = state.waiting > 0;
        drop(state);
        if is_wanted {
            self.returned.notify_one();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // Nobody panics between taking and giving back, and a list of connections has no
        // invariant that a panic could break.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn connect_reader(path: &Path) -> Result<Connection> {
    let connection = connect(path, OpenFlags::default() - OpenFlags::SQLITE_OPEN_CREATE)?;
    connection.execute_batch("PRAGMA query_only = ON").map_err(map)?;
    Ok(connection)
}

/// A connection that goes back to the pool when it is dropped.
pub(super) struct Pooled<'p> {
    pool: &'p Pool,
    connection: Option<Connection>,
}

impl Deref for Pooled<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect("taken only by drop")
    }
}

impl Drop for Pooled<'_> {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        if connection.is_autocommit() {
            self.pool.put(|state| state.idle.push(connection));
        } else {
            // A reader panicked inside its snapshot: a fresh connection is safer than this one.
            self.pool.put(|state| state.unopened += 1);
        }
    }
}
