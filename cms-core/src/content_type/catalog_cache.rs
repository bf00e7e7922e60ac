//! The newest catalog of this process.
//!
//! [`CatalogCache`] checks, in the snapshot that a caller reads, whether the catalog is still true; so
//! it is right in every process on the folder.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use cms_model::{
    content_type::catalog::{Catalog, CompiledType},
    error::Result,
    workflow::model::WorkflowSet,
};
use cms_store::{Reader, Writer};

/// The newest catalog of this process.
#[derive(Default)]
pub(crate) struct CatalogCache(RwLock<Arc<Catalog>>);

impl CatalogCache {
    /// Returns the catalog that is true in a snapshot.
    pub(crate) fn at(&self, reader: &Reader<'_>) -> Result<Arc<Catalog>> {
        self.at_revision(reader, reader.revisions()?.schema)
    }

    /// As [`Self::at`], for a caller that has already read the revision.
    pub(crate) fn at_revision(&self, reader: &Reader<'_>, rev: i64) -> Result<Arc<Catalog>> {
        let held = self.held();
        if held.rev == rev {
            return Ok(held);
        }
        let loaded = Arc::new(load(reader, rev, &held)?);
        let mut newest = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // An older snapshot must not replace what is known to be newer.
        if newest.rev < rev {
            *newest = Arc::clone(&loaded);
        }
        Ok(loaded)
    }

    /// Returns the catalog that is true inside a write transaction. It is not kept: what the
    /// transaction changed may yet be rolled back, and its revision be used again.
    pub(crate) fn within(&self, writer: &Writer<'_>) -> Result<Arc<Catalog>> {
        let rev = writer.revisions()?.schema;
        let held = self.held();
        if held.rev == rev { Ok(held) } else { Ok(Arc::new(load(writer, rev, &held)?)) }
    }

    /// Returns the newest catalog that this process knows, which may be out of date.
    pub(crate) fn held(&self) -> Arc<Catalog> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Reads the types, and keeps what `previous` already has compiled.
fn load(reader: &Reader<'_>, rev: i64, previous: &Catalog) -> Result<Catalog> {
    let known: HashMap<i64, &Arc<CompiledType>> =
        previous.types().iter().map(|known| (known.pk, known)).collect();
    let workflows = WorkflowSet::with(reader.workflows()?);
    let mut types = Vec::new();
    for (pk, rev) in reader.ctd_revisions()? {
        match known.get(&pk) {
            Some(known) if known.rev() == rev => types.push(Arc::clone(known)),
            _ => types.push(Arc::new(CompiledType::new(reader.ctd(pk)?, &workflows))),
        }
    }
    Ok(Catalog::new(rev, types, workflows))
}
