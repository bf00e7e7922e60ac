//! Rows of sessions, and of the links that are used instead of a password. Only hashes of cookies
//! and codes are stored.

use cms_model::{
    clock::Timestamp,
    error::Result,
    user::session::{AccessCutoffs, Lifetime},
    wire::session::LinkKind,
};
use rusqlite::{Row, params};

use super::{Reader, WriteTransaction, named};

/// A session, which may have expired.
#[derive(Clone, Debug)]
pub struct SessionRow {
    pub pk: i64,
    pub id: String,
    /// Primary key of the user.
    pub user: i64,
    pub lifetime: Lifetime,
    /// The address of the client that signed in.
    pub address: String,
    pub user_agent: String,
}

/// An unused link; it may have expired.
#[derive(Clone, Copy, Debug)]
pub struct SignInLinkRow {
    pub pk: i64,
    pub kind: LinkKind,
    /// Primary key of the user; none for the set-up link.
    pub user: Option<i64>,
    pub expires_at: Timestamp,
}

const COLUMNS: &str = "pk, id, user, created_at, last_seen_at, address, user_agent";

fn read(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    Ok(SessionRow {
        pk: row.get(0)?,
        id: row.get(1)?,
        user: row.get(2)?,
        lifetime: Lifetime {
            created_at: Timestamp(row.get(3)?),
            last_seen_at: Timestamp(row.get(4)?),
        },
        address: row.get(5)?,
        user_agent: row.get(6)?,
    })
}

impl Reader<'_> {
    /// Returns the session of a cookie.
    pub fn session_with_hash(&self, hash: [u8; 32]) -> Result<Option<SessionRow>> {
        self.query_optional(&format!("SELECT {COLUMNS} FROM session WHERE hash = ?1"), [hash], read)
    }

    pub fn session(&self, pk: i64) -> Result<Option<SessionRow>> {
        self.query_optional(&format!("SELECT {COLUMNS} FROM session WHERE pk = ?1"), [pk], read)
    }

    /// Returns the sessions of a user, last used first.
    pub fn sessions_of(&self, user: i64) -> Result<Vec<SessionRow>> {
        self.query_rows(
            &format!(
                "SELECT {COLUMNS} FROM session WHERE user = ?1 ORDER BY last_seen_at DESC, pk DESC"
            ),
            [user],
            read,
        )
    }

    /// Returns whether sessions, links or unfinished sign-ins have expired.
    pub fn has_expired_access(&self, cutoffs: AccessCutoffs) -> Result<bool> {
        let AccessCutoffs { idle, created, expired } = cutoffs;
        self.query_value(
            "SELECT EXISTS (SELECT 1 FROM session WHERE last_seen_at <= ?1 OR created_at <= ?2)
                 OR EXISTS (SELECT 1 FROM sign_in_link WHERE expires_at <= ?3)
                 OR EXISTS (SELECT 1 FROM openid_sign_in WHERE expires_at <= ?3)",
            [idle.0, created.0, expired.0],
        )
    }

    /// Returns the link with a code.
    pub fn sign_in_link_with_hash(&self, hash: [u8; 32]) -> Result<Option<SignInLinkRow>> {
        self.query_optional(
            "SELECT pk, kind, user, expires_at FROM sign_in_link WHERE hash = ?1",
            [hash],
            |row| {
                let (kind, expires_at) = (named(row, 1, LinkKind::parse)?, Timestamp(row.get(3)?));
                Ok(SignInLinkRow { pk: row.get(0)?, kind, user: row.get(2)?, expires_at })
            },
        )
    }
}

impl WriteTransaction<'_> {
    /// Inserts a session, and ends the least recently used ones of the user beyond `maximum`;
    /// returns the primary key.
    pub fn insert_session(
        &self,
        session: &SessionRow,
        hash: [u8; 32],
        maximum: u64,
    ) -> Result<i64> {
        let Lifetime { created_at, last_seen_at } = session.lifetime;
        let pk = self.query_value(
            "INSERT INTO session (id, user, hash, created_at, last_seen_at, address, user_agent)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) RETURNING pk",
            params![
                session.id,
                session.user,
                hash,
                created_at.0,
                last_seen_at.0,
                session.address,
                session.user_agent,
            ],
        )?;
        self.execute(
            "UPDATE user SET last_seen_at = ?2 WHERE actor = ?1",
            params![session.user, last_seen_at.0],
        )?;
        let removed = self.execute_and_count(
            // Never the new one, which may have the oldest time after a clock was set back.
            "DELETE FROM session WHERE pk IN (SELECT pk FROM session WHERE user = ?1 AND pk <> ?3
                 ORDER BY last_seen_at DESC, pk DESC LIMIT -1 OFFSET ?2 - 1)",
            params![session.user, maximum, pk],
        )?;
        if removed > 0 {
            self.bump_auth()?;
        }
        Ok(pk)
    }

    /// Ends a session; returns whether it existed.
    pub fn remove_session(&self, pk: i64) -> Result<bool> {
        Ok(self.execute_and_count("DELETE FROM session WHERE pk = ?1", [pk])? > 0)
    }

    /// Ends the sessions of a user except one; returns their number.
    pub fn remove_sessions_of(&self, user: i64, except: Option<i64>) -> Result<usize> {
        self.execute_and_count(
            "DELETE FROM session WHERE user = ?1 AND pk IS NOT ?2",
            params![user, except],
        )
    }

    /// Stores when a session was last used.
    pub fn set_session_seen(&self, pk: i64, at: Timestamp) -> Result<()> {
        self.execute(
            "UPDATE session SET last_seen_at = ?2 WHERE pk = ?1 AND last_seen_at < ?2",
            params![pk, at.0],
        )?;
        self.execute(
            "UPDATE user SET last_seen_at = ?2
             WHERE actor = (SELECT user FROM session WHERE pk = ?1)
                 AND (last_seen_at IS NULL OR last_seen_at < ?2)",
            params![pk, at.0],
        )
    }

    /// Removes the rows that [`Reader::has_expired_access`] finds. They authenticate no request any more,
    /// so caches stay valid.
    pub fn remove_expired_access(&self, cutoffs: AccessCutoffs) -> Result<()> {
        let AccessCutoffs { idle, created, expired } = cutoffs;
        self.execute(
            "DELETE FROM session WHERE last_seen_at <= ?1 OR created_at <= ?2",
            [idle.0, created.0],
        )?;
        self.execute("DELETE FROM sign_in_link WHERE expires_at <= ?1", [expired.0])?;
        self.execute("DELETE FROM openid_sign_in WHERE expires_at <= ?1", [expired.0])
    }

    /// Stores a sign-in link, in place of the earlier one of the user, or of the set-up link.
    pub fn put_sign_in_link(
        &self,
        kind: LinkKind,
        user: Option<i64>,
        hash: [u8; 32],
        expires_at: Timestamp,
    ) -> Result<()> {
        self.remove_sign_in_links_of(user)?;
        self.execute(
            "INSERT INTO sign_in_link (hash, kind, user, expires_at) VALUES (?1, ?2, ?3, ?4)",
            params![hash, kind.as_str(), user, expires_at.0],
        )
    }

    /// Removes the sign-in link of a user, or the set-up link.
    pub fn remove_sign_in_links_of(&self, user: Option<i64>) -> Result<()> {
        self.execute("DELETE FROM sign_in_link WHERE user IS ?1", [user])
    }
}
