//! The clock of the machine: nothing else in the project asks the system what time it is.

use std::time::SystemTime;

use cms_model::clock::{Clock, Timestamp};

/// The clock of the machine.
#[derive(Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the system clock")]
    fn now(&self) -> Timestamp {
        Timestamp::of(SystemTime::now())
    }
}
