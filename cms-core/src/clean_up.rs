//! Periodic clean-up: expires trash, journal, bulk jobs, idempotency keys, sessions, sign-in links,
//! unfinished sign-ins, working copies, preview tokens and presence, and writes the times of last use
//! of keys and sessions.

use crate::{Duty, cms::Cms, object::idempotency};
use cms_model::{clock::Timestamp, error::Result, limits, user::session::AccessCutoffs};

impl Cms {
    /// Removes all expired data except orphaned files, and writes the times of last use of keys and
    /// sessions. A server calls it every minute and when it stops.
    pub fn clean_up(&self) -> Result<()> {
        self.presence.expire(self.now());
        if !self.has_duty(Duty::CleanUp) {
            return self.record_use();
        }
        if let Some(cluster) = self.cluster() {
            cluster.prune()?;
        }
        let now = self.retention_now()?;
        self.working_copies().expire(now)?;
        self.trash().expire(Timestamp(now.0 - limits::TRASH_RETENTION_DAYS * 86_400_000_000))?;
        let journal_cutoff = Timestamp(now.0 - self.config.activity_days * 86_400_000_000);
        let webhook_cursor = self.webhooks().clean_up()?;
        // Webhooks need the rows after their cursor.
        let oldest_needed_seq = self.index.oldest_needed_seq().unwrap_or(0).min(webhook_cursor + 1);
        let job_cutoff = Timestamp(now.0 - limits::JOB_RETENTION_DAYS * 86_400_000_000);
        self.record_use()?;
        let access_cutoffs = AccessCutoffs::at(now);
        let response_cutoff = idempotency::cutoff(now);
        let preview_cutoff = self.now();
        let has_expired = self.store.read_autocommit(|reader| {
            Ok(reader.has_bulk_job_before(job_cutoff)?
                || reader.has_journal_before(oldest_needed_seq, journal_cutoff)?
                || reader
                    .has_expired_responses(response_cutoff, limits::MAX_IDEMPOTENCY_RESPONSES)?
                || reader.has_expired_access(access_cutoffs)?
                || reader.has_expired_preview_tokens(preview_cutoff)?
                || reader.webhook_cursor()? < webhook_cursor)
        })?;
        if !has_expired {
            return Ok(());
        }
        self.store.write(move |writer| {
            writer.remove_bulk_jobs(job_cutoff)?;
            writer.remove_expired_access(access_cutoffs)?;
            writer.remove_expired_preview_tokens(preview_cutoff)?;
            writer.set_webhook_cursor(webhook_cursor.max(writer.webhook_cursor()?))?;
            writer.delete_journal_before(oldest_needed_seq, journal_cutoff)?;
            writer.remove_responses(response_cutoff, limits::MAX_IDEMPOTENCY_RESPONSES)
        })
    }

    /// Stores when keys and sessions were used on this node. One node does the other parts of the clean-up.
    fn record_use(&self) -> Result<()> {
        let (used, seen) = (self.keys.take_used_keys(), self.keys.take_seen_sessions());
        if used.is_empty() && seen.is_empty() {
            return Ok(());
        }
        self.store.write(move |writer| {
            used.into_iter().try_for_each(|(pk, at)| writer.set_key_used(pk, at))?;
            seen.into_iter().try_for_each(|(pk, at)| writer.set_session_seen(pk, at))
        })
    }
}
