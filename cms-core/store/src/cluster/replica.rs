//! The replica of a node: where it stands, and how a batch of writes becomes a commit of the cluster.
//!
//! A batch runs while the head is locked, on a replica that equals the head. So whatever a write
//! checks (unique values, links, quotas, versions) holds in the whole cluster. Its local transaction
//! stays open until the shared database has committed: no reader sees a change that may be lost.

use std::{
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use cms_model::error::{Error, Result};
use rusqlite::Connection;
use tracing::{error, info, warn};

use super::{
    apply::{self, ChangeApplier},
    capture::Capture,
    database::{
        CommitOutcome, History, LockedHead, MirroredTable, NewCommit, Position, SharedDatabase,
        SharedSnapshot,
    },
    rows, tables,
};
use crate::{
    Reader, WriteTransaction,
    writer::{self, Run},
};

/// Shortest and longest wait between two attempts to learn the outcome.
const MIN_RETRY: Duration = Duration::from_millis(50);
const MAX_RETRY: Duration = Duration::from_secs(1);

/// A database that mirrors the shared database of a cluster.
pub(crate) struct Replica {
    database: Arc<dyn SharedDatabase>,
    tables: Vec<MirroredTable>,
    capture: Capture,
    applier: ChangeApplier,
    state: Mutex<State>,
    /// Version of the database schema of this program.
    schema: i64,
    counts: Counts,
}

/// How commits ended since the start.
#[derive(Default)]
struct Counts {
    committed: AtomicU64,
    refused: AtomicU64,
    superseded: AtomicU64,
    unknown: AtomicU64,
}

#[derive(Clone, Copy, Debug)]
struct State {
    /// The last applied commit.
    position: Position,
    /// Whether the shared database has another history, so that the replica is useless.
    is_abandoned: bool,
}

/// What became of a commit whose outcome was not known.
enum Resolved<'d> {
    Committed,
    /// It was not stored, and no other node has committed since.
    NotCommitted(Box<dyn LockedHead + 'd>),
}

impl Replica {
    /// Makes the replica of a node from a database with a position.
    pub(crate) fn open(
        path: &Path,
        connection: &mut Connection,
        database: Arc<dyn SharedDatabase>,
        schema: i64,
    ) -> Result<Self> {
        let (tables, position) = {
            let reader = Reader::new(connection);
            (tables::mirrored(&reader)?, reader.cluster_position()?)
        };
        let position = position.ok_or_else(|| {
            Error::Conflict(format!("{} is not the replica of a cluster", path.display()))
        })?;
        Ok(Self {
            database,
            capture: Capture::install(connection, &tables)?,
            applier: ChangeApplier::open(path)?,
            tables,
            state: Mutex::new(State { position, is_abandoned: false }),
            schema,
            counts: Counts::default(),
        })
    }

    /// The last commit of the cluster that is applied here.
    pub(crate) fn position(&self) -> Position {
        self.state().position
    }

    /// Whether the replica belongs to another history than the shared database: it has to be deleted.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.state().is_abandoned
    }

    /// The number of commits by outcome.
    pub(crate) fn counts(&self) -> [(&'static str, u64); 4] {
        let Counts { committed, refused, superseded, unknown } = &self.counts;
        [
            ("committed", committed),
            ("refused", refused),
            ("superseded", superseded),
            ("unknown", unknown),
        ]
        .map(|(outcome, count)| (outcome, count.load(Ordering::Relaxed)))
    }

    /// Locks the head for a commit of this node; other threads may apply changes while this one waits.
    pub(crate) fn lock_head(&self) -> Result<Box<dyn LockedHead + '_>> {
        self.database.lock(self.position())
    }

    /// Runs writes in one commit of the cluster.
    pub(crate) fn run(
        &self,
        mut head: Box<dyn LockedHead + '_>,
        connection: &Mutex<Connection>,
        writes: Vec<Run>,
    ) -> Result<()> {
        let connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
        self.apply(&mut *head)?;
        let writer = WriteTransaction(Reader::capturing(&connection, &self.capture));
        writer.execute("BEGIN IMMEDIATE", [])?;
        let ended = writer::run_writes(&writer, writes).and_then(|succeeded| {
            if succeeded { self.commit(&writer, head) } else { writer.execute("ROLLBACK", []) }
        });
        self.capture.truncate(0);
        if !connection.is_autocommit() {
            // Otherwise no other transaction could begin.
            writer.execute("ROLLBACK", [])?;
        }
        ended
    }

    /// Brings the replica to the newest commit; returns whether there was one to apply.
    pub(crate) fn catch_up(&self, connection: &Mutex<Connection>) -> Result<bool> {
        let check = self.database.check_head(self.position())?;
        if check.history == History::Same && check.head == self.position() {
            return self.require_schema(check.schema).map(|()| false);
        }
        // Excludes the writer: its own commits need no pull.
        let _writer = connection.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.position();
        self.apply(&mut *self.database.snapshot(Some(before))?)?;
        Ok(self.position() != before)
    }

    /// Applies what was committed since the position of the replica.
    fn apply(&self, snapshot: &mut dyn SharedSnapshot) -> Result<()> {
        let head = snapshot.head().clone();
        if snapshot.history() != History::Same {
            return Err(self.abandon(head.position));
        }
        self.require_schema(head.schema)?;
        if head.position == self.position() {
            return Ok(());
        }
        let position = self.applier.apply(&self.tables, snapshot)?;
        self.state().position = position;
        Ok(())
    }

    /// Refuses to read and write rows of another schema.
    fn require_schema(&self, found: i64) -> Result<()> {
        if found == self.schema {
            return Ok(());
        }
        Err(Error::Busy(format!(
            "the cluster uses the database schema {found}, this node {}",
            self.schema
        )))
    }

    /// Notes that the shared database has another history than the replica.
    fn abandon(&self, head: Position) -> Error {
        let mut state = self.state();
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
    fn commit(&self, writer: &WriteTransaction<'_>, head: Box<dyn LockedHead + '_>) -> Result<()> {
        let keys = self.capture.take(&self.tables);
        if keys.is_empty() {
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
        };
        self.send(writer, head, base, &commit)?;
        // From here on the changes are stored, whatever happens to the local transaction.
        let local = apply::set_position(writer, commit.position)
            .and_then(|()| writer.execute("COMMIT", []));
        match local {
            Ok(()) => {
                self.state().position = commit.position;
                #[cfg(any(test, feature = "testing"))]
                self.compare(writer);
            }
            Err(error) => {
                error!(%error, "local commit failed: the node pulls its own commit");
            }
        }
        Ok(())
    }

    /// Sends the changed rows until it is certain that they are stored, or that they are not.
    fn send<'d>(
        &'d self,
        writer: &WriteTransaction<'_>,
        mut head: Box<dyn LockedHead + 'd>,
        base: Position,
        commit: &NewCommit,
    ) -> Result<()> {
        loop {
            for (name, keys) in &commit.keys {
                let table = self.tables.iter().find(|table| table.name == *name);
                let table = table.expect("only mirrored tables are captured");
                rows::read(writer, table, keys, |keys, rows| {
                    head.send(table, keys, rows);
                    Ok(())
                })?;
            }
            match head.commit(commit) {
                CommitOutcome::Committed => {
                    self.counts.committed.fetch_add(1, Ordering::Relaxed);
                    return Ok(());
                }
                CommitOutcome::Failed(error) => {
                    self.counts.refused.fetch_add(1, Ordering::Relaxed);
                    return Err(error);
                }
                CommitOutcome::Unknown => match self.resolve(base, commit.position)? {
                    Resolved::Committed => {
                        self.counts.committed.fetch_add(1, Ordering::Relaxed);
                        return Ok(());
                    }
                    // The rows are values: they are right as long as no other node has committed.
                    Resolved::NotCommitted(again) => head = again,
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
        let mut head = loop {
            match self.database.lock(base) {
                Ok(head) => break head,
                Err(error) if Instant::now() + pause > deadline => {
                    self.counts.unknown.fetch_add(1, Ordering::Relaxed);
                    error!(commit = commit.commit, %error, "commit outcome not resolved");
                    return Err(Error::OutcomeUnknown);
                }
                Err(_) => thread::sleep(pause),
            }
            pause = (pause * 2).min(MAX_RETRY);
        };
        let found = head.head().position;
        if head.history() != History::Same {
            self.counts.unknown.fetch_add(1, Ordering::Relaxed);
            self.abandon(found);
            return Err(Error::OutcomeUnknown);
        }
        let resolved = if found == base {
            Ok(Resolved::NotCommitted(head))
        } else if head.nonce_of(commit.commit)? == Some(commit.nonce) {
            Ok(Resolved::Committed)
        } else {
            self.counts.superseded.fetch_add(1, Ordering::Relaxed);
            Err(Error::Busy("another node has changed the content meanwhile".to_owned()))
        };
        let outcome = match &resolved {
            Ok(Resolved::Committed) => "committed",
            Ok(Resolved::NotCommitted(_)) => "sent again",
            Err(_) => "superseded",
        };
        info!(commit = commit.commit, outcome, "commit outcome resolved");
        resolved
    }

    #[cfg(any(test, feature = "testing"))]
    fn compare(&self, reader: &Reader<'_>) {
        if self.database.is_compared() {
            let mut snapshot = self.database.snapshot(None).expect("a snapshot");
            let differences = super::compare::compare(reader, &self.tables, &mut *snapshot);
            assert_eq!(differences.expect("the tables are readable"), [], "after a commit");
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each change of the state is one assignment.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
