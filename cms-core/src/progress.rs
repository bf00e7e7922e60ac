//! The progress of a plan or an apply of content types, and the request to cancel a plan or a check.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use cms_model::{
    error::{Error, Result},
    wire::plan::{PlanPhase, PlanProgress},
};
use parking_lot::Mutex;

/// Interval of log lines about a long change.
const LOG_INTERVAL: Duration = Duration::from_secs(10);
/// Objects between two checks of that interval.
const OBJECTS_PER_LOG_CHECK: u64 = 1024;

/// Shared by the thread that reads objects and the threads that show its progress.
#[derive(Debug, Default)]
pub struct Progress {
    current: Mutex<Option<CurrentType>>,
    is_cancelled: AtomicBool,
}

/// The type whose objects are read, or were read last.
#[derive(Debug)]
struct CurrentType {
    progress: PlanProgress,
    /// Time of the last log line, or of the start.
    logged: Instant,
}

impl Progress {
    /// Returns the progress; none before the first object is read.
    pub fn get(&self) -> Option<PlanProgress> {
        self.current.lock().as_ref().map(|current| current.progress.clone())
    }

    /// Sets the progress.
    pub fn set(&self, progress: PlanProgress) {
        *self.current.lock() = Some(CurrentType { progress, logged: Instant::now() });
    }

    /// Makes a plan fail at its next object, and a check within a second. An apply continues.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    /// # Errors
    /// [`Error::Busy`] when it is cancelled.
    pub fn ensure_running(&self) -> Result<()> {
        if self.is_cancelled() {
            return Err(Error::Busy("the request was cancelled".to_owned()));
        }
        Ok(())
    }

    pub(crate) fn start(&self, content_type: &str, total: u64) {
        let content_type = content_type.to_owned();
        self.set(PlanProgress { content_type, phase: PlanPhase::Objects, done: 0, total });
    }

    /// Counts one object.
    pub(crate) fn advance(&self) {
        let mut current = self.current.lock();
        let Some(CurrentType { progress, logged }) = &mut *current else { return };
        progress.done += 1;
        let PlanProgress { content_type, done, total, .. } = progress;
        if *done % OBJECTS_PER_LOG_CHECK == 0 && logged.elapsed() >= LOG_INTERVAL {
            *logged = Instant::now();
            tracing::info!(content_type, done, total, "content type change in progress");
        }
    }
}
