//! The clock by which the clean-up expires data: the trash, the journal, orphaned files, incomplete
//! uploads, bulk jobs, working copies, sessions, sign-in links, unfinished sign-ins and idempotency
//! keys. Preview tokens, presence and deliveries of webhooks expire by the system clock.
//!
//! It follows the system clock, except for jumps ahead: with a wrong clock, everything would
//! expire. After a jump (or a long time without a server) it stands still until the server has run
//! for [`limits::CLOCK_SETTLING_HOURS`]. When the clock is set back, it follows
//! immediately, since nothing expires.

use crate::{clock::Timestamp, limits};

pub const HOUR_MICROS: i64 = 3_600_000_000;
/// A larger difference between two clean-ups is a jump.
const CLOCK_JUMP_MICROS: i64 = limits::CLOCK_JUMP_HOURS * HOUR_MICROS;
const CLOCK_SETTLING_MICROS: i64 = limits::CLOCK_SETTLING_HOURS * HOUR_MICROS;
/// Maximum time between two clean-ups of a running server.
const MAX_CLEAN_UP_INTERVAL_MICROS: i64 = HOUR_MICROS;

/// State of the clock, stored between clean-ups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetentionClock {
    /// The system time at the last clean-up.
    pub system_time: Timestamp,
    /// The time by which data expires; zero before the first clean-up.
    pub retention_time: Timestamp,
    /// Microseconds for which a server has run since the clock jumped.
    pub running_micros: i64,
}

impl RetentionClock {
    /// Starts at a time.
    pub fn at(now: Timestamp) -> Self {
        Self { system_time: now, retention_time: now, running_micros: 0 }
    }

    /// The state after a clean-up at the system time `now`.
    #[must_use]
    pub fn observe(self, now: Timestamp) -> Self {
        let running_micros = match now.0.saturating_sub(self.system_time.0) {
            step @ 0..=MAX_CLEAN_UP_INTERVAL_MICROS => self.running_micros + step,
            step if step > MAX_CLEAN_UP_INTERVAL_MICROS && step <= CLOCK_JUMP_MICROS => {
                self.running_micros
            }
            _ => 0,
        };
        let is_new = self.retention_time.0 == 0;
        let is_near = now.0.saturating_sub(self.retention_time.0) <= CLOCK_JUMP_MICROS;
        if is_new || is_near || running_micros >= CLOCK_SETTLING_MICROS {
            Self::at(now)
        } else {
            Self { system_time: now, retention_time: self.retention_time, running_micros }
        }
    }

    /// Returns whether the clock stands still after a jump of the system clock.
    pub fn is_stopped(&self) -> bool {
        self.retention_time != self.system_time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 24;
    const YEAR: i64 = 365 * DAY;

    /// Observes a system time, in hours.
    fn observe(clock: &mut RetentionClock, hours: i64) -> i64 {
        *clock = clock.observe(Timestamp(hours * HOUR_MICROS));
        clock.retention_time.0 / HOUR_MICROS
    }

    #[test]
    fn retention_clock_follows_steps_of_up_to_a_day() {
        let mut clock = RetentionClock::at(Timestamp(0));
        assert_eq!(observe(&mut clock, 100), 100, "the first time is trusted");
        for hours in [101, 101, 125, 149] {
            assert_eq!(observe(&mut clock, hours), hours);
        }
        for hours in [148, 20, 44] {
            assert_eq!(observe(&mut clock, hours), hours, "nothing expires by a clock set back");
        }
    }

    #[test]
    fn retention_clock_stands_still_after_a_jump_until_the_server_ran_for_a_day() {
        let start = 50 * YEAR;
        for jump in [DAY + 1, YEAR, 30 * YEAR] {
            let mut clock = RetentionClock::at(Timestamp(start * HOUR_MICROS));
            for hour in 0..DAY {
                assert_eq!(observe(&mut clock, start + jump + hour), start, "{hour} hours later");
            }
            assert_eq!(observe(&mut clock, start + jump + DAY), start + jump + DAY);
        }
    }

    #[test]
    fn retention_clock_counts_only_time_in_which_the_server_ran() {
        let start = 50 * YEAR;
        let mut clock = RetentionClock::at(Timestamp(start * HOUR_MICROS));
        let mut now = start + YEAR;
        assert_eq!(observe(&mut clock, now), start);
        // Eight hours a day, with nights between them.
        for _ in 0..2 {
            for _ in 0..8 {
                now += 1;
                assert_eq!(observe(&mut clock, now), start);
            }
            now += 16;
            assert_eq!(observe(&mut clock, now), start);
        }
        now += 8 * DAY;
        assert_eq!(observe(&mut clock, now), start, "another jump starts over");
        for _ in 1..DAY {
            now += 1;
            assert_eq!(observe(&mut clock, now), start);
        }
        assert_eq!(observe(&mut clock, now + 1), now + 1);
    }

    #[test]
    fn retention_clock_recovers_when_the_system_clock_is_corrected() {
        let start = 50 * YEAR;
        let mut clock = RetentionClock::at(Timestamp(start * HOUR_MICROS));
        for _ in 0..3 {
            assert_eq!(observe(&mut clock, start + 30 * YEAR), start);
            assert_eq!(observe(&mut clock, start + 1), start + 1);
            assert_eq!(observe(&mut clock, start), start);
        }
    }
}
