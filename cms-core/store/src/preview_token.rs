//! Rows of preview tokens. Only the hashes of tokens are stored.

use cms_model::{clock::Timestamp, error::Result};
use rusqlite::params;

use super::{Reader, WriteTransaction};

impl Reader<'_> {
    /// Returns the creator of a preview token that is valid at a time: an actor, or none for a
    /// command on the data directory.
    pub fn preview_token(&self, hash: [u8; 32], at: Timestamp) -> Result<Option<Option<i64>>> {
        self.query_optional(
            "SELECT actor FROM preview_token WHERE hash = ?1 AND expires_at > ?2",
            params![hash, at.0],
            |row| row.get(0),
        )
    }

    /// Returns whether a preview token expired before a time.
    pub fn has_expired_preview_tokens(&self, before: Timestamp) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM preview_token WHERE expires_at <= ?1)";
        self.query_value(sql, [before.0])
    }
}

impl WriteTransaction<'_> {
    /// Stores a preview token, and ends the oldest ones of its creator beyond `limit`.
    pub fn insert_preview_token(
        &self,
        creator: Option<i64>,
        hash: [u8; 32],
        expires_at: Timestamp,
        limit: u32,
    ) -> Result<()> {
        self.execute(
            "INSERT INTO preview_token (hash, actor, expires_at) VALUES (?1, ?2, ?3)",
            params![hash, creator, expires_at.0],
        )?;
        self.execute("DELETE FROM preview_token WHERE pk IN (
                 SELECT pk FROM preview_token WHERE actor IS ?1 ORDER BY pk DESC LIMIT -1 OFFSET ?2)", params![creator, limit])
    }

    pub fn remove_expired_preview_tokens(&self, before: Timestamp) -> Result<()> {
        self.execute("DELETE FROM preview_token WHERE expires_at <= ?1", [before.0])
    }

    /// Ends the preview tokens of an actor.
    pub fn remove_preview_tokens_of(&self, actor: i64) -> Result<()> {
        self.execute("DELETE FROM preview_token WHERE actor = ?1", [actor])
    }
}
