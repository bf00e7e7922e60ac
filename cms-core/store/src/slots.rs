//! Slots: the indexed properties of a type, by number.
//!
//! Every type has properties of its own, and all of them share a few indexes: the first indexed
//! property of each type is in the first index, and so on. An index per property of each type
//! would be opened by every write to any of them, so two hundred types would make each write a
//! hundred times slower, and every new type would make every connection read the schema again.
//!
//! A row has the values of its slots in column `slots`, a JSON object by slot number
//! (`property_slots`), and in `slot_count` how many slots its type has: an index holds only rows
//! whose type has that slot. The expressions stand here once, for [`super::list_sql`] too: SQLite
//! uses an index on an expression only when a statement spells it the same way, and a partial one
//! only when the statement repeats its condition.
//!
//! A slot has an index for each direction. Both begin with the key, then the order of creation: ties
//! are in the order of creation in either direction, so one index scanned backwards would need a sort
//! of each group of equal keys. "Objects with this value, oldest first" is a range of either. The
//! spelling and the count at the end make them covering indexes.

use std::fmt::Write as _;

use cms_model::{content_type::indexed::IndexedProperties, error::Result, object::model::Edition};
use rusqlite::params;

use super::{Reader, Writer, error::map, object::table_of};

/// What a slot sorts by and is looked up by.
pub(crate) fn key(slot: usize) -> String {
    format!("property_key(slots, '{slot}')")
}

/// What the key does not say of a text.
pub(crate) fn spelling(slot: usize) -> String {
    format!("property_spelling(slots, '{slot}')")
}

/// What a statement says that may use the index of a slot.
pub(crate) fn condition(slot: usize) -> String {
    format!("slot_count > {slot}")
}

/// Returns the name of the index of a slot for a direction.
pub(crate) fn index_name(edition: Edition, slot: usize, descending: bool) -> String {
    let suffix = if descending { "_desc" } else { "" };
    format!("{}_slot_{slot}{suffix}", table_of(edition))
}

/// The statements that make the indexes of so many slots, where they are missing.
pub(super) fn indexes(count: usize) -> String {
    let mut sql = String::new();
    for edition in [Edition::Current, Edition::Published] {
        for (slot, descending) in (0..count).flat_map(|slot| [(slot, false), (slot, true)]) {
            let (name, table) = (index_name(edition, slot, descending), table_of(edition));
            let (key, spelling, condition) = (key(slot), spelling(slot), condition(slot));
            let direction = if descending { "DESC" } else { "ASC" };
            writeln!(
                sql,
                "CREATE INDEX IF NOT EXISTS {name}
                     ON {table} (ctd, {key} {direction}, created_at, pk, {spelling}, slot_count)
                     WHERE {condition};"
            )
            .expect("writing to memory cannot fail");
        }
    }
    sql
}

impl Reader<'_> {
    /// Tells whether so many slots have indexes.
    fn has_slots(&self, count: usize) -> Result<bool> {
        let Some(last) = count.checked_sub(1) else { return Ok(true) };
        self.statement("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?1)")?
            .query_row([index_name(Edition::Published, last, true)], |row| row.get(0))
            .map_err(map)
    }
}

impl Writer<'_> {
    /// Makes sure that so many slots have indexes.
    pub fn ensure_slots(&self, count: usize) -> Result<()> {
        if !self.has_slots(count)? {
            self.0.0.execute_batch(&indexes(count)).map_err(map)?;
        }
        Ok(())
    }

    /// Drops the indexes of all slots.
    pub fn drop_slots(&self) -> Result<()> {
        let names: Vec<String> = {
            let mut statement = self.statement(
                "SELECT name FROM sqlite_schema
                 WHERE type = 'index' AND (name GLOB 'object_slot_*' OR name GLOB 'published_slot_*')",
            )?;
            let rows = statement.query_map([], |row| row.get(0)).map_err(map)?;
            rows.map(|row| row.map_err(map)).collect::<Result<_>>()?
        };
        for name in names {
            self.0.0.execute_batch(&format!("DROP INDEX {name}")).map_err(map)?;
        }
        Ok(())
    }

    /// Puts the values of all objects of a type into its slots, where they are not.
    pub fn fill_slots(
        &self,
        ctd: i64,
        slots: &IndexedProperties,
        editions: &[Edition],
    ) -> Result<()> {
        for table in editions.iter().map(|&edition| table_of(edition)) {
            self.statement(&format!(
                "UPDATE {table} SET slots = property_slots(data, ?2), slot_count = ?3
                 WHERE ctd = ?1 AND (slot_count <> ?3 OR slots <> property_slots(data, ?2))"
            ))?
            .execute(params![ctd, slots.json(), slots.count()])
            .map_err(map)?;
        }
        Ok(())
    }
}
