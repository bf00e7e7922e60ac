//! The system clock: no other code of the project reads the system time.

use std::time::SystemTime;

use cms_model::clock::{Clock, Timestamp};

/// The system clock.
#[derive(Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the system clock")]
    fn now(&self) -> Timestamp {
        Timestamp::of(SystemTime::now())
    }
}
