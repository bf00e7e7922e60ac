//! Slots: the numbers of the indexed properties and unique combinations of a type.
//!
//! All types share a few indexes: the first indexed property of each type is in the first index, and so on.
//! If each type had its own indexes, every write would open all of them: with two hundred types, writes
//! would be a hundred times slower. And each new type would make every connection read the schema again.
//!
//! A row has the values of its slots in column `slots`, a JSON object by slot number (`property_slots`).
//! Column `slot_count` is the number of slots of its type: an index contains only rows whose type has the
//! slot. SQLite uses an index on an expression only for statements with the identical expression, and a
//! partial index only for statements that repeat its condition. So [`super::list_sql`] uses the expressions
//! of this module.
//!
//! The entries of an index are sorted by key, then by creation: "objects with this value, oldest first" is
//! a range of it. They end with the original text and `slot_count`, so that statements need no rows. Lists
//! in descending order read the same index ([`super::list_sql`]).

use std::collections::HashSet;

use cms_model::{
    content_type::indexed::IndexedProperties, error::Result, limits, object::model::Edition,
};
use rusqlite::params;

use super::{Reader, WriteTransaction, error::map, object::table_of};

/// The sort and lookup key of a slot.
pub(crate) fn key(slot: usize) -> String {
    format!("property_key(slots, '{slot}')")
}

/// The exact text, if its key (lower case) differs. The name of the SQL function cannot change: it is
/// part of the stored indexes.
pub(crate) fn original_text_if_different(slot: usize) -> String {
    format!("property_spelling(slots, '{slot}')")
}

/// The condition that lets a statement use the index of a slot.
pub(crate) fn condition(slot: usize) -> String {
    format!("slot_count > {slot}")
}

/// Returns the name of the index of a slot.
pub(crate) fn index_name(edition: Edition, slot: usize) -> String {
    format!("{}_slot_{slot}", table_of(edition))
}

/// The indexes of the first `count` slots: name, and the statement that creates it.
pub(super) fn indexes(count: usize) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for edition in Edition::ALL {
        for slot in 0..count {
            let (name, table) = (index_name(edition, slot), table_of(edition));
            let (key, condition) = (key(slot), condition(slot));
            let original_text = original_text_if_different(slot);
            let sql = format!(
                "CREATE INDEX {name}
                 ON {table} (ctd, {key}, created_at, pk, {original_text}, slot_count)
                 WHERE {condition}"
            );
            all.push((name, sql));
        }
    }
    all
}

impl Reader<'_> {
    /// Returns the names of the indexes of slots.
    fn slot_indexes(&self) -> Result<HashSet<String>> {
        let names: Vec<String> = self.query_values(
            "SELECT name FROM sqlite_schema
             WHERE type = 'index' AND (name GLOB 'object_slot_*' OR name GLOB 'published_slot_*')",
            [],
        )?;
        Ok(names.into_iter().collect())
    }
}

impl WriteTransaction<'_> {
    /// Creates the missing indexes of the first `count` slots. Calls `progress` with the number of
    /// indexes that are created, and of all missing ones.
    pub fn create_slot_indexes(
        &self,
        count: usize,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<()> {
        let existing = self.slot_indexes()?;
        let mut missing = indexes(count);
        missing.retain(|(name, _)| !existing.contains(name));
        let total = missing.len() as u64;
        for (done, (_, sql)) in (1..).zip(missing) {
            self.0.connection.execute_batch(&sql).map_err(map)?;
            progress(done, total);
        }
        Ok(())
    }

    /// Creates the missing indexes of all stored content types: other nodes of a cluster may have changed them.
    pub(super) fn create_slot_indexes_of_types(&self) -> Result<()> {
        let types: Vec<i64> = self.query_values("SELECT pk FROM ctd", [])?;
        let mut count = limits::MAX_INDEXED_PROPERTIES;
        for ctd in types {
            let definition = self.ctd(ctd)?.definition;
            let slots = IndexedProperties::of_type(&definition, &definition.properties());
            count = count.max(slots.count());
        }
        self.create_slot_indexes(count, |_, _| {})
    }

    /// Drops the indexes of the first `count` slots.
    pub fn drop_slot_indexes(&self, count: usize) -> Result<()> {
        let dropped: HashSet<String> = indexes(count).into_iter().map(|(name, _)| name).collect();
        self.drop_slot_indexes_if(|name| dropped.contains(name))
    }

    /// Drops the indexes of all slots except the kept ones.
    pub fn drop_slot_indexes_except(&self, kept: &HashSet<usize>) -> Result<()> {
        let names_of = |edition| kept.iter().map(move |&slot| index_name(edition, slot));
        let kept: HashSet<String> = Edition::ALL.into_iter().flat_map(names_of).collect();
        self.drop_slot_indexes_if(|name| !kept.contains(name))
    }

    fn drop_slot_indexes_if(&self, is_dropped: impl Fn(&str) -> bool) -> Result<()> {
        for name in self.slot_indexes()?.iter().filter(|name| is_dropped(name)) {
            self.0.connection.execute_batch(&format!("DROP INDEX {name}")).map_err(map)?;
        }
        Ok(())
    }

    /// Writes the slots of all objects of a type where they are missing or differ.
    pub fn fill_slots(
        &self,
        ctd: i64,
        slots: &IndexedProperties,
        editions: &[Edition],
    ) -> Result<()> {
        for table in editions.iter().map(|&edition| table_of(edition)) {
            self.execute(
                &format!(
                    "UPDATE {table} SET slots = property_slots(data, ?2), slot_count = ?3
                 WHERE ctd = ?1 AND (slot_count <> ?3 OR slots <> property_slots(data, ?2))"
                ),
                params![ctd, slots.json(), slots.count()],
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{functions, testing::database_with};

    #[test]
    fn dropped_indexes_are_created_again() {
        let (_folder, database) = database_with("");
        functions::register(&database).unwrap();
        let writer = WriteTransaction(Reader::new(&database));
        writer.create_slot_indexes(4, |_, _| {}).unwrap();
        let complete = writer.slot_indexes().unwrap();
        assert_eq!(complete.len(), 4 * 2, "of two tables");

        writer.drop_slot_indexes(3).unwrap();
        let mut remaining: Vec<String> = writer.slot_indexes().unwrap().into_iter().collect();
        remaining.sort_unstable();
        assert_eq!(remaining, ["object_slot_3", "published_slot_3"]);

        let mut progress = Vec::new();
        writer.create_slot_indexes(4, |done, total| progress.push((done, total))).unwrap();
        assert_eq!(progress, (1..=6).map(|done| (done, 6)).collect::<Vec<_>>());
        assert_eq!(writer.slot_indexes().unwrap(), complete);
        writer.create_slot_indexes(4, |_, _| panic!("nothing is missing")).unwrap();
    }
}
