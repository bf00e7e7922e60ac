//! The deadline of a search.

use std::{cell::Cell, time::Instant};

use cms_model::limits;

/// The deadline of one search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline(Instant);

impl Deadline {
    pub(super) fn from_now() -> Self {
        Self(Instant::now() + limits::READ_TIMEOUT)
    }

    #[cfg(test)]
    pub(super) fn passed() -> Self {
        Self(Instant::now())
    }

    pub(super) fn is_over(self) -> bool {
        Instant::now() > self.0
    }
}

/// Checks a deadline only occasionally, because reading the clock costs time.
pub(super) struct DeadlineClock {
    deadline: Deadline,
    ticks: Cell<u32>,
    is_over: Cell<bool>,
}

impl DeadlineClock {
    const TICKS_PER_CLOCK_READ: u32 = 4096;

    pub(super) fn new(deadline: Deadline) -> Self {
        Self { deadline, ticks: Cell::new(0), is_over: Cell::new(false) }
    }

    /// As [`Self::is_over`], but reads the clock only every few thousand calls: cheap enough to be
    /// called for each document.
    pub(super) fn is_over_sampled(&self) -> bool {
        let ticks = self.ticks.get() + 1;
        self.ticks.set(ticks % Self::TICKS_PER_CLOCK_READ);
        if ticks == Self::TICKS_PER_CLOCK_READ { self.is_over() } else { self.is_over.get() }
    }

    /// Reads the clock.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.set(self.is_over.get() || self.deadline.is_over());
        self.is_over.get()
    }
}
