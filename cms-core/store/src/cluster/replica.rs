//! The replica of a node: its position, and how a batch of writes becomes a commit of the cluster.
//!
//! A batch runs while the head is locked, on a replica that equals the head. So whatever a write
//! checks (unique values, links, quotas, versions) holds in the complete cluster. The local transaction
//! of the batch stays open until the shared database has committed: no reader sees a change that may
//! be lost.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use cms_model::error::{Error, Result};
use parking_lot::Mutex;
use rusqlite::Connection;
use tracing::{error, info, warn};

use super::{
    apply::{self, ChangeApplier},
    capture::Capture,
    database::{
        CommitOutcome, History, LockedHead, NewCommit, Position, SchemaChange, SharedDatabase,
        SharedSnapshot, SharedTable,
    },
    metrics::ReplicaMetrics,
    rows, tables,
};
use crate::{
    Reader, Schemas, WriteTransaction,
    error::map,
    migrate,
    writer::{self, NextWrites},
};

/// Shortest and longest wait between two attempts to learn the outcome of a commit.
const MIN_RETRY: Duration = Duration::from_millis(50);
const MAX_RETRY: Duration = Duration::from_secs(1);
/// A longer wait for the lock is logged.
const SLOW_LOCK: Duration = Duration::from_secs(1);

/// A database that mirrors the shared database of a cluster.
pub struct Replica {
    path: PathBuf,
    database: Arc<dyn SharedDatabase>,
    schemas: Schemas,
    /// Replaced while the connection that writes is locked.
    mirror: Mutex<Arc<Mirror>>,
    applier: ChangeApplier,
    state: Mutex<State>,
    metrics: ReplicaMetrics,
}

/// The shared tables, as of a version of the schema.
struct Mirror {
    /// Version of the schema of the cluster, and of this replica.
    schema: i64,
    tables: Vec<SharedTable>,
    capture: Capture,
}

#[derive(Clone, Copy, Debug)]
struct State {
    /// The last applied commit.
    position: Position,
    /// The last commit of this node; newer than `position` if its local commit failed.
    last_write: Position,
    /// Whether the replica cannot follow the shared database and has to be copied again: the shared
    /// database has another history, its log no longer has the position, or an upgrade failed.
    is_abandoned: bool,
    /// Whether it was logged that the cluster has a newer schema.
    has_logged_newer_schema: bool,
    /// Whether commits of other nodes are being applied.
    is_applying: bool,
}

/// Whether a commit was stored, after its connection broke.
enum Resolved<'d> {
    Committed,
    /// The commit was not stored, and no other node has committed since.
    NotCommitted(Box<dyn LockedHead + 'd>),
}

impl Mirror {
    /// Reads the schema of a replica, and captures the changes of a connection to it.
    fn of(path: &Path, connection: &mut Connection) -> Result<Self> {
        let tables = tables::shared(&Reader::new(connection))?;
        let schema = migrate::stored_schema(path)?;
        Ok(Self {
            schema: schema.ok_or_else(|| Error::internal("a replica without a schema"))?,
            capture: Capture::install(connection, &tables)?,
            tables,
        })
    }
}

impl Replica {
    /// Opens a database with a position as the replica of a node.
    pub(crate) fn open(
        path: &Path,
        connection: &mut Connection,
        database: Arc<dyn SharedDatabase>,
        schemas: Schemas,
        metrics: ReplicaMetrics,
    ) -> Result<Self> {
        let position = Reader::new(connection).cluster_position()?.ok_or_else(|| {
            Error::Conflict(format!("{} is not the replica of a cluster", path.display()))
        })?;
        Ok(Self {
            path: path.to_owned(),
            database,
            schemas,
            mirror: Mutex::new(Arc::new(Mirror::of(path, connection)?)),
            applier: ChangeApplier::open(path)?,
            state: Mutex::new(State {
                position,
                last_write: position,
                is_abandoned: false,
                has_logged_newer_schema: false,
                is_applying: false,
            }),
            metrics,
        })
    }

    /// The last commit of the cluster that is applied here.
    pub fn position(&self) -> Position {
        self.state.lock().position
    }

    /// The last commit of the cluster that this node knows: the last applied one, or a newer one that this
    /// node has written, whose local commit failed.
    pub fn last_known_commit(&self) -> Position {
        let State { position, last_write, .. } = *self.state.lock();
        if last_write.commit > position.commit { last_write } else { position }
    }

    /// Whether the replica cannot follow the shared database, because that has another history, its log no
    /// longer has the position, or an upgrade failed. Opening it again copies the shared database.
    pub fn is_abandoned(&self) -> bool {
        self.state.lock().is_abandoned
    }

    /// Whether commits of other nodes are being applied: a commit with many rows takes seconds.
    pub fn is_applying(&self) -> bool {
        self.state.lock().is_applying
    }

    /// The metrics of the replica.
    pub fn metrics(&self) -> &ReplicaMetrics {
        &self.metrics
    }

    /// Locks the head for a commit of this node; other threads may apply changes while this one waits.
    pub(crate) fn lock_head(&self) -> Result<Box<dyn LockedHead + '_>> {
        let asked = Instant::now();
        let head = self.database.lock(self.position())?;
        let waited = asked.elapsed();
        self.metrics.lock_waits.observe(waited.as_secs_f64());
        if waited > SLOW_LOCK {
            warn!(milliseconds = waited.as_millis(), "slow lock");
        }
        Ok(head)
    }

    /// Runs writes in one commit of the cluster.
    pub(crate) fn run(
        &self,
        mut head: Box<dyn LockedHead + '_>,
        connection: &Mutex<Connection>,
        take: &mut NextWrites<'_>,
    ) -> Result<()> {
        let _timer = self.metrics.commit_times.start_timer();
        let mut connection = connection.lock();
        self.apply(&mut connection, &mut *head)?;
        self.run_transaction(&connection, |writer, mirror| {
            if writer::run_writes(writer, take)? {
                self.commit(writer, mirror, head, None)
            } else {
                writer.execute("ROLLBACK", [])
            }
        })
    }

    /// Runs writes and rolls them back. Does not lock the head, so other nodes can commit meanwhile.
    pub(crate) fn dry_run(
        &self,
        connection: &Mutex<Connection>,
        take: &mut NextWrites<'_>,
    ) -> Result<()> {
        let connection = connection.lock();
        self.run_transaction(&connection, |writer, _| {
            writer::run_writes(writer, take)?;
            writer.execute("ROLLBACK", [])
        })
    }

    /// Runs a transaction whose changes are captured, and ends it.
    fn run_transaction(
        &self,
        connection: &Connection,
        transaction: impl FnOnce(&WriteTransaction<'_>, &Mirror) -> Result<()>,
    ) -> Result<()> {
        let mirror = self.mirror();
        let writer = WriteTransaction(Reader::capturing(connection, &mirror.capture));
        writer.execute("BEGIN IMMEDIATE", [])?;
        let ended = transaction(&writer, &mirror);
        mirror.capture.truncate(0);
        if !connection.is_autocommit() {
            // Otherwise no other transaction could begin.
            writer.execute("ROLLBACK", [])?;
        }
        ended
    }

    /// Upgrades the cluster from the schema of this replica to the next one, and returns the new version. Returns none if
    /// this program knows no next schema, or if another node has already upgraded the cluster.
    ///
    /// # Errors
    /// Those of a commit. [`Error::Busy`] may also mean that another node reads tables that change. Then
    /// nothing was changed.
    pub(crate) fn upgrade(&self, connection: &Mutex<Connection>) -> Result<Option<i64>> {
        let version = self.schema() + 1;
        let Some(step) = self.schemas.shared(version) else { return Ok(None) };
        let mut head = self.lock_head()?;
        let mut connection = connection.lock();
        self.apply(&mut connection, &mut *head)?;
        if self.schema() >= version {
            // Another node has already upgraded the cluster.
            return Ok(None);
        }
        // PostgreSQL first: the migration of the replica cannot be undone.
        head.change_schema(step.statements)?;
        let change = SchemaChange { version, statements: step.statements.to_owned() };
        let upgraded = self.migrate(&mut connection, version).and_then(|()| {
            self.run_transaction(&connection, |writer, mirror| {
                for name in step.changed_tables {
                    mirror.capture.record_table(writer, &mirror.tables, name)?;
                }
                self.commit(writer, mirror, head, Some(change))
            })
        });
        if let Err(error) = upgraded {
            error!(%error, version, "upgrade failed: the replica is copied again");
            self.state.lock().is_abandoned = true;
            return Err(error);
        }
        info!(schema = version, "upgrade finished");
        Ok(Some(version))
    }

    /// Migrates the replica to a version of the schema.
    fn migrate(&self, connection: &mut Connection, version: i64) -> Result<()> {
        let mut other = Connection::open(&self.path).map_err(map)?;
        self.schemas.migrate(&mut other, Some(version))?;
        let mirror = Arc::new(Mirror::of(&self.path, connection)?);
        *self.mirror.lock() = mirror;
        Ok(())
    }

    /// Applies the commits up to the newest one; returns whether there was one to apply.
    pub(crate) fn catch_up(&self, connection: &Mutex<Connection>) -> Result<bool> {
        let check = self.database.check_head(self.position())?;
        self.metrics.head_checks.inc();
        self.metrics.head.set(check.head.commit);
        if check.history == History::Same && check.head == self.position() {
            return self.require_schema(check.schema).map(|()| false);
        }
        // Blocks the writes of this node: a commit that it makes meanwhile would be pulled again.
        let mut connection = connection.lock();
        let before = self.position();
        self.apply(&mut connection, &mut *self.database.snapshot(Some(before))?)?;
        Ok(self.position() != before)
    }

    /// Applies what was committed since the position of the replica.
    fn apply(&self, connection: &mut Connection, snapshot: &mut dyn SharedSnapshot) -> Result<()> {
        let head = snapshot.head().clone();
        if snapshot.history() != History::Same {
            return Err(self.abandon(head.position));
        }
        self.require_schema(head.schema)?;
        if head.position == self.position() {
            return Ok(());
        }
        if self.schema() < head.schema {
            self.migrate(connection, head.schema)?;
            info!(schema = head.schema, "upgrade finished");
        }
        self.state.lock().is_applying = true;
        let applied = self.applier.apply(&self.mirror().tables, snapshot);
        self.state.lock().is_applying = false;
        self.state.lock().position = applied?;
        let rows: usize = snapshot.changes().values().map(Vec::len).sum();
        self.metrics.rows_applied.inc_by(rows as u64);
        Ok(())
    }

    /// Refuses to read and write rows of a schema that this program does not know.
    fn require_schema(&self, found: i64) -> Result<()> {
        let known = self.schemas.newest();
        if found <= known {
            return Ok(());
        }
        if !std::mem::replace(&mut self.state.lock().has_logged_newer_schema, true) {
            error!(schema = found, known, "node outdated: upgrade it to the newer version of cms");
        }
        Err(Error::Busy(format!(
            "the cluster uses the database schema {found}, this node knows {known}: upgrade it to the \
             newer version of cms"
        )))
    }

    /// The version of the schema of the cluster.
    pub fn schema(&self) -> i64 {
        self.mirror().schema
    }

    /// The newest schema that this program knows.
    pub fn newest_schema(&self) -> i64 {
        self.schemas.newest()
    }

    fn mirror(&self) -> Arc<Mirror> {
        Arc::clone(&self.mirror.lock())
    }

    /// Marks the replica as abandoned, because the shared database does not have its position.
    fn abandon(&self, head: Position) -> Error {
        let mut state = self.state.lock();
        if !state.is_abandoned {
            state.is_abandoned = true;
            error!(
                replica = state.position.commit,
                head = head.commit,
                "history mismatch: the replica is copied again"
            );
        }
        Error::Busy("the replica of this node is being copied again".to_owned())
    }

    /// Commits the changes of the open transaction: in the shared database, then here.
    fn commit(
        &self,
        writer: &WriteTransaction<'_>,
        mirror: &Mirror,
        head: Box<dyn LockedHead + '_>,
        schema: Option<SchemaChange>,
    ) -> Result<()> {
        let keys = mirror.capture.take(&mirror.tables);
        if keys.is_empty() && schema.is_none() {
            // Only tables of this data directory have changed.
            return writer.execute("COMMIT", []);
        }
        let base = head.head().position;
        let commit = NewCommit {
            position: Position {
                commit: base.commit + 1,
                nonce: writer.query_value("SELECT random()", [])?,
            },
            keys,
            sequences: apply::sequences(writer)?,
            schema,
        };
        self.send(writer, &mirror.tables, head, base, &commit)?;
        // From here on the changes are stored, whatever happens to the local transaction.
        self.state.lock().last_write = commit.position;
        let local = apply::set_position(writer, commit.position)
            .and_then(|()| writer.execute("COMMIT", []));
        match local {
            Ok(()) => {
                self.state.lock().position = commit.position;
                self.metrics.head.set(commit.position.commit);
                #[cfg(any(test, feature = "testing"))]
                self.compare(writer, &mirror.tables);
            }
            Err(error) => {
                error!(%error, "local commit failed: the node pulls its own commit");
            }
        }
        Ok(())
    }

    /// Sends the changed rows and commits them in the shared database. Repeats this if the connection broke and the
    /// commit was not stored.
    fn send<'d>(
        &'d self,
        writer: &WriteTransaction<'_>,
        tables: &[SharedTable],
        mut head: Box<dyn LockedHead + 'd>,
        base: Position,
        commit: &NewCommit,
    ) -> Result<()> {
        loop {
            // Tables in reverse order of their names: rows of objects take longest to store, so they
            // are sent first, and those of links and the journal are read meanwhile.
            for (name, keys) in commit.keys.iter().rev() {
                let table = tables.iter().find(|table| table.name == *name);
                let table = table.expect("only shared tables are captured");
                rows::read(writer, table, keys, |keys, rows| {
                    self.metrics.rows_sent.inc_by(keys.len() as u64);
                    head.send(table, keys, rows);
                    Ok(())
                })?;
            }
            // Changed pages are written while PostgreSQL stores the rows, so that the local commit has
            // little left to write. If the disk is full, this fails before the shared commit.
            writer.flush_pages()?;
            match head.commit(commit) {
                CommitOutcome::Committed => {
                    self.metrics.count_commit("committed");
                    return Ok(());
                }
                CommitOutcome::Failed(error) => {
                    self.metrics.count_commit("refused");
                    return Err(error);
                }
                CommitOutcome::Unknown => match self.resolve(base, commit.position)? {
                    Resolved::Committed => {
                        self.metrics.count_commit("committed");
                        return Ok(());
                    }
                    // Final rows are sent, not statements: sending them again is correct as long as no
                    // other node has committed.
                    Resolved::NotCommitted(again) => {
                        head = again;
                        if let Some(change) = &commit.schema {
                            head.change_schema(&change.statements)?;
                        }
                    }
                },
            }
        }
    }

    /// Finds out whether a commit was stored. The lock waits until the transaction of the broken
    /// connection has ended.
    fn resolve(&self, base: Position, commit: Position) -> Result<Resolved<'_>> {
        warn!(commit = commit.commit, "commit outcome unknown");
        let deadline = Instant::now() + self.database.outcome_timeout();
        let mut pause = MIN_RETRY;
        // Locks the head and, if it is no longer `base`, reads the nonce stored for this commit.
        let read = || -> Result<_> {
            let mut head = self.database.lock(base)?;
            let is_base = head.head().position == base;
            let stored = if is_base { None } else { head.nonce_of(commit.commit)? };
            Ok((head, stored))
        };
        let (head, stored) = loop {
            match read() {
                Ok(found) => break found,
                Err(error) if Instant::now() + pause > deadline => {
                    self.metrics.count_commit("unknown");
                    error!(commit = commit.commit, %error, "commit outcome not resolved");
                    return Err(Error::OutcomeUnknown);
                }
                Err(_) => thread::sleep(pause),
            }
            pause = (pause * 2).min(MAX_RETRY);
        };
        let found = head.head().position;
        if head.history() != History::Same {
            self.metrics.count_commit("unknown");
            self.abandon(found);
            return Err(Error::OutcomeUnknown);
        }
        let resolved = if found == base {
            Ok(Resolved::NotCommitted(head))
        } else if stored == Some(commit.nonce) {
            Ok(Resolved::Committed)
        } else {
            self.metrics.count_commit("superseded");
            Err(Error::Busy("another node has changed the content meanwhile".to_owned()))
        };
        let outcome = match &resolved {
            Ok(Resolved::Committed) => "committed",
            Ok(Resolved::NotCommitted(_)) => "sent_again",
            Err(_) => "superseded",
        };
        self.metrics.outcomes_resolved.with_label_values(&[outcome]).inc();
        info!(commit = commit.commit, outcome, "commit outcome resolved");
        resolved
    }

    #[cfg(any(test, feature = "testing"))]
    fn compare(&self, reader: &Reader<'_>, tables: &[SharedTable]) {
        if self.database.compares_after_commit() {
            let mut snapshot = self.database.snapshot(None).expect("a snapshot");
            let differences = super::compare::compare(reader, tables, &mut *snapshot);
            assert_eq!(differences.expect("the tables are readable"), [], "after a commit");
        }
    }
}
