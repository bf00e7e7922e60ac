//! Group commit on the one connection that writes.
//!
//! A commit waits for the disk; that wait is the same for one row or a hundred. So the caller that
//! finds no leader becomes one: it runs all waiting writes and those that arrive meanwhile, each in
//! its own savepoint, commits once, and only then returns their results. Writes that arrive during
//! the commit wait for the next leader, which is the first of them.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use cms_model::error::{Error, Result};
use rusqlite::Connection;

use super::{
    Reader, WriteTransaction,
    cluster::{capture::Capture, replica::Replica},
    commit_state::CommitStateCache,
};

/// Maximum number of writes in one commit, so that the first of them does not wait indefinitely.
const MAX_WRITES_PER_COMMIT: usize = 256;

/// Maximum time that a write waits in the queue of a node, the same as for the lock on the head. So a node
/// that was paused does not carry out writes that their clients have given up.
const MAX_WAIT_ON_NODE: Duration = Duration::from_secs(10);

/// Runs the writes of all callers, one batch at a time.
pub(super) struct GroupCommit {
    queue: Mutex<Queue>,
    /// In a cluster, a thread that applies the commits of other nodes also locks this.
    connection: Mutex<Connection>,
    commit_state: Arc<CommitStateCache>,
    /// Set if the database is the replica of a node.
    replica: Option<Replica>,
    /// The commit listeners.
    listeners: Mutex<Vec<Weak<dyn Fn() + Send + Sync>>>,
    /// Number of batches, the writes in them, and their total duration in nanoseconds. Batches that were
    /// rolled back because no write succeeded, and dry runs of a node, count too.
    commits: AtomicU64,
    writes: AtomicU64,
    busy: AtomicU64,
}

/// Statistics of the writer, and the number of waiting writes.
#[derive(Clone, Copy, Debug)]
pub struct WriterCounts {
    pub commits: u64,
    pub writes: u64,
    pub busy: Duration,
    pub waiting: usize,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<PendingWrite>,
    has_leader: bool,
}

impl Queue {
    fn take(&mut self, count: usize) -> (Vec<Run>, Vec<Arc<Waiter>>) {
        self.waiting.drain(..count).map(|write| (write.run, write.waiter)).unzip()
    }

    /// Refuses the writes that have waited for too long on a node.
    fn refuse_late(&mut self) {
        let is_late = |write: &&PendingWrite| write.since.elapsed() > MAX_WAIT_ON_NODE;
        let count = self.waiting.iter().take_while(is_late).count();
        for write in self.waiting.drain(..count) {
            let error = Error::Busy("the write has waited for too long".to_owned());
            write.waiter.set(WaiterState::Done(Err(Arc::new(error))));
        }
    }
}

struct PendingWrite {
    /// Runs the write and stores its result.
    run: Run,
    /// It keeps nothing: a node needs no lock on the head for it.
    is_dry_run: bool,
    since: Instant,
    waiter: Arc<Waiter>,
}

/// What to do with the changes of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteOutcome {
    Keep,
    Undo,
    /// The disk is full.
    NoSpace,
}

/// The slot in which a caller waits for its result or the lead.
#[derive(Default)]
struct Waiter {
    state: Mutex<WaiterState>,
    changed: Condvar,
}

#[derive(Default)]
enum WaiterState {
    #[default]
    Waiting,
    Lead,
    /// The batch ended; an error means that it was rolled back.
    Done(std::result::Result<(), Arc<Error>>),
}

impl Waiter {
    fn set(&self, state: WaiterState) {
        *lock(&self.state) = state;
        self.changed.notify_one();
    }
}

impl GroupCommit {
    pub(super) fn new(
        connection: Connection,
        commit_state: Arc<CommitStateCache>,
        replica: Option<Replica>,
    ) -> Self {
        Self {
            queue: Mutex::default(),
            connection: Mutex::new(connection),
            commit_state,
            replica,
            listeners: Mutex::default(),
            commits: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            busy: AtomicU64::new(0),
        }
    }

    pub(super) fn on_commit(&self, listener: &Arc<dyn Fn() + Send + Sync>) {
        lock(&self.listeners).push(Arc::downgrade(listener));
    }

    pub(super) fn counts(&self) -> WriterCounts {
        WriterCounts {
            commits: self.commits.load(Ordering::Relaxed),
            writes: self.writes.load(Ordering::Relaxed),
            busy: Duration::from_nanos(self.busy.load(Ordering::Relaxed)),
            waiting: lock(&self.queue).waiting.len(),
        }
    }

    /// Runs a write inside a transaction and returns after the commit.
    pub(super) fn run<T: Send + 'static>(
        &self,
        write: impl FnOnce(&WriteTransaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.enqueue(write, false)
    }

    /// Runs a write that must return an error, so that its changes are always rolled back.
    pub(super) fn dry_run<T: Send + 'static>(
        &self,
        write: impl FnOnce(&WriteTransaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.enqueue(write, true)
    }

    fn enqueue<T: Send + 'static>(
        &self,
        write: impl FnOnce(&WriteTransaction<'_>) -> Result<T> + Send + 'static,
        is_dry_run: bool,
    ) -> Result<T> {
        let result = Arc::new(Mutex::new(None));
        let waiter = Arc::new(Waiter::default());
        let run = {
            let result = Arc::clone(&result);
            move |writer: &WriteTransaction<'_>| {
                let value = write(writer);
                let outcome = match &value {
                    Ok(_) => WriteOutcome::Keep,
                    Err(Error::NoSpace(_)) => WriteOutcome::NoSpace,
                    Err(_) => WriteOutcome::Undo,
                };
                *lock(&result) = Some(value);
                outcome
            }
        };
        let is_leader = {
            let mut queue = lock(&self.queue);
            let (run, waiter) = (Box::new(run), Arc::clone(&waiter));
            let since = Instant::now();
            queue.waiting.push_back(PendingWrite { run, is_dry_run, since, waiter });
            !std::mem::replace(&mut queue.has_leader, true)
        };
        if is_leader {
            self.lead();
        }
        self.wait(&waiter).map_err(shared)?;
        let outcome = lock(&result).take();
        outcome.unwrap_or_else(|| Err(Error::internal("a write panicked")))
    }

    /// Waits for the result, and runs the next batch if this caller becomes the leader.
    fn wait(&self, waiter: &Waiter) -> std::result::Result<(), Arc<Error>> {
        let mut state = lock(&waiter.state);
        loop {
            match std::mem::take(&mut *state) {
                WaiterState::Done(outcome) => return outcome,
                WaiterState::Lead => {
                    drop(state);
                    self.lead();
                    state = lock(&waiter.state);
                }
                WaiterState::Waiting => {
                    state = waiter.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    /// Notifies the listeners, and removes dropped ones.
    fn notify_listeners(&self) {
        lock(&self.listeners).retain(|listener| {
            let listener = listener.upgrade();
            listener.inspect(|notify| notify()).is_some()
        });
    }

    /// The cluster side of the database, if it is the replica of a node.
    pub(super) fn replica(&self) -> Option<&Replica> {
        self.replica.as_ref()
    }

    /// Applies the commits of other nodes.
    pub(super) fn catch_up(&self) -> Result<()> {
        if let Some(replica) = &self.replica
            && replica.catch_up(&self.connection)?
        {
            self.notify_listeners();
        }
        Ok(())
    }

    /// Moves a cluster to the next schema.
    pub(super) fn upgrade(&self) -> Result<Option<i64>> {
        let Some(replica) = &self.replica else { return Ok(None) };
        let upgraded = replica.upgrade(&self.connection)?;
        self.notify_listeners();
        Ok(upgraded)
    }

    /// Takes at most `max` waiting writes; on a node it stops before the next dry run.
    fn take_waiting(&self, max: usize) -> (Vec<Run>, Vec<Arc<Waiter>>) {
        let mut queue = lock(&self.queue);
        if self.replica.is_some() {
            queue.refuse_late();
        }
        let waiting = queue.waiting.iter().take(max);
        let stops_at = |write: &&PendingWrite| self.replica.is_some() && write.is_dry_run;
        let count = waiting.take_while(|write| !stops_at(write)).count();
        queue.take(count)
    }

    /// Takes the next write if it is a dry run of a node.
    fn take_dry_run(&self) -> Option<(Vec<Run>, Vec<Arc<Waiter>>)> {
        let mut queue = lock(&self.queue);
        queue.waiting.front().is_some_and(|write| write.is_dry_run).then(|| queue.take(1))
    }

    /// Runs one batch, delivers the results, and passes the lead to the next waiting caller.
    fn lead(&self) {
        let started = Instant::now();
        let mut waiters = Vec::new();
        let mut take = || {
            let max = MAX_WRITES_PER_COMMIT - waiters.len();
            let (runs, taken) = self.take_waiting(max);
            waiters.extend(taken);
            runs
        };
        let outcome = match &self.replica {
            None => {
                let commit = |writer: &WriteTransaction<'_>| self.commit_state.commit(writer);
                run_batch(&lock(&self.connection), &mut take, require_not_moved, commit)
            }
            Some(replica) => match self.take_dry_run() {
                Some((mut runs, taken)) => {
                    waiters = taken;
                    replica.dry_run(&self.connection, &mut || std::mem::take(&mut runs))
                }
                // Before the writes are taken: more of them arrive while this node waits for the lock.
                None => replica
                    .lock_head()
                    .and_then(|head| replica.run(head, &self.connection, &mut take)),
            },
        };
        if waiters.is_empty() && outcome.is_err() {
            // The batch has failed before it took writes: they fail with it.
            waiters = self.take_waiting(MAX_WRITES_PER_COMMIT).1;
        }
        let outcome = outcome.map_err(Arc::new);
        let nanos = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.busy.fetch_add(nanos, Ordering::Relaxed);
        if outcome.is_ok() {
            self.commits.fetch_add(1, Ordering::Relaxed);
            self.writes.fetch_add(waiters.len() as u64, Ordering::Relaxed);
        }
        for waiter in waiters {
            waiter.set(WaiterState::Done(outcome.clone()));
        }
        self.notify_listeners();
        let mut queue = lock(&self.queue);
        match queue.waiting.front() {
            Some(next) => next.waiter.set(WaiterState::Lead),
            None => queue.has_leader = false,
        }
    }
}

pub(super) type Run = Box<dyn FnOnce(&WriteTransaction<'_>) -> WriteOutcome + Send>;

/// Returns waiting writes; empty if none waits or the batch is full.
pub(super) type Take<'t> = dyn FnMut() -> Vec<Run> + 't;

/// Refuses to change a database whose content has moved to a cluster.
fn require_not_moved(writer: &WriteTransaction<'_>) -> Result<()> {
    let cluster: Option<String> = writer.query_value("SELECT cluster FROM local", [])?;
    match cluster {
        None => Ok(()),
        Some(_) => Err(Error::Busy(
            "the content of this data directory has moved to a cluster: use its nodes, or \
             `cms cluster export` for a directory that can be changed"
                .to_owned(),
        )),
    }
}

/// Runs writes in one transaction, if `admit` allows it: each keeps or rolls back its own changes, one commit stores them
/// all.
fn run_batch(
    connection: &Connection,
    take: &mut Take<'_>,
    admit: impl FnOnce(&WriteTransaction<'_>) -> Result<()>,
    commit: impl FnOnce(&WriteTransaction<'_>) -> Result<()>,
) -> Result<()> {
    let writer = WriteTransaction(Reader::new(connection));
    writer.execute("BEGIN IMMEDIATE", [])?;
    let ended = admit(&writer).and_then(|()| run_writes(&writer, take)).and_then(|succeeded| {
        if succeeded { commit(&writer) } else { writer.execute("ROLLBACK", []) }
    });
    if ended.is_err() && !connection.is_autocommit() {
        // Otherwise no other transaction could begin.
        writer.execute("ROLLBACK", [])?;
    }
    ended
}

/// Runs the writes that wait, and those that arrive meanwhile: one commit stores all of them. Returns
/// whether any succeeded.
pub(super) fn run_writes(writer: &WriteTransaction<'_>, take: &mut Take<'_>) -> Result<bool> {
    let mut writes = take();
    let mut alone = writes.len() == 1;
    let mut succeeded = false;
    while !writes.is_empty() {
        for write in writes {
            succeeded |= run_write(writer, write, alone)?;
        }
        if alone && !succeeded {
            // Without a savepoint, only the end of the transaction takes its changes back.
            break;
        }
        alone = false;
        writes = take();
    }
    Ok(succeeded)
}

/// Runs a write in a savepoint, or in the transaction if it is alone; returns whether it succeeded.
fn run_write(writer: &WriteTransaction<'_>, write: Run, alone: bool) -> Result<bool> {
    if !alone {
        writer.execute("SAVEPOINT write", [])?;
    }
    let noted = writer.capture.map(Capture::len);
    let outcome = catch_unwind(AssertUnwindSafe(|| write(writer))).unwrap_or(WriteOutcome::Undo);
    let kept = outcome == WriteOutcome::Keep;
    if writer.0.connection.is_autocommit() {
        // The database rolled back the complete transaction: disk full, or an I/O error.
        let reason = "the database rolled the transaction back";
        let is_full = outcome == WriteOutcome::NoSpace;
        return Err(if is_full { Error::NoSpace(reason.into()) } else { Error::internal(reason) });
    }
    if !alone {
        if !kept {
            writer.execute("ROLLBACK TO write", [])?;
            if let (Some(capture), Some(noted)) = (writer.capture, noted) {
                capture.truncate(noted);
            }
        }
        writer.execute("RELEASE write", [])?;
    }
    Ok(kept)
}

/// The same error for every caller of a failed batch.
fn shared(error: Arc<Error>) -> Error {
    match &*error {
        Error::Busy(message) => Error::Busy(message.clone()),
        Error::OutcomeUnknown => Error::OutcomeUnknown,
        Error::NoSpace(_) => Error::NoSpace(Box::new(SharedError(error))),
        _ => Error::Internal(Box::new(SharedError(error))),
    }
}

#[derive(Debug)]
struct SharedError(Arc<Error>);

impl std::fmt::Display for SharedError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match std::error::Error::source(&*self.0) {
            Some(source) => write!(f, "the commit failed: {source}"),
            None => write!(f, "the commit failed: {}", self.0),
        }
    }
}

impl std::error::Error for SharedError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.0)
    }
}

/// A panic inside a lock leaves no partial state: results are set completely.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(connection: &Connection) -> i64 {
        connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap()
    }

    /// Takes these writes, and then none.
    fn once(mut writes: Vec<Run>) -> impl FnMut() -> Vec<Run> {
        move || std::mem::take(&mut writes)
    }

    fn insert(succeeds: bool) -> Run {
        Box::new(move |writer| {
            writer.execute("INSERT INTO t VALUES (1)", []).unwrap();
            if succeeds { WriteOutcome::Keep } else { WriteOutcome::Undo }
        })
    }

    #[test]
    fn write_that_has_waited_for_too_long_is_refused() {
        let mut queue = Queue::default();
        let waiters = [20, 11, 9].map(|seconds| {
            let waiter = Arc::new(Waiter::default());
            queue.waiting.push_back(PendingWrite {
                run: insert(true),
                is_dry_run: false,
                since: Instant::now().checked_sub(Duration::from_secs(seconds)).unwrap(),
                waiter: Arc::clone(&waiter),
            });
            waiter
        });
        queue.refuse_late();
        let is_refused = |waiter: &Arc<Waiter>| match &*lock(&waiter.state) {
            WaiterState::Done(Err(error)) => matches!(**error, Error::Busy(_)),
            _ => false,
        };
        assert_eq!(waiters.each_ref().map(is_refused), [true, true, false]);
        assert_eq!(queue.waiting.len(), 1);
    }

    fn commit(writer: &WriteTransaction<'_>) -> Result<()> {
        writer.execute("COMMIT", [])
    }

    /// The transaction ends with its batch in every case: the next one can begin.
    #[test]
    fn batch_always_ends_its_transaction() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE t (a)").unwrap();
        let panics = || -> Run { Box::new(|_| panic!("a write that panics")) };
        let spoils = |sql: &'static str| -> Run {
            Box::new(move |writer| {
                writer.execute(sql, []).unwrap();
                WriteOutcome::Undo
            })
        };
        // writes, rows that they leave, whether the batch itself fails
        let batches: Vec<(Vec<Run>, i64, bool)> = vec![
            (vec![insert(true)], 1, false),
            (vec![insert(false)], 0, false),
            (vec![panics()], 0, false),
            (vec![insert(true), insert(false), panics(), insert(true)], 2, false),
            (vec![insert(false), insert(false)], 0, false),
            (vec![insert(true), spoils("ROLLBACK"), insert(true)], 0, true),
            (vec![insert(true), spoils("RELEASE write"), insert(true)], 0, true),
        ];
        for (index, (writes, rows, fails)) in batches.into_iter().enumerate() {
            let before = count(&connection);
            assert_eq!(
                run_batch(&connection, &mut once(writes), |_| Ok(()), commit).is_err(),
                fails,
                "batch {index}"
            );
            assert!(connection.is_autocommit(), "batch {index}");
            assert_eq!(count(&connection) - before, rows, "batch {index}");
        }
    }

    /// A full disk is never reported as success, and writes work again once there is space.
    #[test]
    fn full_disk_is_reported_and_recovers() {
        let folder = tempfile::tempdir().unwrap();
        let connection = Connection::open(folder.path().join("t.db")).unwrap();
        connection.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (a)").unwrap();
        let limit = |pages: u32| {
            let sql = format!("PRAGMA max_page_count = {pages}");
            connection.query_row(&sql, [], |_| Ok(())).unwrap();
        };
        limit(4);
        let grow = || -> Run {
            Box::new(|writer| match writer.execute("INSERT INTO t VALUES (zeroblob(100000))", []) {
                Ok(()) => WriteOutcome::Keep,
                Err(Error::NoSpace(_)) => WriteOutcome::NoSpace,
                Err(error) => panic!("{error:?}"),
            })
        };
        for writes in [vec![grow()], vec![insert(true), grow(), insert(true)]] {
            let before = count(&connection);
            let several = writes.len() > 1;
            match run_batch(&connection, &mut once(writes), |_| Ok(()), commit) {
                Ok(()) => assert_eq!(count(&connection) - before, i64::from(several) * 2),
                Err(Error::NoSpace(_)) => assert_eq!(count(&connection), before),
                Err(error) => panic!("{error:?}"),
            }
            assert!(connection.is_autocommit());
        }
        limit(10_000);
        let before = count(&connection);
        run_batch(&connection, &mut once(vec![insert(true), grow()]), |_| Ok(()), commit).unwrap();
        assert_eq!(count(&connection) - before, 2);
    }
}
