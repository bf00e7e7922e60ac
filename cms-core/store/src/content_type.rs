//! Rows of content type definitions.

use std::collections::HashMap;

use cms_model::{
    clock::Timestamp,
    content_type::{catalog::StoredContentType, model::Definition},
    error::Result,
    limits,
};
use rusqlite::{Row, params};

use super::{Reader, WriteTransaction, json, to_json};

/// The number of objects of a type, and a counter that each change of one of them increments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeState {
    pub live: u64,
    /// Number of objects in the public view of Draft & Public.
    pub published: u64,
    pub changes: i64,
}

impl Reader<'_> {
    /// Returns every type with its revision, without its definition.
    pub fn ctd_revisions(&self) -> Result<Vec<(i64, i64)>> {
        self.query_rows("SELECT pk, rev FROM ctd ORDER BY name", [], |row| row.try_into())
    }

    /// Returns one type.
    pub fn ctd(&self, pk: i64) -> Result<StoredContentType> {
        let sql = "SELECT definition, uid, rev, created_at, updated_at FROM ctd WHERE pk = ?1";
        self.query_row(sql, [pk], |row| {
            Ok(StoredContentType {
                pk,
                definition: json(row, 0)?,
                uid: row.get(1)?,
                rev: row.get(2)?,
                created_at: Timestamp(row.get(3)?),
                updated_at: row.get::<_, Option<i64>>(4)?.map(Timestamp),
            })
        })
    }

    /// Returns the primary key of the type of this name.
    pub fn ctd_named(&self, name: &str) -> Result<Option<i64>> {
        self.query_optional("SELECT pk FROM ctd WHERE name = ?1", [name], |row| row.get(0))
    }

    /// Returns the definitions that a type had at a revision and later, oldest first, without the
    /// current one.
    pub fn former_definitions(&self, ctd: i64, since: i64) -> Result<Vec<Definition>> {
        let sql =
            "SELECT definition FROM former_definition WHERE ctd = ?1 AND rev >= ?2 ORDER BY rev";
        self.query_rows(sql, [ctd, since], |row| json(row, 0))
    }

    /// Returns the counters of a type.
    pub fn type_state(&self, ctd: i64) -> Result<TypeState> {
        if let Some(known) = self.counters.and_then(|counters| counters.types.get(&ctd)) {
            return Ok(*known);
        }
        let sql = "SELECT live, published, changes FROM ctd_state WHERE ctd = ?1";
        self.query_row(sql, [ctd], |row| type_state(row, 0))
    }

    /// Returns the counters of all types, by their primary keys.
    pub(crate) fn type_states(&self) -> Result<HashMap<i64, TypeState>> {
        let sql = "SELECT ctd, live, published, changes FROM ctd_state";
        self.query_rows(sql, [], |row| Ok((row.get(0)?, type_state(row, 1)?)))
    }
}

fn type_state(row: &Row<'_>, first: usize) -> rusqlite::Result<TypeState> {
    let [live, published] = [row.get(first)?, row.get(first + 1)?];
    Ok(TypeState { live, published, changes: row.get(first + 2)? })
}

impl WriteTransaction<'_> {
    /// Inserts a type and its counters; returns its primary key.
    pub fn insert_ctd(
        &self,
        uid: &str,
        definition: &Definition,
        rev: i64,
        at: Timestamp,
    ) -> Result<i64> {
        let pk = self.query_value(
            "INSERT INTO ctd (uid, name, definition, rev, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5) RETURNING pk",
            params![uid, definition.name, to_json(definition)?, rev, at.0],
        )?;
        self.execute("INSERT INTO ctd_state (ctd, live, changes) VALUES (?1, 0, 0)", [pk])?;
        Ok(pk)
    }

    /// Replaces the definition of a type.
    pub fn update_ctd(
        &self,
        pk: i64,
        definition: &Definition,
        rev: i64,
        at: Timestamp,
    ) -> Result<()> {
        let json = to_json(definition)?;
        self.keep_definition(pk, &json, at)?;
        self.execute(
            "UPDATE ctd SET definition = ?2, rev = ?3, updated_at = ?4 WHERE pk = ?1",
            params![pk, json, rev, at.0],
        )?;
        // Invalidates the cached counts of filters on the old properties.
        self.record_change(pk, 0)
    }

    /// Keeps the definition that another one replaces, for objects in the trash.
    fn keep_definition(&self, pk: i64, new: &str, at: Timestamp) -> Result<()> {
        self.execute(
            "INSERT INTO former_definition (ctd, rev, replaced_at, definition)
             SELECT pk, rev, ?3, definition FROM ctd
             WHERE pk = ?1 AND definition <> ?2 AND EXISTS (SELECT 1 FROM trash WHERE ctd = ?1)",
            params![pk, new, at.0],
        )?;
        self.execute(
            "DELETE FROM former_definition WHERE ctd = ?1 AND rev <= (
                 SELECT rev FROM former_definition WHERE ctd = ?1
                 ORDER BY rev DESC LIMIT 1 OFFSET ?2)",
            params![pk, limits::MAX_FORMER_DEFINITIONS],
        )
    }

    /// Removes the definitions that were replaced before a time.
    pub fn delete_former_definitions(&self, before: Timestamp) -> Result<()> {
        self.execute("DELETE FROM former_definition WHERE replaced_at < ?1", [before.0])
    }

    /// Makes every process load a type again although its definition is the same, for example after a
    /// change of its workflow.
    pub fn touch_ctd(&self, pk: i64, rev: i64) -> Result<()> {
        self.execute("UPDATE ctd SET rev = ?2 WHERE pk = ?1", [pk, rev])?;
        self.record_change(pk, 0)
    }

    /// Deletes a type and its rows in other tables; it must have no live objects.
    pub fn delete_ctd(&self, pk: i64) -> Result<()> {
        self.execute(
            "DELETE FROM object_version WHERE object IN (SELECT pk FROM trash WHERE ctd = ?1)",
            [pk],
        )?;
        self.execute("DELETE FROM ctd WHERE pk = ?1", [pk])
    }
}
