//! When a delivery that failed is tried again (contract 11.2).
//!
//! Three attempts come soon; then the delivery is an error that people should see. It stays the
//! first of its queue all the same and is tried ever more seldom, because what comes after it must
//! not overtake it.

use std::time::Duration;

use crate::clock::Timestamp;

/// Pauses after the first and the second attempt.
const SOON: [Duration; 2] = [Duration::from_secs(10), Duration::from_mins(1)];
/// The pause after the third attempt; each that follows is twice as long as the one before.
const LATER: Duration = Duration::from_mins(2);
/// The longest pause.
const LONGEST: Duration = Duration::from_mins(30);

/// Tells whether so many attempts in vain make a delivery an error.
pub(super) fn is_error(attempts: u32) -> bool {
    attempts as usize > SOON.len()
}

/// When to try again after so many attempts in vain, the last of them now.
pub(super) fn next(attempts: u32, now: Timestamp) -> Timestamp {
    let attempts = attempts.saturating_sub(1) as usize;
    let pause = if let Some(pause) = SOON.get(attempts) {
        *pause
    } else {
        let doubled = u32::try_from(attempts - SOON.len()).unwrap_or(u32::MAX);
        LATER.saturating_mul(2_u32.saturating_pow(doubled)).min(LONGEST)
    };
    Timestamp(now.0 + i64::try_from(pause.as_micros()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_limit() {
        let expected =
            [(1, 10), (2, 60), (3, 120), (4, 240), (5, 480), (6, 960), (7, 1800), (u32::MAX, 1800)];
        for (attempts, seconds) in expected {
            let at = next(attempts, Timestamp(5_000_000));
            assert_eq!(at.seconds() - 5, seconds, "after {attempts}");
            assert_eq!(is_error(attempts), attempts >= 3);
        }
    }
}
