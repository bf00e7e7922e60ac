//! Rows of API keys. Only the hashes of tokens are stored.

use cms_model::{
    clock::Timestamp,
    error::Result,
    wire::key::{KeyKind, Rule},
};
use rusqlite::{Row, params};

use super::{Reader, WriteTransaction, json, named, to_json};

/// The row of a key.
#[derive(Clone, Debug)]
pub struct KeyRow {
    pub pk: i64,
    pub uid: String,
    pub name: String,
    pub kind: KeyKind,
    pub rules: Vec<Rule>,
    pub hash: [u8; 32],
    pub created_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
    /// Hash of the token before a rotation, and the time until which it is valid.
    pub previous: Option<([u8; 32], Timestamp)>,
}

const COLUMNS: &str =
    "pk, uid, name, kind, rules, hash, created_at, last_used_at, previous_hash, previous_until";

fn read(row: &Row<'_>) -> rusqlite::Result<KeyRow> {
    Ok(KeyRow {
        pk: row.get(0)?,
        uid: row.get(1)?,
        name: row.get(2)?,
        kind: named(row, 3, KeyKind::parse)?,
        rules: json(row, 4)?,
        hash: row.get(5)?,
        created_at: Timestamp(row.get(6)?),
        last_used_at: row.get::<_, Option<i64>>(7)?.map(Timestamp),
        previous: row
            .get::<_, Option<[u8; 32]>>(8)?
            .zip(row.get::<_, Option<i64>>(9)?.map(Timestamp)),
    })
}

impl Reader<'_> {
    /// Returns the keys that are valid, oldest first.
    pub fn keys(&self) -> Result<Vec<KeyRow>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM actor
             WHERE revoked_at IS NULL AND kind NOT IN ('user', 'system') ORDER BY pk"
        );
        self.query_rows(&sql, [], read)
    }

    /// Returns whether a key ever existed.
    pub fn has_any_key(&self) -> Result<bool> {
        self.query_value(
            "SELECT EXISTS (SELECT 1 FROM actor WHERE kind NOT IN ('user', 'system'))",
            [],
        )
    }

    /// Returns whether a key of another kind, or a revoked key, has or had this token hash.
    pub fn has_other_key(&self, kind: KeyKind, hash: [u8; 32]) -> Result<bool> {
        self.query_value(
            "SELECT EXISTS (SELECT 1 FROM actor WHERE ?1 IN (hash, previous_hash)
                 AND (kind <> ?2 OR revoked_at IS NOT NULL))",
            params![hash, kind.as_str()],
        )
    }
}

impl WriteTransaction<'_> {
    pub fn insert_key(&self, key: &KeyRow) -> Result<()> {
        self.execute(
            "INSERT INTO actor (uid, name, kind, rules, hash, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                key.uid,
                key.name,
                key.kind.as_str(),
                to_json(&key.rules)?,
                key.hash,
                key.created_at.0,
            ],
        )
    }

    /// Replaces name and rules of a key.
    pub fn update_key(&self, pk: i64, name: &str, rules: &[Rule]) -> Result<()> {
        let sql = "UPDATE actor SET name = ?2, rules = ?3 WHERE pk = ?1";
        self.execute(sql, params![pk, name, to_json(&rules)?])
    }

    /// Replaces the token of a key; the previous one is valid until a time, if any.
    pub fn set_key_hash(
        &self,
        pk: i64,
        hash: [u8; 32],
        previous_until: Option<Timestamp>,
    ) -> Result<()> {
        self.execute(
            "UPDATE actor SET previous_hash = iif(?3 IS NULL, NULL, hash), previous_until = ?3,
                 hash = ?2
             WHERE pk = ?1",
            params![pk, hash, previous_until.map(|until| until.0)],
        )
    }

    /// Revokes a key.
    pub fn revoke_key(&self, pk: i64, at: Timestamp) -> Result<()> {
        self.execute("UPDATE actor SET revoked_at = ?2 WHERE pk = ?1", params![pk, at.0])
    }

    pub fn set_key_used(&self, pk: i64, at: Timestamp) -> Result<()> {
        self.execute(
            "UPDATE actor SET last_used_at = max(coalesce(last_used_at, 0), ?2) WHERE pk = ?1",
            params![pk, at.0],
        )
    }
}
