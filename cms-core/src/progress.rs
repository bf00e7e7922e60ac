//! The progress of a long operation.

use std::sync::atomic::{AtomicU64, Ordering};

/// Completed steps of a total; no operation runs while the total is 0.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    done: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    pub(crate) fn start(&self, total: u64) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    pub(crate) fn advance(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn end(&self) {
        self.total.store(0, Ordering::Relaxed);
    }

    /// Returns completed and total steps while an operation runs.
    pub(crate) fn get(&self) -> Option<(u64, u64)> {
        let (done, total) = (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed));
        (total > 0).then(|| (done.min(total), total))
    }
}
