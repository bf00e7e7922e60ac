//! The webhooks that there are, read again only when one of them changed.

use std::sync::{Arc, Mutex, PoisonError};

use cms_model::{
    content_type::{
        builtin::WEBHOOKS,
        catalog::{Catalog, CompiledType},
    },
    error::Result,
    object::model::Edition,
    webhook::model::Webhook,
};

use crate::{object::write, store::Reader};

/// Most webhooks that are looked at.
const MOST: usize = 10_000;

/// The newest webhooks that this process knows, and the state of their type at which it read them.
#[derive(Default)]
pub(crate) struct Known(Mutex<(i64, Arc<Vec<Webhook>>)>);

impl Known {
    /// Returns the webhooks of a snapshot.
    pub(crate) fn at(&self, reader: &Reader<'_>, catalog: &Catalog) -> Result<Arc<Vec<Webhook>>> {
        let Some(content_type) = catalog.find(WEBHOOKS) else { return Ok(Arc::default()) };
        let changes = reader.ctd_state(content_type.pk)?.changes;
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.0 != changes {
            *held = (changes, Arc::new(read(reader, content_type)?));
        }
        Ok(Arc::clone(&held.1))
    }
}

/// Reads all webhooks, oldest first.
pub(super) fn read(reader: &Reader<'_>, content_type: &CompiledType) -> Result<Vec<Webhook>> {
    let rows = reader.object_rows_after(content_type.pk, (i64::MIN, 0), MOST)?;
    let pks: Vec<i64> = rows.into_iter().map(|(_, pk)| pk).collect();
    let mut webhooks = Vec::with_capacity(pks.len());
    reader.object_rows(Edition::Current, &pks, |_, stored| {
        webhooks.push(Webhook::read(stored.pk, &stored.id, &write::parse(&stored.data)?));
        Ok(())
    })?;
    webhooks.sort_by_key(|webhook| webhook.pk);
    Ok(webhooks)
}
