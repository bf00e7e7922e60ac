//! The checks of an object that need the database. This module writes nothing.

use cms_model::{
    content_type::catalog::{Catalog, CompiledType},
    error::Result,
    message,
};
use cms_store::Reader;

use super::{KnownTargets, PreparedObject};

impl PreparedObject {
    /// Adds the errors that need the database: link targets, and unique values. The objects of a batch share `known`.
    ///
    /// `itself` is the primary key of an existing object. Objects to be moved to the trash are not
    /// checked.
    pub(crate) fn check_with_known_targets(
        &mut self,
        reader: &Reader<'_>,
        catalog: &Catalog,
        content_type: &CompiledType,
        itself: Option<i64>,
        known: &mut KnownTargets,
    ) -> Result<()> {
        if self.dates.deleted.is_some() {
            return Ok(());
        }
        for link in &self.links {
            if !known.exists(reader, catalog, link)? {
                self.errors.add(link.path.as_str(), message::NOT_IN_DATABASE);
            }
        }
        self.unique.check(reader, content_type, itself, &mut self.errors)
    }

    /// As [`Self::check_with_known_targets`], for an object outside a batch.
    pub(crate) fn check_against_database(
        &mut self,
        reader: &Reader<'_>,
        catalog: &Catalog,
        content_type: &CompiledType,
        itself: Option<i64>,
    ) -> Result<()> {
        let known = &mut KnownTargets::default();
        self.check_with_known_targets(reader, catalog, content_type, itself, known)
    }

    /// Adds the error of a second object of a single-object type, or of an existing id.
    pub(crate) fn check_id(
        &mut self,
        reader: &Reader<'_>,
        content_type: &CompiledType,
    ) -> Result<()> {
        let is_live = self.dates.deleted.is_none();
        if is_live
            && content_type.definition.is_single()
            && reader.type_state(content_type.pk)?.live > 0
        {
            self.errors.add("id", "This content type allows only one object");
        } else if reader.object_pk(content_type.pk, &self.id)?.is_some() {
            self.errors.add("id", message::ALREADY_USED);
        }
        Ok(())
    }
}
