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

/// A larger difference is logged, in microseconds.
const MIN_SKEW_MICROS: u64 = 1_000_000;

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
        let remote = request()?.0;
        let after = self.clock.now().0;
        // The shared database read its clock at some time between the two.
        let (min, max) = (remote.saturating_sub(after), remote.saturating_sub(before));
        let offset = self.offset.load(Ordering::Relaxed);
        // If the clock of this machine was set back meanwhile, the comparison is not used.
        if min <= max && !(min..=max).contains(&offset) {
            let middle = min.midpoint(max);
            self.offset.store(middle, Ordering::Relaxed);
            if middle.unsigned_abs() > MIN_SKEW_MICROS && offset.unsigned_abs() <= MIN_SKEW_MICROS {
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
            // An offset of 0 is possible within this round trip, so nothing changes.
            (10, 1005, 1010),
            (0, 1020, 1020),
            // The database is ahead by 16 to 26 s.
            (10, 1036, 1041),
            (0, 900, 900),
        ] {
            let compared = clock.compare(|| {
                machine.advance(round_trip);
                Ok(Timestamp(there * 1_000_000))
            });
            compared.unwrap();
            assert_eq!(clock.now().seconds(), now, "{there}");
        }
    }
}
