//! The result of a queued write. Threads and tasks wait for it until the write is committed.

use std::{
    mem,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

use cms_model::error::{Error, Result};
use parking_lot::Mutex;
use tracing::{Span, info_span};

use super::TRACE_TARGET;

/// A write whose changes are not committed yet. The write runs even if this is dropped.
#[must_use = "the write has not succeeded before its commit"]
pub struct PendingCommit<T> {
    result: ResultCell<T>,
    state: Arc<Mutex<State>>,
    /// Ends when this is dropped.
    _span: Span,
}

/// Where the write stores its result before the commit. The result is set in one assignment, so a panic
/// leaves no partial result.
pub(super) struct ResultCell<T>(Arc<Mutex<Option<Result<T>>>>);

impl<T> ResultCell<T> {
    pub(super) fn set(&self, result: Result<T>) {
        *self.0.lock() = Some(result);
    }
}

/// Completes a write. If it is dropped instead, the waiting caller gets an error.
pub(super) struct Completion(Option<Arc<Mutex<State>>>);

/// The outcome of a batch of writes; an error means that the batch was rolled back.
type BatchOutcome = std::result::Result<(), Arc<Error>>;

enum State {
    /// The waker of the thread or task that waits.
    Waiting(Option<Waker>),
    Completed(BatchOutcome),
}

/// Creates a pending write, and the parts that complete it.
pub(super) fn new<T>() -> (PendingCommit<T>, ResultCell<T>, Completion) {
    let result = Arc::default();
    let state = Arc::new(Mutex::new(State::Waiting(None)));
    let pending = PendingCommit {
        result: ResultCell(Arc::clone(&result)),
        state: Arc::clone(&state),
        _span: info_span!(target: TRACE_TARGET, "commit"),
    };
    (pending, ResultCell(result), Completion(Some(state)))
}

impl<T> PendingCommit<T> {
    /// A result that needs no commit.
    pub fn completed(result: Result<T>) -> Self {
        let (pending, cell, completion) = new();
        cell.set(result);
        completion.complete(Ok(()));
        pending
    }

    /// Blocks the thread until the commit.
    pub fn wait(mut self) -> Result<T> {
        let waker = Waker::from(Arc::new(WakeThread(thread::current())));
        let mut context = Context::from_waker(&waker);
        loop {
            match Pin::new(&mut self).poll(&mut context) {
                Poll::Ready(result) => return result,
                Poll::Pending => thread::park(),
            }
        }
    }

    fn take(&self, outcome: BatchOutcome) -> Result<T> {
        outcome.map_err(shared)?;
        let result = self.result.0.lock().take();
        result.unwrap_or_else(|| Err(Error::internal("a write panicked")))
    }
}

impl<T> Future for PendingCommit<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        let mut state = self.state.lock();
        match &mut *state {
            State::Completed(outcome) => {
                let outcome = outcome.clone();
                drop(state);
                Poll::Ready(self.take(outcome))
            }
            State::Waiting(waker) => {
                *waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Completion {
    pub(super) fn complete(mut self, outcome: BatchOutcome) {
        self.set(|| outcome);
    }

    /// Sets the outcome, unless there is one.
    fn set(&mut self, outcome: impl FnOnce() -> BatchOutcome) {
        let Some(state) = self.0.take() else { return };
        let before = mem::replace(&mut *state.lock(), State::Completed(outcome()));
        if let State::Waiting(Some(waker)) = before {
            waker.wake();
        }
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        self.set(|| Err(Arc::new(Error::internal("a batch of writes panicked"))));
    }
}

struct WakeThread(Thread);

impl Wake for WakeThread {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The same error for every caller of a failed batch.
fn shared(error: Arc<Error>) -> Error {
    match &*error {
        Error::Busy(message) => Error::Busy(message.clone()),
        Error::Conflict(message) => Error::Conflict(message.clone()),
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

#[cfg(test)]
mod tests {
    use std::{pin::pin, time::Duration};

    use super::*;

    #[test]
    fn thread_waits_for_the_commit() {
        let (pending, result, completion) = new();
        let writer = thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            result.set(Ok(7));
            completion.complete(Ok(()));
        });
        assert_eq!(pending.wait().unwrap(), 7);
        writer.join().unwrap();
        assert_eq!(PendingCommit::completed(Ok(8)).wait().unwrap(), 8);
    }

    #[test]
    fn task_is_woken_by_the_commit_and_not_by_the_result() {
        struct Count(Mutex<usize>);
        impl Wake for Count {
            fn wake(self: Arc<Self>) {
                *self.0.lock() += 1;
            }
        }
        let count = Arc::new(Count(Mutex::new(0)));
        let waker = Waker::from(Arc::clone(&count));
        let (pending, result, completion) = new();
        let mut pending = pin!(pending);
        let mut poll = || pending.as_mut().poll(&mut Context::from_waker(&waker));
        assert!(poll().is_pending());
        result.set(Ok(7));
        assert!(poll().is_pending());
        assert_eq!(*count.0.lock(), 0);
        completion.complete(Ok(()));
        assert_eq!(*count.0.lock(), 1);
        assert!(matches!(poll(), Poll::Ready(Ok(7))));
    }

    #[test]
    fn write_fails_with_its_batch_or_without_a_result() {
        type Ending = Box<dyn FnOnce(ResultCell<u8>, Completion)>;
        let endings: [(Ending, &str); 3] = [
            (
                Box::new(|result, completion| {
                    result.set(Ok(7));
                    completion.complete(Err(Arc::new(Error::Busy("late".to_owned()))));
                }),
                "late",
            ),
            (Box::new(|_, completion| completion.complete(Ok(()))), "a write panicked"),
            (Box::new(|result, _| result.set(Ok(7))), "a batch of writes panicked"),
        ];
        for (end, expected) in endings {
            let (pending, result, completion) = new();
            end(result, completion);
            let error = pending.wait().unwrap_err();
            assert!(format!("{error:?}").contains(expected), "{error:?}");
        }
    }
}
