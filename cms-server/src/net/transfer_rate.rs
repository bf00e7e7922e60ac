//! How fast a client must send or take what is on its way: who is slower is cut off, because they
//! hold a connection, memory and sometimes a turn that others wait for.
//!
//! Only the time counts in which the server waits for the client.

use std::time::Duration;

/// How long a client may take nothing of what it is sent.
pub(crate) const STALL: Duration = Duration::from_mins(1);
/// Time that is not counted: connections stall.
const GRACE: Duration = Duration::from_secs(30);

/// What may be asked of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pace {
    /// Bytes per second; 0 asks for nothing.
    pub(crate) least_rate: u64,
}

/// How fast a client was so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    pace: Pace,
    bytes: u64,
    waited: Duration,
}

/// So many times as fast has to be who holds what there is little of.
const HASTE: u64 = 32;

impl Pace {
    /// The pace of those who hold a turn that others wait for, or much memory.
    pub(crate) fn hurried(self) -> Self {
        Self { least_rate: self.least_rate.saturating_mul(HASTE) }
    }

    pub(crate) fn start(self) -> Progress {
        Progress { pace: self, bytes: 0, waited: Duration::ZERO }
    }
}

impl Progress {
    /// Asks for another rate from now on; what was taken at the old one counts anew.
    pub(crate) fn set_pace(&mut self, pace: Pace) {
        if self.pace != pace {
            *self = pace.start();
        }
    }

    /// Notes that so many bytes moved after so long a wait.
    pub(crate) fn moved(&mut self, bytes: usize, waited: Duration) {
        self.bytes += bytes as u64;
        self.waited += waited;
    }

    /// How much longer the client may be waited for, and at most for `pause`.
    pub(crate) fn patience(&self, pause: Duration) -> Duration {
        let least = self.pace.least_rate;
        if least == 0 {
            return pause;
        }
        let whole = Duration::from_secs(self.bytes / least);
        let part = Duration::from_millis(self.bytes % least * 1000 / least);
        (GRACE + whole + part).saturating_sub(self.waited).min(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_slow_is_waited_for_less_and_less() {
        let seconds = Duration::from_secs;
        let mut progress = Pace { least_rate: 1000 }.start();
        // bytes, seconds waited for them, seconds left
        for (bytes, waited, left) in
            [(0, 0, 30), (0, 10, 20), (5000, 0, 25), (500, 1, 24), (500, 1, 24), (0, 60, 0)]
        {
            progress.moved(bytes, seconds(waited));
            assert_eq!(progress.patience(seconds(600)).as_secs(), left, "{progress:?}");
            assert_eq!(progress.patience(seconds(20)).as_secs(), left.min(20), "{progress:?}");
        }
        assert_eq!(Pace { least_rate: 0 }.start().patience(seconds(20)), seconds(20));
    }
}
