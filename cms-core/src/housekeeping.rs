//! Periodic clean-up: expires trash, journal and idempotency keys, and stores when keys were used.

use cms_model::{clock::Timestamp, error::Result, limits};

use crate::{cms::Cms, object::idempotency};

impl Cms {
    /// Removes expired objects of the trash, journal rows that are no longer needed, and expired
    /// idempotency keys, and stores when keys were used. A server calls it every minute and when it
    /// stops.
    pub fn housekeep(&self) -> Result<()> {
        let now = self.retention_time()?;
        let expired = Timestamp(now.0 - limits::TRASH_RETENTION_DAYS * 86_400_000_000);
        let forgotten = Timestamp(now.0 - limits::JOURNAL_RETENTION_DAYS * 86_400_000_000);
        let delivered = self.webhooks().clean_up()?;
        let needed = self.index.needs_from().unwrap_or(0).min(delivered);
        let used = self.keys.take_used();
        let responded = idempotency::since(now);
        if self.store.read_autocommit(|reader| reader.has_trash_before(expired))? {
            self.trash().expire(expired)?;
        }
        let has_expired = self.store.read_autocommit(|reader| {
            Ok(reader.has_journal_before(needed, forgotten)?
                || reader.has_expired_responses(responded, limits::MAX_IDEMPOTENCY_RESPONSES)?)
        })?;
        if used.is_empty() && !has_expired {
            return Ok(());
        }
        self.store.write(move |writer| {
            for (pk, at) in used {
                writer.set_key_used(pk, at)?;
            }
            writer.forget_journal(needed, forgotten)?;
            writer.remove_responses(responded, limits::MAX_IDEMPOTENCY_RESPONSES)
        })
    }
}
