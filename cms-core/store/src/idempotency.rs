//! Stored responses to requests with an idempotency key.

use cms_model::{clock::Timestamp, error::Result};
use rusqlite::{OptionalExtension, params};

use super::{Reader, Writer, error::map};

impl Reader<'_> {
    /// Returns the request fingerprint and the response stored later than a time.
    pub fn stored_response(
        &self,
        actor: i64,
        key: &str,
        after: Timestamp,
    ) -> Result<Option<([u8; 32], Vec<u8>)>> {
        self.statement(
            "SELECT fingerprint, answer FROM idempotency
             WHERE actor = ?1 AND key = ?2 AND at > ?3",
        )?
        .query_row(params![actor, key, after.0], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
        .map_err(map)
    }

    /// Returns whether a response is older than a time, or there are more than `most`.
    pub fn has_expired_responses(&self, before: Timestamp, most: i64) -> Result<bool> {
        self.statement(
            "SELECT EXISTS (SELECT 1 FROM idempotency WHERE at < ?1)
                 OR (SELECT count(*) FROM idempotency) > ?2",
        )?
        .query_row([before.0, most], |row| row.get(0))
        .map_err(map)
    }
}

impl Writer<'_> {
    /// Stores a response, and replaces an expired one.
    pub fn store_response(
        &self,
        actor: i64,
        (key, fingerprint): (&str, [u8; 32]),
        at: Timestamp,
        answer: &[u8],
    ) -> Result<()> {
        self.statement(
            "INSERT OR REPLACE INTO idempotency (actor, key, fingerprint, at, answer)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![actor, key, fingerprint, at.0, answer])
        .map_err(map)?;
        Ok(())
    }

    /// Removes responses older than a time, and the oldest ones beyond `most`.
    pub fn remove_responses(&self, before: Timestamp, most: i64) -> Result<()> {
        self.statement("DELETE FROM idempotency WHERE at < ?1")?
            .execute([before.0])
            .map_err(map)?;
        self.statement(
            "DELETE FROM idempotency
             WHERE pk IN (SELECT pk FROM idempotency ORDER BY at DESC, pk DESC
                          LIMIT -1 OFFSET ?1)",
        )?
        .execute([most])
        .map_err(map)?;
        Ok(())
    }
}
