//! One writer, and commits that many callers share.
//!
//! A commit waits for the disk; that wait is the price of a durable write and the same for one row
//! or a hundred. So whoever finds the writer free becomes the leader: it runs all jobs that wait,
//! each in its own savepoint, commits once, and only then tells all of them. Jobs that arrive
//! meanwhile wait for the next leader, which is the first of them.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak},
};

use rusqlite::Connection;

use super::{Reader, Writer, error::map};
use crate::error::{Error, Result};

/// Most jobs in one commit, so that the first of them does not wait for ever.
const JOBS_PER_COMMIT: usize = 256;

pub(super) struct Writers {
    queue: Mutex<Queue>,
    /// Only the leader locks this, so nobody ever waits for it.
    connection: Mutex<Connection>,
    /// Who wants to know of commits.
    listeners: Mutex<Vec<Weak<dyn Fn() + Send + Sync>>>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Job>,
    has_leader: bool,
}

struct Job {
    /// Runs the job and keeps its result; tells whether the job succeeded.
    run: Box<dyn FnOnce(&Writer<'_>) -> bool + Send>,
    ticket: Arc<Ticket>,
}

/// Where a caller waits for its turn or its answer.
#[derive(Default)]
struct Ticket {
    turn: Mutex<Turn>,
    changed: Condvar,
}

#[derive(Default)]
enum Turn {
    #[default]
    Waiting,
    Lead,
    /// The batch ended; an error means that nothing of it was kept.
    Done(std::result::Result<(), Arc<Error>>),
}

impl Ticket {
    fn set(&self, turn: Turn) {
        *lock(&self.turn) = turn;
        self.changed.notify_one();
    }
}

impl Writers {
    pub(super) fn new(connection: Connection) -> Self {
        Self {
            queue: Mutex::default(),
            connection: Mutex::new(connection),
            listeners: Mutex::default(),
        }
    }

    pub(super) fn on_commit(&self, listener: &Arc<dyn Fn() + Send + Sync>) {
        lock(&self.listeners).push(Arc::downgrade(listener));
    }

    /// Runs a job inside a transaction and returns after the commit.
    pub(super) fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Writer<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let result = Arc::new(Mutex::new(None));
        let ticket = Arc::new(Ticket::default());
        let run = {
            let result = Arc::clone(&result);
            move |writer: &Writer<'_>| {
                let outcome = job(writer);
                let succeeded = outcome.is_ok();
                *lock(&result) = Some(outcome);
                succeeded
            }
        };
        let is_leader = {
            let mut queue = lock(&self.queue);
            queue.waiting.push_back(Job { run: Box::new(run), ticket: Arc::clone(&ticket) });
            !std::mem::replace(&mut queue.has_leader, true)
        };
        if is_leader {
            self.lead();
        }
        self.wait(&ticket).map_err(shared)?;
        let outcome = lock(&result).take();
        outcome.unwrap_or_else(|| Err(Error::internal("a write job panicked")))
    }

    /// Waits for the answer, and leads when it is this caller's turn.
    fn wait(&self, ticket: &Ticket) -> std::result::Result<(), Arc<Error>> {
        let mut turn = lock(&ticket.turn);
        loop {
            match std::mem::take(&mut *turn) {
                Turn::Done(outcome) => return outcome,
                Turn::Lead => {
                    drop(turn);
                    self.lead();
                    turn = lock(&ticket.turn);
                }
                Turn::Waiting => {
                    turn = ticket.changed.wait(turn).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    /// Tells those who listen, and forgets those who do not any more.
    fn tell(&self) {
        lock(&self.listeners).retain(|listener| {
            let listener = listener.upgrade();
            listener.inspect(|tell| tell()).is_some()
        });
    }

    /// Runs one batch, answers it, and hands the lead to the next caller that waits.
    fn lead(&self) {
        let jobs: Vec<Job> = {
            let mut queue = lock(&self.queue);
            let count = queue.waiting.len().min(JOBS_PER_COMMIT);
            queue.waiting.drain(..count).collect()
        };
        let (runs, tickets): (Vec<_>, Vec<_>) = jobs.into_iter().map(|j| (j.run, j.ticket)).unzip();
        let outcome = run_batch(&lock(&self.connection), runs).map_err(Arc::new);
        for ticket in tickets {
            ticket.set(Turn::Done(outcome.clone()));
        }
        self.tell();
        let mut queue = lock(&self.queue);
        match queue.waiting.front() {
            Some(next) => next.ticket.set(Turn::Lead),
            None => queue.has_leader = false,
        }
    }
}

type Run = Box<dyn FnOnce(&Writer<'_>) -> bool + Send>;

/// Runs jobs in one transaction: each keeps or undoes its own changes, one commit keeps them all.
fn run_batch(connection: &Connection, jobs: Vec<Run>) -> Result<()> {
    let writer = Writer(Reader(connection));
    execute(&writer, "BEGIN IMMEDIATE")?;
    let ended = run_jobs(&writer, jobs)
        .and_then(|succeeded| execute(&writer, if succeeded { "COMMIT" } else { "ROLLBACK" }));
    if ended.is_err() && !connection.is_autocommit() {
        // Else nobody could begin again.
        execute(&writer, "ROLLBACK")?;
    }
    ended
}

/// Tells whether any job succeeded.
fn run_jobs(writer: &Writer<'_>, jobs: Vec<Run>) -> Result<bool> {
    let alone = jobs.len() == 1;
    let mut succeeded = false;
    for job in jobs {
        if !alone {
            execute(writer, "SAVEPOINT job")?;
        }
        let kept = catch_unwind(AssertUnwindSafe(|| job(writer))).unwrap_or(false);
        succeeded |= kept;
        if writer.0.0.is_autocommit() {
            // The database gave the whole transaction up: disk full, or an I/O error.
            return Err(Error::internal("the database rolled the transaction back"));
        }
        if !alone {
            if !kept {
                execute(writer, "ROLLBACK TO job")?;
            }
            execute(writer, "RELEASE job")?;
        }
    }
    Ok(succeeded)
}

fn execute(writer: &Writer<'_>, sql: &str) -> Result<()> {
    writer.statement(sql)?.execute([]).map_err(map)?;
    Ok(())
}

/// The same error for every caller of a failed batch.
fn shared(error: Arc<Error>) -> Error {
    match &*error {
        Error::Busy(message) => Error::Busy(message.clone()),
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

impl std::error::Error for SharedError {}

/// A panic inside a lock leaves nothing half done that anybody would see: results are set whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(connection: &Connection) -> i64 {
        connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap()
    }

    fn insert(succeeds: bool) -> Run {
        Box::new(move |writer| {
            execute(writer, "INSERT INTO t VALUES (1)").unwrap();
            succeeds
        })
    }

    /// Whatever becomes of a batch, its transaction is over: the next one can begin.
    #[test]
    fn a_batch_ends_its_transaction() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE t (a)").unwrap();
        let panics = || -> Run { Box::new(|_| panic!("a job that panics")) };
        let spoils = |sql: &'static str| -> Run {
            Box::new(move |writer| {
                execute(writer, sql).unwrap();
                false
            })
        };
        // jobs, rows that they leave, whether the batch itself fails
        let batches: Vec<(Vec<Run>, i64, bool)> = vec![
            (vec![insert(true)], 1, false),
            (vec![insert(false)], 0, false),
            (vec![panics()], 0, false),
            (vec![insert(true), insert(false), panics(), insert(true)], 2, false),
            (vec![insert(false), insert(false)], 0, false),
            (vec![insert(true), spoils("ROLLBACK"), insert(true)], 0, true),
            (vec![insert(true), spoils("RELEASE job"), insert(true)], 0, true),
        ];
        for (index, (jobs, rows, fails)) in batches.into_iter().enumerate() {
            let before = count(&connection);
            assert_eq!(run_batch(&connection, jobs).is_err(), fails, "batch {index}");
            assert!(connection.is_autocommit(), "batch {index}");
            assert_eq!(count(&connection) - before, rows, "batch {index}");
        }
    }
}
