//! Time as an input: points in time, and the clock.

use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use time::OffsetDateTime;

/// A point in time, in microseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Returns the seconds since the epoch. Dates in `internal` of an object have this resolution.
    pub fn seconds(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }

    /// Returns the first whole second at or after this point in time.
    pub fn seconds_rounded_up(self) -> i64 {
        self.seconds() + i64::from(self.0.rem_euclid(1_000_000) != 0)
    }

    /// Converts a time of the file system.
    pub fn of(time: SystemTime) -> Self {
        let nanos = OffsetDateTime::from(time).unix_timestamp_nanos();
        Self(i64::try_from(nanos / 1000).unwrap_or(i64::MAX))
    }

    /// Converts to a time for file systems and headers. A time before 1970 becomes 1970-01-01.
    pub fn system_time(self) -> SystemTime {
        let micros = u64::try_from(self.0).unwrap_or_default();
        SystemTime::UNIX_EPOCH + Duration::from_micros(micros)
    }
}

/// Source of the current time.
pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
}

/// A clock for tests that moves only by [`Self::advance`].
#[derive(Debug)]
pub struct FixedClock(Mutex<i64>);

impl FixedClock {
    /// Starts at `seconds` since the epoch.
    pub fn at(seconds: i64) -> Self {
        Self(Mutex::new(seconds * 1_000_000))
    }

    /// Moves the clock forward.
    pub fn advance(&self, seconds: i64) {
        *self.0.lock() += seconds * 1_000_000;
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp(*self.0.lock())
    }
}
