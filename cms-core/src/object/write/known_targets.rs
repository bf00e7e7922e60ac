//! The existing targets of links. This module does not know who links to them.

use std::collections::HashSet;

use cms_model::{content_type::catalog::Catalog, error::Result, object::link::LinkRef};
use cms_store::Reader;

/// Cache of link targets found in this transaction: elements of a batch often link to the same
/// ones.
#[derive(Default)]
pub(crate) struct KnownTargets(HashSet<(i64, String)>);

impl KnownTargets {
    /// Starts with an object that this transaction inserts.
    pub(super) fn with_inserted(ctd: i64, id: &str) -> Self {
        Self(HashSet::from([(ctd, id.to_ascii_lowercase())]))
    }

    pub(super) fn exists(
        &mut self,
        reader: &Reader<'_>,
        catalog: &Catalog,
        link: &LinkRef,
    ) -> Result<bool> {
        let Some(target) = catalog.find(&link.content_type) else { return Ok(false) };
        let key = (target.pk, link.id.to_ascii_lowercase());
        if self.0.contains(&key) {
            return Ok(true);
        }
        let exists = reader.object_pk(target.pk, &link.id)?.is_some();
        if exists {
            self.0.insert(key);
        }
        Ok(exists)
    }
}
