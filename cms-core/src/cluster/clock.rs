//! The clock of a node: that of its machine, corrected by that of the shared database.
//!
//! The node that writes an object sets its dates. If the clocks of two nodes differed,
//! `removed?deletedAfter=` would miss deletions, and scheduled objects would be published too early or
//! too late.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use cms_model::{
    clock::{Clock, Timestamp},
    error::Result,
};

/// A difference that is logged, in microseconds.
const SKEW: u64 = 1_000_000;

/// The time of the shared database, as far as this node knows it.
pub(crate) struct ClusterClock {
    clock: Arc<dyn Clock>,
    /// Microseconds that the shared database is ahead.
    offset: AtomicI64,
}

impl ClusterClock {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, offset: AtomicI64::new(0) }
    }

    /// Corrects the offset by a request whose response is the time of the shared database.
    pub(super) fn compare(&self, request: impl FnOnce() -> Result<Timestamp>) -> Result<()> {
        let before = self.clock.now().0;
        let there = request()?.0;
        let after = self.clock.now().0;
        // The response was made at some time between the two.
        let (least, most) = (there.saturating_sub(after), there.saturating_sub(before));
        let offset = self.offset.load(Ordering::Relaxed);
        // A clock that was set meanwhile says nothing.
        if least <= most && !(least..=most).contains(&offset) {
            let middle = least.midpoint(most);
            self.offset.store(middle, Ordering::Relaxed);
            if middle.unsigned_abs() > SKEW && offset.unsigned_abs() <= SKEW {
                tracing::warn!(
                    seconds = middle / 1_000_000,
                    "clock skew: dates are those of the database; synchronise the clock of this machine"
                );
            }
        }
        Ok(())
    }

    /// Returns how far the shared database is ahead, in seconds.
    pub(crate) fn offset_seconds(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "exact for a hundred years")]
        let micros = self.offset.load(Ordering::Relaxed) as f64;
        micros / 1_000_000.0
    }
}

impl Clock for ClusterClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.clock.now().0.saturating_add(self.offset.load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use cms_model::clock::FixedClock;

    use super::*;

    #[test]
    fn clock_follows_the_shared_database_within_the_round_trip() {
        let machine = Arc::new(FixedClock::at(1000));
        let clock = ClusterClock::new(Arc::clone(&machine) as _);
        // Seconds of the round trip, time of the response, time afterwards.
        for (round_trip, there, now) in [
            // Unknown within the round trip, so nothing changes.
            (10, 1005, 1010),
            (0, 1020, 1020),
            // It is ahead by 16 to 26 s.
            (10, 1036, 1041),
            (0, 900, 900),
        ] {
            let asked = clock.compare(|| {
                machine.advance(round_trip);
                Ok(Timestamp(there * 1_000_000))
            });
            asked.unwrap();
            assert_eq!(clock.now().seconds(), now, "{there}");
        }
    }
}
