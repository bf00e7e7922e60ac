//! Caches the webhooks until one of them changes.

use std::sync::Arc;

use cms_model::{
    content_type::{
        builtin::WEBHOOKS,
        catalog::{Catalog, CompiledType},
    },
    error::Result,
    object::model::{Columns, Edition},
    webhook::model::Webhook,
};
use cms_store::{CommitState, Reader};
use parking_lot::Mutex;

use crate::object::write;

/// Only this number of webhooks is called, the oldest ones; more can be created.
const MAX_WEBHOOKS: usize = 10_000;

/// The cached webhooks, and the state of their type at which they were read.
#[derive(Default)]
pub(crate) struct WebhookCache(Mutex<(i64, Arc<Vec<Webhook>>)>);

impl WebhookCache {
    /// Returns the webhooks of a snapshot.
    pub(crate) fn at(&self, reader: &Reader<'_>, catalog: &Catalog) -> Result<Arc<Vec<Webhook>>> {
        let Some(content_type) = catalog.find(WEBHOOKS) else { return Ok(Arc::default()) };
        let changes = reader.type_state(content_type.pk)?.changes;
        let mut cached = self.0.lock();
        if cached.0 != changes {
            *cached = (changes, Arc::new(read(reader, content_type)?));
        }
        Ok(Arc::clone(&cached.1))
    }

    /// As [`Self::at`], without a statement: none when the webhooks have to be read.
    pub(crate) fn of_commit(
        &self,
        state: &CommitState,
        catalog: &Catalog,
    ) -> Option<Arc<Vec<Webhook>>> {
        let Some(content_type) = catalog.find(WEBHOOKS) else { return Some(Arc::default()) };
        let cached = self.0.lock();
        (cached.0 == state.changes(content_type.pk)).then(|| Arc::clone(&cached.1))
    }
}

/// Reads all webhooks, oldest first.
pub(super) fn read(reader: &Reader<'_>, content_type: &CompiledType) -> Result<Vec<Webhook>> {
    let rows = reader.object_rows_after(content_type.pk, (i64::MIN, 0), MAX_WEBHOOKS)?;
    let pks: Vec<i64> = rows.into_iter().map(|(_, pk)| pk).collect();
    let mut webhooks = Vec::with_capacity(pks.len());
    reader.object_rows(Edition::Current, &pks, Columns::All, |_, stored| {
        webhooks.push(Webhook::read(stored.pk, &stored.id, &write::parse(&stored.data)?));
        Ok(())
    })?;
    webhooks.sort_by_key(|webhook| webhook.pk);
    Ok(webhooks)
}
