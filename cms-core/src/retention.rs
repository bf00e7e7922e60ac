//! Keeps the retention clock ([`cms_model::retention`]) in the database.

use cms_model::{clock::Timestamp, error::Result, retention::HOUR_MICROS};

use crate::cms::Cms;

/// Interval at which the clock is stored although its state has not changed.
const STORE_INTERVAL_MICROS: i64 = HOUR_MICROS / 6;

impl Cms {
    /// Returns the current time as the retention clock trusts it: after a jump ahead, the time
    /// before the jump.
    pub(crate) fn trusted_now(&self) -> Result<Timestamp> {
        let now = self.now();
        let (before, after) = self.store.read_autocommit(|reader| {
            let before = reader.retention_clock()?;
            Ok((before, before.observe(now)))
        })?;
        let has_jumped = after.is_waiting() && after.waited_micros == 0 && before.seen_at != now;
        if has_jumped {
            let ahead = (now.0 - after.trusted_at.0) / HOUR_MICROS;
            tracing::warn!(
                hours = ahead,
                "clock jumped ahead: no expired data is removed until the server has run for a day"
            );
        }
        let is_changed = after.is_waiting() != before.is_waiting();
        if has_jumped || is_changed || (now.0 - before.seen_at.0).abs() >= STORE_INTERVAL_MICROS {
            self.store.write(move |writer| {
                let clock = writer.retention_clock()?.observe(now);
                writer.set_retention_clock(&clock)
            })?;
        }
        Ok(after.trusted_at)
    }
}
