//! The database: SQLite, and all its SQL. The SQL of PostgreSQL is in `cms-cluster`, except statements
//! of migrations ([`SharedMigration`]).
//!
//! [`Store::read`] provides a [`Reader`] on one snapshot, [`Store::write`] the one
//! [`WriteTransaction`]. Their methods are in one file per table group, and take and return values
//! of `cms_model` and rows, such as [`JobRow`]. This crate contains no rules: those are in the model
//! and the services.

mod activity;
mod actor;
mod backup;
mod cache;
mod check;
pub mod cluster;
mod commit_mark;
mod commit_state;
mod content_type;
#[cfg(any(test, feature = "testing"))]
pub mod counting;
mod error;
mod functions;
mod idempotency;
mod import;
mod job;
mod journal;
mod key;
mod link;
mod list;
mod list_sql;
mod meta;
mod migrate;
mod object;
mod openid;
mod pending_commit;
mod pool;
mod preview_token;
mod published;
mod retention;
mod rewrite;
mod schedule;
mod schema;
mod session;
mod shared_view;
mod slots;
mod stored_file;
#[cfg(test)]
mod testing;
mod trash;
mod user;
mod user_settings;
mod version;
mod webhook;
mod webhook_delivery;
mod workflow;
mod working_copy;
mod writer;

use std::{
    fs::File,
    ops::Deref,
    path::{Path, PathBuf},
    sync::Arc,
};

use cms_model::{
    TRACE_TARGET,
    error::{Error, Result},
    settings::{Durability, NewDatabase},
};
use parking_lot::Mutex;
use rusqlite::{
    CachedStatement, Connection, ErrorCode, OptionalExtension, Params, Row,
    types::{FromSql, Type},
};
use serde::{Serialize, de::DeserializeOwned};
use tracing::info_span;

pub use self::{
    activity::{ActivityEntry, ActivityFilter},
    actor::{ActorRef, ActorRow, ActorUser, Authors},
    backup::{read_copy, read_file},
    commit_mark::CommitMark,
    commit_state::{CommitState, Dependencies, TypesRead},
    content_type::TypeState,
    error::damage,
    job::{JobFilter, JobProgress, JobRow, NewJob},
    journal::{
        ChangedObject, DetailedEntry, EntryObject, Event, JournalChange, JournalEntry,
        JournalEvent, JournalPosition, ManagementEvent, ReindexRequest,
    },
    key::KeyRow,
    link::{IncomingTotals, LinkingObjects},
    list::ListPlan,
    meta::{ChangeCounters, DERIVED_DATA_VERSION, Revisions, SpaceIds, TypeVersion},
    object::ObjectChange,
    pending_commit::PendingCommit,
    rewrite::{RewrittenVersions, StoredVersion, StoredVersions},
    schedule::ScheduledRow,
    schema::{Schemas, SharedMigration},
    session::{SessionRow, SignInLinkRow},
    shared_view::SharedViewRow,
    stored_file::MediaFile,
    trash::{DeletedObject, RestoredRow, TrashEntry, TrashFilter},
    user::UserRow,
    webhook_delivery::{DeliveryAttempt, DeliveryEvent, DeliveryRow},
    working_copy::{WorkingCopyRow, WorkingCopySubject},
    writer::WriterCounts,
};
use self::{
    cluster::{capture::Capture, replica::Replica},
    commit_state::CommitStateCache,
    error::{Damage, map},
    list::ListCache,
    pool::Pool,
    writer::GroupCommit,
};

/// An open database.
pub struct Store {
    readers: Pool,
    group_commit: GroupCommit,
    lists: ListCache,
    damage: Arc<Damage>,
    // Declared after the connections, so that it is dropped after them: see `WalIndex::of`.
    commit_state: Arc<CommitStateCache>,
    // Held while the database is in use; see `migrate`.
    directory_lock: File,
    // Held by a node; see `cluster`.
    _node_lock: Option<File>,
}

impl Store {
    /// Opens the database of a data directory, creates it if the settings allow that, and migrates
    /// it.
    pub fn open(folder: &Path, new: NewDatabase, durability: Durability) -> Result<Self> {
        let (path, lock) = migrate::prepare(folder, new)?;
        let writer = pool::connect_writer(&path, durability)?;
        if Reader::new(&writer).cluster_position()?.is_some() {
            return Err(Error::Conflict(format!(
                "the data directory {} is the replica of a node: use --server, or `cms cluster export` \
                 for a standalone copy",
                folder.display()
            )));
        }
        Self::from_parts(path, writer, None, (lock, None))
    }

    fn from_parts(
        path: PathBuf,
        writer: Connection,
        replica: Option<Replica>,
        (directory_lock, node_lock): (File, Option<File>),
    ) -> Result<Self> {
        let commit_state = Arc::new(CommitStateCache::of(&path));
        let damage = Arc::<Damage>::default();
        Ok(Self {
            readers: Pool::new(path),
            group_commit: GroupCommit::start(
                writer,
                Arc::clone(&commit_state),
                Arc::clone(&damage),
                replica,
            )?,
            lists: ListCache::default(),
            damage,
            commit_state,
            directory_lock,
            _node_lock: node_lock,
        })
    }

    /// Locks the data directory exclusively instead of shared, if no other process uses it; returns whether it did. A
    /// process that opens the directory then waits for [`Self::lock_directory_shared`], and fails after 10 s.
    ///
    /// # Errors
    /// [`Error::Conflict`] if a newer version migrates the database at that moment.
    pub fn try_lock_directory_exclusively(&self) -> Result<bool> {
        migrate::lock_exclusively(&self.directory_lock, self.readers.path())
    }

    /// Lets other processes use the data directory again.
    pub fn lock_directory_shared(&self) -> Result<()> {
        migrate::lock_shared_again(&self.directory_lock, self.readers.path())
    }

    /// Returns the read connections in use, their maximum number, and the number of waiting
    /// threads.
    pub fn reader_counts(&self) -> [usize; 3] {
        self.readers.counts()
    }

    /// Returns the statistics of the writer.
    pub fn writer_counts(&self) -> WriterCounts {
        self.group_commit.counts()
    }

    /// Reads from one snapshot of the database.
    pub fn read<T>(&self, read: impl FnOnce(&Reader<'_>) -> Result<T>) -> Result<T> {
        let _span = info_span!(target: TRACE_TARGET, "read").entered();
        let connection = self.readers.take()?;
        let mut reader = Reader::new(&connection);
        let state = self.commit_state.cached();
        reader.statement("BEGIN")?.execute([]).map_err(map)?;
        // Opens the snapshot. If the commit of the cached state is still the newest one, the snapshot
        // has the content of that state.
        reader.query_value::<i64>("PRAGMA schema_version", [])?;
        let state = state.filter(|state| self.is_newest(state));
        reader.counters = state.as_deref().map(|state| &state.counters);
        let result = self.damage.record_damage(read(&reader));
        // Ends the snapshot; a read transaction has nothing to lose.
        reader.statement("ROLLBACK")?.execute([]).map_err(map)?;
        result
    }

    /// Reads from one snapshot without a time limit.
    ///
    /// # Errors
    /// [`Error::Busy`] soon after `is_cancelled` returns true, also within a statement.
    pub fn read_without_timeout<T>(
        &self,
        is_cancelled: impl FnMut() -> bool + Send + 'static,
        read: impl FnOnce(&Reader<'_>) -> Result<T>,
    ) -> Result<T> {
        let connection = pool::connect_cancellable(self.readers.path(), is_cancelled)?;
        let reader = Reader::new(&connection);
        reader.statement("BEGIN")?.execute([]).map_err(map)?;
        self.damage.record_damage(read(&reader))
    }

    /// Reads without a transaction: each statement has its own snapshot.
    pub fn read_autocommit<T>(&self, read: impl FnOnce(&Reader<'_>) -> Result<T>) -> Result<T> {
        let connection = self.readers.take()?;
        self.damage.record_damage(read(&Reader::new(&connection)))
    }

    /// Changes the database: all changes of `write` are committed, or none when it fails. After a
    /// damaged page was found, every write is rejected.
    ///
    /// Writes of several callers may share one commit; each sees the changes of those before it.
    pub fn write<T: Send + 'static>(
        &self,
        write: impl FnOnce(&WriteTransaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.begin_write(write)?.wait()
    }

    /// Queues a write as [`Self::write`] does, for a caller that waits for the commit without a thread.
    pub fn begin_write<T: Send + 'static>(
        &self,
        write: impl FnOnce(&WriteTransaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<PendingCommit<T>> {
        self.check_undamaged()?;
        Ok(self.group_commit.enqueue(write, false))
    }

    /// Returns the first error of a damaged database file, if one was found.
    pub fn damage(&self) -> Option<&str> {
        self.damage.get()
    }

    /// Records that a check found damage.
    pub fn record_damage_cause(&self, cause: &str) {
        self.damage.note(cause);
    }

    /// # Errors
    /// [`Error::Busy`] after a damaged page was found.
    pub fn check_undamaged(&self) -> Result<()> {
        match self.damage() {
            None => Ok(()),
            Some(cause) => Err(Error::Busy(format!(
                "the database is damaged ({cause}) and takes no writes: stop the server, run \
                 `cms check`, and restore a backup"
            ))),
        }
    }

    /// Calls a function after each commit, also a failed one, until its owner drops it.
    pub fn on_commit(&self, listener: &Arc<dyn Fn() + Send + Sync>) {
        self.group_commit.on_commit(listener);
    }

    /// Runs a write as [`Self::write`] does, and rolls back its changes.
    pub fn dry_run<T: Send + 'static>(
        &self,
        write: impl FnOnce(&WriteTransaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.check_undamaged()?;
        let result = Arc::new(Mutex::new(None));
        let cell = Arc::clone(&result);
        let dry_run = move |writer: &WriteTransaction<'_>| -> Result<()> {
            *cell.lock() = Some(write(writer));
            Err(Error::internal("a dry run is rolled back"))
        };
        let rolled_back = self.group_commit.enqueue(dry_run, true).wait();
        let result = result.lock().take();
        // Without a result the write never ran, or panicked: then the error has the reason.
        self.damage.record_damage(result.unwrap_or_else(|| {
            Err(rolled_back.err().unwrap_or_else(|| Error::internal("no result")))
        }))
    }
}

/// One snapshot; in `read_autocommit`, one for each statement.
pub struct Reader<'c> {
    connection: &'c Connection,
    /// The counters of the snapshot, if they are known without a statement.
    counters: Option<&'c ChangeCounters>,
    /// Records the changes of a write transaction for the other nodes of a cluster.
    capture: Option<&'c Capture>,
}

impl<'c> Reader<'c> {
    fn new(connection: &'c Connection) -> Self {
        Self { connection, counters: None, capture: None }
    }

    fn capturing(connection: &'c Connection, capture: &'c Capture) -> Self {
        Self { capture: Some(capture), ..Self::new(connection) }
    }

    fn statement(&self, sql: &str) -> Result<CachedStatement<'_>> {
        #[cfg(any(test, feature = "testing"))]
        counting::count();
        self.connection.prepare_cached(sql).map_err(map)
    }

    /// Returns the first row of a statement; no row is an error.
    fn query_row<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        self.statement(sql)?.query_row(parameters, read).map_err(map)
    }

    /// Returns the first column of the first row of a statement; no row is an error.
    fn query_value<T: FromSql>(&self, sql: &str, parameters: impl Params) -> Result<T> {
        self.query_row(sql, parameters, |row| row.get(0))
    }

    /// Returns the first column of all rows of a statement.
    fn query_values<T: FromSql>(&self, sql: &str, parameters: impl Params) -> Result<Vec<T>> {
        self.query_rows(sql, parameters, |row| row.get(0))
    }

    /// Returns the first row of a statement, if any.
    fn query_optional<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        self.statement(sql)?.query_row(parameters, read).optional().map_err(map)
    }

    /// Returns whether a statement has a row.
    fn exists(&self, sql: &str, parameters: impl Params) -> Result<bool> {
        self.statement(sql)?.exists(parameters).map_err(map)
    }

    /// Passes the rows of a statement to `visit`, which may fail.
    fn each_row(
        &self,
        sql: &str,
        parameters: impl Params,
        mut visit: impl FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut statement = self.statement(sql)?;
        let mut rows = statement.query(parameters).map_err(map)?;
        while let Some(row) = rows.next().map_err(map)? {
            visit(row)?;
        }
        Ok(())
    }

    /// Returns all rows of a statement.
    fn query_rows<T, C: FromIterator<T>>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<C> {
        let mut statement = self.statement(sql)?;
        let rows = statement.query_map(parameters, read).map_err(map)?;
        rows.map(|row| row.map_err(map)).collect()
    }
}

/// Reads a column that contains text, without copying it.
fn text<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<&'r str> {
    Ok(row.get_ref(column)?.as_str()?)
}

/// Reads a column that contains the name of a variant.
fn named<T>(
    row: &Row<'_>,
    column: usize,
    parse: impl FnOnce(&str) -> Option<T>,
) -> rusqlite::Result<T> {
    let name = text(row, column)?;
    parse(name).ok_or_else(|| {
        let message = format!("unknown name {name}");
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, message.into())
    })
}

/// Reads a column that contains JSON.
fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(text(row, column)?).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, error.into())
    })
}

/// Returns the JSON text of a value to be stored.
fn to_json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(Error::internal)
}

/// The write transaction. It has all methods of a reader, which see its changes.
pub struct WriteTransaction<'c>(Reader<'c>);

impl<'c> Deref for WriteTransaction<'c> {
    type Target = Reader<'c>;

    fn deref(&self) -> &Reader<'c> {
        &self.0
    }
}

impl WriteTransaction<'_> {
    fn execute(&self, sql: &str, parameters: impl Params) -> Result<()> {
        self.execute_and_count(sql, parameters)?;
        Ok(())
    }

    /// Executes a statement; returns the number of changed rows.
    fn execute_and_count(&self, sql: &str, parameters: impl Params) -> Result<usize> {
        self.statement(sql)?.execute(parameters).map_err(map)
    }

    /// Writes the changed pages to the write-ahead log, so that the commit has little to write.
    fn flush_pages(&self) -> Result<()> {
        match self.connection.cache_flush() {
            // Busy: a statement still uses some of the pages; the commit writes those.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(()),
            flushed => flushed.map_err(map),
        }
    }
}
