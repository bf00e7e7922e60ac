//! Inserting many objects into a data directory that has few.
//!
//! Building the index of a slot once is faster than updating it with each object. So the indexes that
//! are not needed to check unique values are dropped first, and built at the end. Lists need them: no
//! other process may use the data directory meanwhile. After a crash, the next start rebuilds all indexes of
//! slots, as it does when a data directory was last used by an older version.

use std::collections::HashSet;

use cms_model::{content_type::catalog::Catalog, error::Result};

use crate::cms::Cms;

/// With fewer objects, dropping indexes saves nothing.
const MIN_OBJECTS: u64 = 20_000;

impl Cms {
    /// Runs `load`, which inserts about this number of objects of these content types. Until it returns, only
    /// fetch objects by their ids: lists and filters may fail.
    ///
    /// # Errors
    /// [`crate::Error::Conflict`] before `load` runs if a newer version of the program migrates the
    /// database. An error after `load` has run means that the indexes could not be built; the next
    /// start builds them.
    pub fn bulk_load(
        &self,
        content_types: &[&str],
        objects: u64,
        load: &mut dyn FnMut(),
    ) -> Result<()> {
        if !self.is_bulk_load(objects)? || !self.store.try_lock_directory_exclusively()? {
            load();
            return Ok(());
        }
        let begun = self.current_catalog().and_then(|catalog| {
            let kept = unique_slots(&catalog, content_types);
            self.store.write(move |writer| {
                writer.drop_slot_indexes_except(&kept)?;
                writer.invalidate_derived_data()
            })
        });
        let ended = begun.and_then(|()| {
            load();
            self.write_with_catalog(|writer, catalog| {
                writer.create_slot_indexes(catalog.slot_count(), |_, _| {})?;
                writer.set_derived_data_version()
            })
        });
        ended.and(self.store.lock_directory_shared())
    }

    fn is_bulk_load(&self, objects: u64) -> Result<bool> {
        // An import into a node waits for the shared database, not for indexes.
        if self.node.is_some() {
            return Ok(false);
        }
        self.store.read_autocommit(|reader| Ok(saves_time(objects, reader.live_objects()?)))
    }
}

/// Returns whether building the indexes again takes less time than updating them.
fn saves_time(new_objects: u64, stored_objects: u64) -> bool {
    new_objects >= MIN_OBJECTS && new_objects / 2 >= stored_objects
}

/// The slots whose values are checked for uniqueness when objects of these types are saved.
fn unique_slots(catalog: &Catalog, content_types: &[&str]) -> HashSet<usize> {
    let types = content_types.iter().filter_map(|name| catalog.find(name));
    let slots = types.flat_map(|content_type| {
        let properties = content_type.unique_properties().map(|(slot, _)| slot);
        properties.chain(content_type.indexed.combinations().map(|(slot, _)| slot))
    });
    slots.collect()
}

#[cfg(test)]
mod tests {
    use super::saves_time;

    #[test]
    fn indexes_are_built_again_if_most_objects_are_new() {
        let table = [
            (0, 0, false),
            (19_999, 0, false),
            (20_000, 0, true),
            (20_000, 10_000, true),
            (20_000, 10_001, false),
            // A start with `--import` whose objects all exist.
            (1_000_000, 1_000_000, false),
        ];
        for (new, stored, expected) in table {
            assert_eq!(saves_time(new, stored), expected, "{new} new, {stored} stored");
        }
    }
}
