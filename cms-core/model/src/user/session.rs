//! The lifetime of sessions and of the links that are used instead of a password, see
//! docs/reference/sessions.md#lifetime

use crate::{clock::Timestamp, wire::session::LinkKind};

const MICROS_PER_HOUR: i64 = 3_600_000_000;
const MICROS_PER_DAY: i64 = 24 * MICROS_PER_HOUR;

/// Days after the last request.
const IDLE_DAYS: i64 = 14;
/// Days after the sign-in.
const MAX_DAYS: i64 = 90;

/// The times of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    pub created_at: Timestamp,
    pub last_seen_at: Timestamp,
}

impl Lifetime {
    /// The latest end of the session, regardless of further requests.
    pub fn ends_at(self) -> Timestamp {
        Timestamp(self.created_at.0.saturating_add(MAX_DAYS * MICROS_PER_DAY))
    }

    /// When the session ends without further requests.
    pub fn expires_at(self) -> Timestamp {
        let idle = self.last_seen_at.0.saturating_add(IDLE_DAYS * MICROS_PER_DAY);
        Timestamp(idle.min(self.ends_at().0))
    }

    pub fn is_valid(self, now: Timestamp) -> bool {
        now < self.expires_at()
    }
}

/// Cut-off times: sessions, links and sign-ins with a time at or before the cut-off have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessCutoffs {
    /// For sessions, by their last use.
    pub idle: Timestamp,
    /// For sessions, by their creation.
    pub created: Timestamp,
    /// For links and unfinished sign-ins, by their expiry.
    pub expired: Timestamp,
}

impl AccessCutoffs {
    pub fn at(now: Timestamp) -> Self {
        let days_ago = |days| Timestamp(now.0 - days * MICROS_PER_DAY);
        Self { idle: days_ago(IDLE_DAYS), created: days_ago(MAX_DAYS), expired: now }
    }
}

/// When a new link expires.
pub fn link_expires_at(kind: LinkKind, now: Timestamp) -> Timestamp {
    let hours = match kind {
        LinkKind::Setup => 24,
        LinkKind::Invitation => 72,
        LinkKind::Reset => 1,
    };
    Timestamp(now.0 + hours * MICROS_PER_HOUR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_ends_after_two_weeks_without_requests_or_ninety_days() {
        let day = |days: i64| Timestamp(days * MICROS_PER_DAY);
        // created, last seen, expires
        for (created, seen, expires) in [(0, 0, 14), (0, 10, 24), (0, 80, 90), (5, 94, 95)] {
            let lifetime = Lifetime { created_at: day(created), last_seen_at: day(seen) };
            assert_eq!(lifetime.expires_at(), day(expires), "{created} {seen}");
            assert!(lifetime.is_valid(Timestamp(day(expires).0 - 1)));
            assert!(!lifetime.is_valid(day(expires)));
        }
    }
}
