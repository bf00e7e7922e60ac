//! Caches the catalog of content types.
//!
//! [`CatalogCache`] checks the revision in the snapshot of the caller, so every process on the data
//! directory sees the current catalog.

use std::{collections::HashMap, sync::Arc};

use cms_model::{
    content_type::catalog::{Catalog, CompiledType},
    error::Result,
    workflow::model::WorkflowSet,
};
use cms_store::{Reader, WriteTransaction};
use parking_lot::RwLock;

/// The cached catalog of this process.
#[derive(Default)]
pub(crate) struct CatalogCache(RwLock<Arc<Catalog>>);

impl CatalogCache {
    /// Returns the catalog of a snapshot.
    pub(crate) fn at(&self, reader: &Reader<'_>) -> Result<Arc<Catalog>> {
        self.at_revision(reader, reader.revisions()?.content_types)
    }

    /// As [`Self::at`], for a caller that has already read the revision.
    pub(crate) fn at_revision(&self, reader: &Reader<'_>, rev: i64) -> Result<Arc<Catalog>> {
        let cached = self.cached();
        if cached.rev == rev {
            return Ok(cached);
        }
        let loaded = Arc::new(load(reader, rev, &cached)?);
        let mut newest = self.0.write();
        // An older snapshot must not replace a newer catalog.
        if newest.rev < rev {
            *newest = Arc::clone(&loaded);
        }
        Ok(loaded)
    }

    /// Returns the catalog inside a write transaction. It is not cached: the transaction may be
    /// rolled back, and its revision used again.
    pub(crate) fn within(&self, writer: &WriteTransaction<'_>) -> Result<Arc<Catalog>> {
        let rev = writer.revisions()?.content_types;
        let cached = self.cached();
        if cached.rev == rev { Ok(cached) } else { Ok(Arc::new(load(writer, rev, &cached)?)) }
    }

    /// Returns the newest cached catalog, which may be out of date.
    pub(crate) fn cached(&self) -> Arc<Catalog> {
        Arc::clone(&self.0.read())
    }
}

/// Reads the types, and keeps those that are compiled in `previous`.
fn load(reader: &Reader<'_>, rev: i64, previous: &Catalog) -> Result<Catalog> {
    let types_by_pk: HashMap<i64, &Arc<CompiledType>> =
        previous.types().iter().map(|content_type| (content_type.pk, content_type)).collect();
    let workflows = WorkflowSet::with_custom(reader.workflows()?);
    let mut types = Vec::new();
    for (pk, rev) in reader.ctd_revisions()? {
        match types_by_pk.get(&pk) {
            Some(content_type) if content_type.rev == rev => types.push(Arc::clone(content_type)),
            _ => types.push(Arc::new(CompiledType::new(reader.ctd(pk)?, &workflows))),
        }
    }
    Ok(Catalog::new(rev, types, workflows))
}
