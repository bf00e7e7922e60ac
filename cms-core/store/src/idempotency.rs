//! Stored responses to requests with an idempotency key.

use cms_model::{clock::Timestamp, error::Result};
use rusqlite::params;

use super::{Reader, WriteTransaction};

impl Reader<'_> {
    /// Returns the request fingerprint and the response stored later than a time.
    pub fn stored_response(
        &self,
        actor: i64,
        key: &str,
        after: Timestamp,
    ) -> Result<Option<([u8; 32], Vec<u8>)>> {
        self.query_optional(
            "SELECT fingerprint, answer FROM idempotency
             WHERE actor = ?1 AND key = ?2 AND at > ?3",
            params![actor, key, after.0],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
    }

    /// Returns whether a response is older than a time, or there are more than `max`.
    pub fn has_expired_responses(&self, before: Timestamp, max: i64) -> Result<bool> {
        self.query_value(
            "SELECT EXISTS (SELECT 1 FROM idempotency WHERE at < ?1)
                 OR (SELECT count(*) FROM idempotency) > ?2",
            [before.0, max],
        )
    }
}

impl WriteTransaction<'_> {
    /// Stores a response, and replaces an expired one.
    pub fn store_response(
        &self,
        actor: i64,
        (key, fingerprint): (&str, [u8; 32]),
        at: Timestamp,
        response: &[u8],
    ) -> Result<()> {
        self.execute(
            "INSERT INTO idempotency (actor, key, fingerprint, at, answer)
             VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (actor, key) DO UPDATE SET
                 fingerprint = excluded.fingerprint, at = excluded.at, answer = excluded.answer",
            params![actor, key, fingerprint, at.0, response],
        )
    }

    /// Removes responses older than a time, and the oldest ones beyond `max`.
    pub fn remove_responses(&self, before: Timestamp, max: i64) -> Result<()> {
        self.execute("DELETE FROM idempotency WHERE at < ?1", [before.0])?;
        self.execute(
            "DELETE FROM idempotency
             WHERE pk IN (SELECT pk FROM idempotency ORDER BY at DESC, pk DESC
                          LIMIT -1 OFFSET ?1)",
            [max],
        )
    }
}
