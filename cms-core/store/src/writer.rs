//! Group commit on the one connection that writes.
//!
//! A commit waits for the disk; that wait is the same for one row or a hundred. So one thread runs
//! all waiting writes and those that arrive meanwhile, commits once, and only then delivers their
//! results ([`PendingCommit`]). Each write has a savepoint, except the first one of a batch
//! if no other write was waiting.
//! Writes that arrive during the commit are the next batch.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use cms_model::error::{Error, Result};
use parking_lot::{Condvar, Mutex};
use rusqlite::Connection;

use super::{
    Reader, WriteTransaction,
    cluster::{capture::Capture, open::moved_to, replica::Replica},
    commit_state::CommitStateCache,
    error::Damage,
    pending_commit::{self, Completion, PendingCommit},
};

/// Maximum number of writes in one commit, so that the first of them does not wait indefinitely.
const MAX_WRITES_PER_COMMIT: usize = 256;

/// Maximum number of waiting writes. Requests have a limit of their own, but a request whose client
/// has disconnected does not wait for its write.
const MAX_WAITING_WRITES: usize = 1024;

/// Maximum time that a write waits in the queue of a node, the same as for the lock on the head. So a node
/// that was paused does not carry out writes whose clients no longer wait.
const MAX_WAIT_ON_NODE: Duration = Duration::from_secs(10);

/// Runs the writes of all callers on one thread, one batch at a time. When it is dropped, the waiting
/// writes are committed first.
pub(super) struct GroupCommit {
    writer: Arc<Writer>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread and the callers share.
struct Writer {
    queue: Mutex<Queue>,
    /// A write has arrived for the idle thread, or the thread must end.
    woken: Condvar,
    /// In a cluster, a thread that applies the commits of other nodes also locks this.
    connection: Mutex<Connection>,
    // Declared after the connection, so that it is dropped after it: see `WalIndex::of`.
    commit_state: Arc<CommitStateCache>,
    damage: Arc<Damage>,
    /// Set if the database is the replica of a node.
    replica: Option<Replica>,
    /// The commit listeners.
    listeners: Mutex<Vec<Weak<dyn Fn() + Send + Sync>>>,
    /// Number of batches, the writes in them, and their total duration in nanoseconds. Includes batches that
    /// were rolled back because none of their writes succeeded, and dry runs of a node. Of a batch that
    /// failed as a whole, for example in its `COMMIT`, only the duration is included.
    batches: AtomicU64,
    writes: AtomicU64,
    busy: AtomicU64,
}

/// Statistics of the writer.
#[derive(Clone, Copy, Debug)]
pub struct WriterCounts {
    /// Batches of writes, each of which ended with one commit or was rolled back.
    pub batches: u64,
    /// The writes in them.
    pub writes: u64,
    /// The time that the writer was busy.
    pub busy: Duration,
    /// Writes that wait for the next commit.
    pub waiting: usize,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<QueuedWrite>,
    /// The thread waits for a write.
    is_idle: bool,
    is_closed: bool,
}

impl Queue {
    fn take(&mut self, count: usize) -> (Vec<Run>, Vec<Completion>) {
        self.waiting.drain(..count).map(|write| (write.run, write.completion)).unzip()
    }

    /// Refuses the writes that have waited for too long on a node.
    fn refuse_late(&mut self) {
        let is_late = |write: &&QueuedWrite| write.since.elapsed() > MAX_WAIT_ON_NODE;
        let count = self.waiting.iter().take_while(is_late).count();
        for write in self.waiting.drain(..count) {
            write.refuse("the write has waited for too long");
        }
    }
}

struct QueuedWrite {
    /// Runs the write and stores its result.
    run: Run,
    /// The changes of the write are rolled back, so a node runs it without the lock on the head.
    is_dry_run: bool,
    since: Instant,
    completion: Completion,
}

impl QueuedWrite {
    fn refuse(self, reason: &str) {
        self.completion.complete(Err(Arc::new(Error::Busy(reason.to_owned()))));
    }
}

/// What to do with the changes of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteOutcome {
    Keep,
    Undo,
    /// The disk is full.
    NoSpace,
}

impl GroupCommit {
    /// Starts the thread that writes.
    pub(super) fn start(
        connection: Connection,
        commit_state: Arc<CommitStateCache>,
        damage: Arc<Damage>,
        replica: Option<Replica>,
    ) -> Result<Self> {
        let writer = Arc::new(Writer {
            queue: Mutex::default(),
            woken: Condvar::new(),
            connection: Mutex::new(connection),
            commit_state,
            damage,
            replica,
            listeners: Mutex::default(),
            batches: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            busy: AtomicU64::new(0),
        });
        let shared = Arc::clone(&writer);
        let thread = thread::Builder::new().name("cms-writer".to_owned());
        let thread = thread.spawn(move || shared.run()).map_err(Error::from_io)?;
        Ok(Self { writer, thread: Some(thread) })
    }

    pub(super) fn on_commit(&self, listener: &Arc<dyn Fn() + Send + Sync>) {
        self.writer.listeners.lock().push(Arc::downgrade(listener));
    }

    pub(super) fn counts(&self) -> WriterCounts {
        WriterCounts {
            batches: self.writer.batches.load(Ordering::Relaxed),
            writes: self.writer.writes.load(Ordering::Relaxed),
            busy: Duration::from_nanos(self.writer.busy.load(Ordering::Relaxed)),
            waiting: self.writer.queue.lock().waiting.len(),
        }
    }

    /// Queues a write, which runs inside a transaction; its result comes after the commit. If too many
    /// writes wait, this one fails. The write of a dry run must always return an error: that rolls back its changes.
    /// Its result has to reach the caller in another way.
    pub(super) fn enqueue<T: Send + 'static>(
        &self,
        write: impl FnOnce(&WriteTransaction<'_>) -> Result<T> + Send + 'static,
        is_dry_run: bool,
    ) -> PendingCommit<T> {
        let (pending, result, completion) = pending_commit::new();
        let damage = Arc::clone(&self.writer.damage);
        let run = move |transaction: &WriteTransaction<'_>| {
            let value = damage.record_damage(write(transaction));
            let outcome = match &value {
                Ok(_) => WriteOutcome::Keep,
                Err(Error::NoSpace(_)) => WriteOutcome::NoSpace,
                Err(_) => WriteOutcome::Undo,
            };
            result.set(value);
            outcome
        };
        let since = Instant::now();
        let write = QueuedWrite { run: Box::new(run), is_dry_run, since, completion };
        let mut queue = self.writer.queue.lock();
        if queue.waiting.len() >= MAX_WAITING_WRITES {
            drop(queue);
            write.refuse("too many writes are waiting");
            return pending;
        }
        queue.waiting.push_back(write);
        let was_idle = std::mem::take(&mut queue.is_idle);
        drop(queue);
        if was_idle {
            self.writer.woken.notify_one();
        }
        pending
    }

    /// The replica, if this is the database of a node.
    pub(super) fn replica(&self) -> Option<&Replica> {
        self.writer.replica.as_ref()
    }

    /// Applies the commits of other nodes.
    pub(super) fn catch_up(&self) -> Result<()> {
        if let Some(replica) = self.replica()
            && replica.catch_up(&self.writer.connection)?
        {
            self.writer.notify_listeners();
        }
        Ok(())
    }

    /// Upgrades the cluster to the next schema.
    pub(super) fn upgrade(&self) -> Result<Option<i64>> {
        let Some(replica) = self.replica() else { return Ok(None) };
        let upgraded = replica.upgrade(&self.writer.connection)?;
        self.writer.notify_listeners();
        Ok(upgraded)
    }
}

impl Drop for GroupCommit {
    fn drop(&mut self) {
        self.writer.queue.lock().is_closed = true;
        self.writer.woken.notify_one();
        if let Some(thread) = self.thread.take() {
            // The thread does not panic: see `Writer::run`.
            thread.join().ok();
        }
    }
}

impl Writer {
    /// Runs batches until the queue is closed and empty.
    fn run(&self) {
        while self.wait_for_writes() {
            let ended = catch_unwind(AssertUnwindSafe(|| self.run_next_batch()));
            if ended.is_err() {
                // The writes that the batch took have failed. But the batch may have panicked before it took any write.
                // So the next waiting writes, up to the size of a batch, fail too: otherwise they could wait forever.
                drop(self.take_waiting(MAX_WRITES_PER_COMMIT));
            }
        }
    }

    /// Waits for a write; returns false if the queue is closed and empty.
    fn wait_for_writes(&self) -> bool {
        let mut queue = self.queue.lock();
        while queue.waiting.is_empty() && !queue.is_closed {
            queue.is_idle = true;
            self.woken.wait(&mut queue);
        }
        queue.is_idle = false;
        !queue.waiting.is_empty()
    }

    /// Notifies the listeners, and removes dropped ones.
    fn notify_listeners(&self) {
        self.listeners.lock().retain(|listener| {
            let listener = listener.upgrade();
            listener.inspect(|notify| notify()).is_some()
        });
    }

    /// Takes at most `max` waiting writes; on a node it stops before the next dry run.
    fn take_waiting(&self, max: usize) -> (Vec<Run>, Vec<Completion>) {
        let mut queue = self.queue.lock();
        if self.replica.is_some() {
            queue.refuse_late();
        }
        let waiting = queue.waiting.iter().take(max);
        let stops_at = |write: &&QueuedWrite| self.replica.is_some() && write.is_dry_run;
        let count = waiting.take_while(|write| !stops_at(write)).count();
        queue.take(count)
    }

    /// Takes the next write if it is a dry run of a node.
    fn take_dry_run(&self) -> Option<(Vec<Run>, Vec<Completion>)> {
        let mut queue = self.queue.lock();
        queue.waiting.front().is_some_and(|write| write.is_dry_run).then(|| queue.take(1))
    }

    /// Runs one batch and delivers the results.
    fn run_next_batch(&self) {
        let started = Instant::now();
        let mut completions = Vec::new();
        let mut take = || {
            let max = MAX_WRITES_PER_COMMIT - completions.len();
            let (runs, taken) = self.take_waiting(max);
            completions.extend(taken);
            runs
        };
        let outcome = match &self.replica {
            None => {
                let commit =
                    |transaction: &WriteTransaction<'_>| self.commit_state.commit(transaction);
                run_batch(&self.connection.lock(), &mut take, require_not_moved, commit)
            }
            Some(replica) => match self.take_dry_run() {
                Some((mut runs, taken)) => {
                    completions = taken;
                    replica.dry_run(&self.connection, &mut || std::mem::take(&mut runs))
                }
                // The lock comes first: writes that arrive while this node waits for it join the commit.
                None => replica
                    .lock_head()
                    .and_then(|head| replica.run(head, &self.connection, &mut take)),
            },
        };
        if completions.is_empty() && outcome.is_err() {
            // The batch has failed before it took the waiting writes: they fail with it.
            completions = self.take_waiting(MAX_WRITES_PER_COMMIT).1;
        }
        let outcome = self.damage.record_damage(outcome).map_err(Arc::new);
        let nanos = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.busy.fetch_add(nanos, Ordering::Relaxed);
        if outcome.is_ok() {
            self.batches.fetch_add(1, Ordering::Relaxed);
            self.writes.fetch_add(completions.len() as u64, Ordering::Relaxed);
        }
        for completion in completions {
            completion.complete(outcome.clone());
        }
        self.notify_listeners();
    }
}

pub(super) type Run = Box<dyn FnOnce(&WriteTransaction<'_>) -> WriteOutcome + Send>;

/// Returns waiting writes; empty if none waits or the batch is full.
pub(super) type NextWrites<'t> = dyn FnMut() -> Vec<Run> + 't;

/// Refuses to change a database whose content has moved to a cluster.
fn require_not_moved(transaction: &WriteTransaction<'_>) -> Result<()> {
    match moved_to(transaction)? {
        None => Ok(()),
        Some(_) => Err(Error::Conflict(
            "the content of this data directory has moved to a cluster: use its nodes, or \
             `cms cluster export` for a directory that can be changed"
                .to_owned(),
        )),
    }
}

/// Runs writes in one transaction, if `admit` allows it: each keeps or rolls back its own changes, and
/// one commit stores all of them.
fn run_batch(
    connection: &Connection,
    take: &mut NextWrites<'_>,
    admit: impl FnOnce(&WriteTransaction<'_>) -> Result<()>,
    commit: impl FnOnce(&WriteTransaction<'_>) -> Result<()>,
) -> Result<()> {
    let transaction = WriteTransaction(Reader::new(connection));
    transaction.execute("BEGIN IMMEDIATE", [])?;
    let ended =
        admit(&transaction).and_then(|()| run_writes(&transaction, take)).and_then(|succeeded| {
            if succeeded { commit(&transaction) } else { transaction.execute("ROLLBACK", []) }
        });
    if ended.is_err() && !connection.is_autocommit() {
        // Otherwise no other transaction could begin.
        transaction.execute("ROLLBACK", [])?;
    }
    ended
}

/// Runs the writes that wait, and those that arrive meanwhile: one commit stores all of them. Returns
/// whether any succeeded.
pub(super) fn run_writes(
    transaction: &WriteTransaction<'_>,
    take: &mut NextWrites<'_>,
) -> Result<bool> {
    let mut writes = take();
    let mut alone = writes.len() == 1;
    let mut succeeded = false;
    while !writes.is_empty() {
        for write in writes {
            succeeded |= run_write(transaction, write, alone)?;
        }
        if alone && !succeeded {
            // The write had no savepoint: only a rollback of the transaction undoes its changes.
            break;
        }
        alone = false;
        writes = take();
    }
    Ok(succeeded)
}

/// Runs a write in a savepoint, or in the transaction if it is alone; returns whether it succeeded.
fn run_write(transaction: &WriteTransaction<'_>, write: Run, alone: bool) -> Result<bool> {
    if !alone {
        transaction.execute("SAVEPOINT write", [])?;
    }
    let noted = transaction.capture.map(Capture::len);
    let outcome =
        catch_unwind(AssertUnwindSafe(|| write(transaction))).unwrap_or(WriteOutcome::Undo);
    let kept = outcome == WriteOutcome::Keep;
    if transaction.0.connection.is_autocommit() {
        // The database rolled back the complete transaction: disk full, or an I/O error.
        let reason = "the database rolled the transaction back";
        let is_full = outcome == WriteOutcome::NoSpace;
        return Err(if is_full { Error::NoSpace(reason.into()) } else { Error::internal(reason) });
    }
    if !alone {
        if !kept {
            transaction.execute("ROLLBACK TO write", [])?;
            if let (Some(capture), Some(noted)) = (transaction.capture, noted) {
                capture.truncate(noted);
            }
        }
        transaction.execute("RELEASE write", [])?;
    }
    Ok(kept)
}

#[cfg(test)]
mod tests;
