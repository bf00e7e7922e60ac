//! Periodic clean-up: expires trash, journal, bulk jobs and idempotency keys, and stores when keys were used.

use cms_model::{clock::Timestamp, error::Result, limits};

use crate::{cms::Cms, object::idempotency};

impl Cms {
    /// Removes expired objects of the trash, journal rows that are no longer needed, and expired
    /// idempotency keys, and stores when keys were used. A server calls it every minute and when it
    /// stops.
    pub fn housekeep(&self) -> Result<()> {
        let now = self.retention_time()?;
        let trash_cutoff = Timestamp(now.0 - limits::TRASH_RETENTION_DAYS * 86_400_000_000);
        let journal_cutoff = Timestamp(now.0 - self.config.activity_days * 86_400_000_000);
        let webhook_seq = self.webhooks().clean_up()?;
        let oldest_needed_seq = self.index.needs_from().unwrap_or(0).min(webhook_seq);
        let used = self.keys.take_used();
        let job_cutoff = Timestamp(now.0 - limits::JOB_RETENTION_DAYS * 86_400_000_000);
        let response_cutoff = idempotency::since(now);
        let has_expired = self.store.read_autocommit(|reader| {
            Ok(reader.has_trash_before(trash_cutoff)?
                || reader.has_bulk_job_before(job_cutoff)?
                || reader.has_journal_before(oldest_needed_seq, journal_cutoff)?
                || reader
                    .has_expired_responses(response_cutoff, limits::MAX_IDEMPOTENCY_RESPONSES)?)
        })?;
        if used.is_empty() && !has_expired {
            return Ok(());
        }
        self.store.write(move |writer| {
            for (pk, at) in used {
                writer.set_key_used(pk, at)?;
            }
            writer.remove_bulk_jobs(job_cutoff)?;
            writer.delete_journal_before(oldest_needed_seq, journal_cutoff)?;
            writer.remove_responses(response_cutoff, limits::MAX_IDEMPOTENCY_RESPONSES)?;
            writer.empty_trash(trash_cutoff)
        })
    }
}
