//! Keeps the retention clock ([`cms_model::retention`]) in the database.

use cms_model::{clock::Timestamp, error::Result, retention::HOUR_MICROS};

use crate::cms::Cms;

/// Interval at which the clock is stored although its state has not changed.
const STORE_INTERVAL_MICROS: i64 = HOUR_MICROS / 6;

impl Cms {
    /// Returns the current time as the retention clock trusts it: after a jump ahead, the time
    /// before the jump.
    pub(crate) fn retention_now(&self) -> Result<Timestamp> {
        let now = self.now();
        let (before, after) = self.store.read_autocommit(|reader| {
            let before = reader.retention_clock()?;
            Ok((before, before.observe(now)))
        })?;
        let has_jumped =
            after.is_stopped() && after.running_micros == 0 && before.system_time != now;
        if has_jumped {
            let ahead = (now.0 - after.retention_time.0) / HOUR_MICROS;
            tracing::warn!(
                hours = ahead,
                "clock jumped ahead: no expired data is removed until the server has run for a day"
            );
        }
        let is_changed = after.is_stopped() != before.is_stopped();
        if has_jumped || is_changed || (now.0 - before.system_time.0).abs() >= STORE_INTERVAL_MICROS
        {
            self.store.write(move |writer| {
                let clock = writer.retention_clock()?.observe(now);
                writer.set_retention_clock(&clock)
            })?;
        }
        Ok(after.retention_time)
    }
}
