//! Changes of all objects of a type at once, when the type changes.

use rusqlite::{Row, params};

use super::{Writer, error::map, index_ddl};
use crate::error::Result;

/// A stored version of an object, as a change of its type reads it.
pub(crate) struct StoredText<'r> {
    pub(crate) pk: i64,
    pub(crate) id: &'r str,
    pub(crate) title: &'r str,
    pub(crate) data: &'r str,
}

impl Writer<'_> {
    /// Shows every object of a type to `rewrite`, one at a time, and stores the title and the data
    /// that it returns.
    ///
    /// The walk follows the dates of creation, which do not change, so it meets every object once.
    pub(crate) fn rewrite_objects(
        &self,
        ctd: i64,
        mut rewrite: impl FnMut(StoredText<'_>) -> Result<Option<(String, String)>>,
    ) -> Result<()> {
        let mut stored = self.statement(
            "SELECT pk, id, title, data FROM object WHERE ctd = ?1 ORDER BY created_at, pk",
        )?;
        let mut store = self.statement("UPDATE object SET title = ?2, data = ?3 WHERE pk = ?1")?;
        let mut rows = stored.query([ctd]).map_err(map)?;
        while let Some(row) = rows.next().map_err(map)? {
            let object = read(row).map_err(map)?;
            let pk = object.pk;
            if let Some((title, data)) = rewrite(object)? {
                store.execute(params![pk, title, data]).map_err(map)?;
            }
        }
        Ok(())
    }

    /// Drops the indexes of properties whose values are about to change; they are made again when
    /// the type has its new properties.
    pub(crate) fn drop_property_indexes<'p>(
        &self,
        ctd: i64,
        properties: impl Iterator<Item = &'p str>,
    ) -> Result<()> {
        for property in properties {
            let name = index_ddl::index_name(ctd, property);
            let drop = format!("DROP INDEX IF EXISTS \"{name}\"");
            self.0.0.execute_batch(&drop).map_err(map)?;
        }
        Ok(())
    }

    /// Draft & Public goes on: what exists counts as published now (contract 2.6).
    pub(crate) fn publish_all(&self, ctd: i64) -> Result<()> {
        self.statement(
            "UPDATE object SET status = 'public', public_version = version,
                 published_at = updated_at
             WHERE ctd = ?1",
        )?
        .execute([ctd])
        .map_err(map)?;
        Ok(())
    }

    /// Draft & Public goes off: every object is public in its current version (contract 2.6).
    pub(crate) fn forget_publishing(&self, ctd: i64) -> Result<()> {
        self.statement(
            "UPDATE object SET status = 'public', public_version = NULL, published_at = NULL
             WHERE ctd = ?1",
        )?
        .execute([ctd])
        .map_err(map)?;
        Ok(())
    }

    /// Moves objects whose state the workflow does not know to its first state (contract 2.6).
    pub(crate) fn enter_workflow(&self, ctd: i64, states: &[&str]) -> Result<()> {
        let known = serde_json::to_string(states).expect("strings are valid JSON");
        self.statement(
            "UPDATE object SET workflow_state = ?2
             WHERE ctd = ?1 AND workflow_state NOT IN (SELECT value FROM json_each(?3))",
        )?
        .execute(params![ctd, states.first(), known])
        .map_err(map)?;
        Ok(())
    }
}

fn read<'r>(row: &'r Row<'_>) -> rusqlite::Result<StoredText<'r>> {
    let text = |column| -> rusqlite::Result<&'r str> { Ok(row.get_ref(column)?.as_str()?) };
    Ok(StoredText { pk: row.get(0)?, id: text(1)?, title: text(2)?, data: text(3)? })
}
