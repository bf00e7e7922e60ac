//! How far a long piece of work is, for whoever shows it meanwhile.

use std::sync::atomic::{AtomicU64, Ordering};

/// Parts done of a total; nothing is under way when there is no total.
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

    /// Returns what is done and what there is to do, while something is under way.
    pub(crate) fn get(&self) -> Option<(u64, u64)> {
        let (done, total) = (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed));
        (total > 0).then(|| (done.min(total), total))
    }
}
