//! The minimum transfer rate of clients that send a request body or read a response. All such rules
//! are here.
//!
//! Only time in which the server waits for the client counts.

use std::time::Duration;

/// Maximum time without any byte sent or read by the client.
pub(crate) const STALL_TIMEOUT: Duration = Duration::from_mins(1);
/// The same while the memory for responses is scarce.
pub(crate) const SCARCE_STALL_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of a request body or a response above which a client uses a large part of the memory that all clients share.
pub(crate) const LARGE_BYTES: usize = 1024 * 1024;

/// Waiting time that a client may take beyond what the minimum rate allows: connections can stall for some time.
const WAIT_ALLOWANCE: Duration = Duration::from_secs(30);
/// Factor of the minimum rate for a client that holds [`LARGE_BYTES`] or more.
const LARGE_RATE_FACTOR: u64 = 32;

/// The minimum transfer rate of a client, in bytes per second; 0 for no minimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MinTransferRate(pub(crate) u64);

/// The transfer rate of a client so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransferRate {
    configured: MinTransferRate,
    /// The transfer rate that the client must reach now.
    required: u64,
    bytes: u64,
    waited: Duration,
    /// Waiting time since the last byte.
    stalled: Duration,
}

impl MinTransferRate {
    pub(crate) fn start(self) -> TransferRate {
        let (waited, stalled) = (Duration::ZERO, Duration::ZERO);
        TransferRate { configured: self, required: self.0, bytes: 0, waited, stalled }
    }
}

impl TransferRate {
    /// Sets the bytes of memory that the client occupies in this process. A change of the required rate
    /// restarts the average.
    pub(crate) fn set_held_bytes(&mut self, bytes: usize) {
        let factor = if bytes >= LARGE_BYTES { LARGE_RATE_FACTOR } else { 1 };
        let required = self.configured.0.saturating_mul(factor);
        if required != self.required {
            let stalled = self.stalled;
            *self = Self { required, stalled, ..self.configured.start() };
        }
    }

    /// Records a transfer of this many bytes after this waiting time.
    pub(crate) fn record(&mut self, bytes: usize, waited: Duration) {
        self.bytes += bytes as u64;
        self.waited += waited;
        self.stalled = if bytes == 0 { self.stalled + waited } else { Duration::ZERO };
    }

    /// Returns how much longer the server waits for the client; zero when it is too slow.
    pub(crate) fn time_left(&self, stall_timeout: Duration) -> Duration {
        let until_stalled = stall_timeout.saturating_sub(self.stalled);
        if self.required == 0 {
            return until_stalled;
        }
        let seconds = Duration::from_secs(self.bytes / self.required);
        let rest = Duration::from_millis(self.bytes % self.required * 1000 / self.required);
        (WAIT_ALLOWANCE + seconds + rest).saturating_sub(self.waited).min(until_stalled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn slow_transfer_runs_out_of_time() {
        let mut transfer = MinTransferRate(1000).start();
        // bytes, seconds waited for them, seconds left
        for (bytes, waited, left) in
            [(0, 0, 30), (0, 10, 20), (5000, 0, 25), (500, 1, 24), (500, 1, 24), (0, 60, 0)]
        {
            transfer.record(bytes, SECOND * waited);
            assert_eq!(transfer.time_left(SECOND * 600).as_secs(), left, "{transfer:?}");
        }
    }

    #[test]
    fn stalled_transfer_ends_at_any_rate() {
        let mut transfer = MinTransferRate(0).start();
        transfer.record(1, SECOND * 1000);
        assert_eq!(transfer.time_left(STALL_TIMEOUT), STALL_TIMEOUT);
        transfer.record(0, SECOND * 59);
        assert_eq!(transfer.time_left(STALL_TIMEOUT), SECOND);
        assert_eq!(transfer.time_left(SCARCE_STALL_TIMEOUT), Duration::ZERO);
    }

    #[test]
    fn large_transfer_has_a_higher_minimum_rate() {
        let mut transfer = MinTransferRate(1000).start();
        transfer.record(20_000, SECOND * 40);
        assert_eq!(transfer.time_left(SECOND * 600).as_secs(), 10);
        transfer.set_held_bytes(LARGE_BYTES);
        assert_eq!(transfer.time_left(SECOND * 600).as_secs(), 30, "the average starts again");
        transfer.record(32_000, SECOND * 11);
        assert_eq!(transfer.time_left(SECOND * 600).as_secs(), 20);
    }
}
