//! Creates deliveries from the journal, in its order.
//!
//! Deliveries and the position in the journal are written together, so each row creates them once.
//! A webhook gets events after its own creation.

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use cms_model::{
    clock::Timestamp,
    content_type::{
        builtin::WEBHOOKS,
        catalog::{Catalog, CompiledType},
    },
    error::{Error, Result},
    webhook::{
        change_batch::{self, ChangeBatch},
        model::{Webhook, WebhookKind},
    },
    wire::change::Position,
};
use cms_store::{
    DeliveryEvent, DetailedEntry, EntryObject, Event, JournalPosition, Reader, Store,
    WriteTransaction,
};

use super::{
    log_entry,
    webhook_cache::{self, WebhookCache},
};
use crate::content_type::catalog_cache::CatalogCache;

/// Rows of the journal per batch.
const BATCH_ROWS: usize = 500;

/// The last row of the journal that this process has read. Rows that create no deliveries advance it
/// in memory only; a commit of deliveries also stores it.
#[derive(Default)]
pub(crate) struct JournalCursor(AtomicI64);

impl JournalCursor {
    pub(super) fn at(&self, reader: &Reader<'_>) -> Result<i64> {
        Ok(reader.webhook_cursor()?.max(self.0.load(Ordering::Relaxed)))
    }
}

/// Reads a batch of the journal; returns whether more may follow.
pub(super) fn create_deliveries(
    store: &Store,
    catalog: &CatalogCache,
    cache: &WebhookCache,
    cursor: &JournalCursor,
    now: Timestamp,
) -> Result<bool> {
    if store.read_autocommit(|reader| Ok(reader.journal_head()?.seq <= cursor.at(reader)?))? {
        return Ok(false);
    }
    let (from, batch) = store.read(|reader| {
        let from = cursor.at(reader)?;
        let entries = reader.detailed_entries_after(from, BATCH_ROWS)?;
        let catalog = catalog.at(reader)?;
        let webhooks = cache.at(reader, &catalog)?;
        Ok((from, DeliveryBatch::of(reader, &catalog, &webhooks, &entries)?))
    })?;
    let has_more = batch.has_more;
    if batch.is_empty() {
        cursor.0.fetch_max(batch.seq, Ordering::Relaxed);
        return Ok(has_more);
    }
    let cursor_in_memory = cursor.0.load(Ordering::Relaxed);
    store.write(move |writer| {
        // If the cursor has moved, another process has created the same deliveries.
        let cursor_now = writer.webhook_cursor()?.max(cursor_in_memory);
        if cursor_now == from { batch.write(writer, now) } else { Ok(()) }
    })?;
    Ok(has_more)
}

/// Creates the deliveries of all journal rows after the cursor, inside a transaction that is about
/// to remove the objects of their events permanently, or to change or restore a webhook.
pub(crate) fn catch_up(writer: &WriteTransaction<'_>, now: Timestamp) -> Result<()> {
    let Some(webhook_type) = writer.ctd_named(WEBHOOKS)? else { return Ok(()) };
    if writer.type_state(webhook_type)?.live == 0 {
        // A webhook that this transaction restores from the trash must not get earlier events.
        writer.remove_endpoints_of_deleted_webhooks()?;
        return writer.set_webhook_cursor(writer.journal_head()?.seq);
    }
    let next = || writer.detailed_entries_after(writer.webhook_cursor()?, BATCH_ROWS);
    let mut entries = next()?;
    // Changes of webhooks create no deliveries: a batch that contains nothing else need not read the webhooks.
    let has_events = entries.iter().any(|entry| entry.ctd != webhook_type);
    if !has_events && entries.len() < BATCH_ROWS {
        return Ok(());
    }
    let catalog = CatalogCache::default().within(writer)?;
    let webhooks = webhook_cache::read(writer, catalog.get(WEBHOOKS)?)?;
    while !entries.is_empty() {
        DeliveryBatch::of(writer, &catalog, &webhooks, &entries)?.write(writer, now)?;
        entries = next()?;
    }
    Ok(())
}

/// The effect of a batch of journal rows.
#[derive(Default)]
struct DeliveryBatch {
    /// New webhooks, which have no endpoint yet.
    created: Vec<i64>,
    /// Changed webhooks that receive deliveries. Their pending deliveries are tried again, because
    /// these may succeed now.
    changed: Vec<i64>,
    /// Changed webhooks that do not receive deliveries: disabled or synchronous ones.
    suspended: Vec<i64>,
    /// A webhook was deleted.
    has_deleted: bool,
    deliveries: Vec<DeliveryEvent>,
    /// Changes for webhooks with a quiet period, by webhook.
    collected: BTreeMap<i64, CollectedChanges>,
    /// The last row.
    seq: i64,
    /// Whether more rows may follow.
    has_more: bool,
}

impl DeliveryBatch {
    fn of(
        reader: &Reader<'_>,
        catalog: &Catalog,
        webhooks: &[Webhook],
        entries: &[DetailedEntry],
    ) -> Result<Self> {
        let seq = entries.last().map_or(0, |entry| entry.position.seq);
        let mut batch = Self { seq, has_more: entries.len() == BATCH_ROWS, ..Self::default() };
        let Some(webhook_type) = catalog.find(WEBHOOKS) else { return Ok(batch) };
        let created = reader.webhook_endpoints()?.into_iter().collect();
        let mut known = KnownWebhooks { webhooks, created };
        for entry in entries {
            match (entry.event, entry.object.as_ref().map(|object| object.pk)) {
                (Some(Event::ObjectCreated | Event::ObjectRestored), Some(pk))
                    if entry.ctd == webhook_type.pk =>
                {
                    batch.created.push(pk);
                    known.created.insert(pk);
                }
                (Some(Event::ObjectUpdated), Some(pk)) if entry.ctd == webhook_type.pk => {
                    let receives =
                        |webhook: &Webhook| webhook.pk == pk && webhook.receives_deliveries();
                    if webhooks.iter().any(receives) {
                        batch.changed.push(pk);
                    } else {
                        batch.suspended.push(pk);
                    }
                }
                (Some(Event::ObjectDeleted | Event::TypePurged), _)
                    if entry.ctd == webhook_type.pk =>
                {
                    batch.has_deleted = true;
                }
                _ if entry.ctd == webhook_type.pk || known.created.is_empty() => {}
                _ => known.add_deliveries(reader, catalog, entry, &mut batch)?,
            }
        }
        Ok(batch)
    }

    fn write(&self, writer: &WriteTransaction<'_>, now: Timestamp) -> Result<()> {
        for &pk in &self.created {
            writer.insert_webhook_endpoint(pk)?;
        }
        for delivery in &self.deliveries {
            writer.insert_delivery(delivery, now)?;
        }
        for collected in self.collected.values() {
            collected.write(writer, now)?;
        }
        for &pk in &self.changed {
            writer.restart_webhook(pk, now)?;
        }
        for &pk in &self.suspended {
            writer.suspend_webhook(pk)?;
        }
        if self.has_deleted {
            writer.remove_endpoints_of_deleted_webhooks()?;
        }
        writer.set_webhook_cursor(self.seq)
    }

    fn is_empty(&self) -> bool {
        self.created.is_empty()
            && self.changed.is_empty()
            && self.suspended.is_empty()
            && !self.has_deleted
            && self.deliveries.is_empty()
            && self.collected.is_empty()
    }
}

/// Changes that one webhook gets in one delivery.
struct CollectedChanges {
    debounce_seconds: i64,
    /// The new delivery, used if no stored one is still collecting.
    first: DeliveryEvent,
    last_at: Timestamp,
    changes: ChangeBatch,
}

impl CollectedChanges {
    fn of(debounce_seconds: i64, change: DeliveryEvent, position: String) -> Self {
        let reference = log_entry::event_payload(&change).reference();
        let DeliveryEvent { webhook, message, at, actor, .. } = change;
        let first = DeliveryEvent {
            webhook,
            message,
            at,
            action: change_batch::ACTION.into(),
            ctd: None,
            object: None,
            version: None,
            // Its queue: a delivery of changes has no type.
            type_name: change_batch::QUEUE.to_owned(),
            id_or_changes: String::new(),
            actor,
        };
        let changes = ChangeBatch::of(position, reference);
        Self { debounce_seconds, first, last_at: at, changes }
    }

    fn add(&mut self, later: Self) {
        self.last_at = later.last_at;
        self.changes.add(later.changes);
    }

    fn write(&self, writer: &WriteTransaction<'_>, now: Timestamp) -> Result<()> {
        let collecting = writer.collecting_delivery(self.first.webhook)?;
        let (pk, first_at, changes) = if let Some((pk, at, collected)) = collecting {
            let mut changes: ChangeBatch =
                serde_json::from_str(&collected).map_err(Error::internal)?;
            changes.add(self.changes.clone());
            (pk, at, changes)
        } else {
            let pk = writer.insert_delivery(&self.first, now)?;
            (pk, self.first.at, self.changes.clone())
        };
        let content = serde_json::to_string(&changes).map_err(Error::internal)?;
        let due_at = change_batch::due_at(first_at, self.last_at, self.debounce_seconds);
        writer.update_collecting(pk, &content, due_at)
    }
}

/// The webhooks that exist at a position in the journal.
struct KnownWebhooks<'a> {
    webhooks: &'a [Webhook],
    /// Primary keys of the webhooks whose creation was read.
    created: BTreeSet<i64>,
}

impl KnownWebhooks<'_> {
    fn add_deliveries(
        &self,
        reader: &Reader<'_>,
        catalog: &Catalog,
        entry: &DetailedEntry,
        batch: &mut DeliveryBatch,
    ) -> Result<()> {
        let (Some(action), Some(name)) = (entry.event.and_then(action), &entry.content_type) else {
            return Ok(());
        };
        let is_type_event = matches!(
            entry.event,
            Some(Event::TypeCreated | Event::TypeUpdated | Event::TypeDeleted)
        );
        let matches = |webhook: &&Webhook| {
            self.created.contains(&webhook.pk)
                && match webhook.kind {
                    WebhookKind::Type => is_type_event && webhook.enabled,
                    WebhookKind::Object => !is_type_event && webhook.matches(action, name),
                    WebhookKind::Synchronous => false,
                }
        };
        let webhooks: Vec<&Webhook> = self.webhooks.iter().filter(matches).collect();
        if webhooks.is_empty() {
            return Ok(());
        }
        for subject in subjects(reader, catalog, entry)? {
            for &webhook in &webhooks {
                let new = DeliveryEvent {
                    webhook: webhook.pk,
                    message: message_id(entry, webhook.pk, subject.object),
                    at: entry.at,
                    action: action.into(),
                    ctd: Some(entry.ctd),
                    object: subject.object,
                    version: subject.version,
                    type_name: name.clone(),
                    id_or_changes: subject.id.clone(),
                    actor: entry.actor,
                };
                if webhook.debounce_seconds == 0 {
                    batch.deliveries.push(new);
                    continue;
                }
                let JournalPosition { seq, nonce } = entry.position;
                let position = Position::new(seq, nonce).to_string();
                let change = CollectedChanges::of(webhook.debounce_seconds, new, position);
                match batch.collected.entry(webhook.pk) {
                    Entry::Vacant(entry) => drop(entry.insert(change)),
                    Entry::Occupied(mut entry) => entry.get_mut().add(change),
                }
            }
        }
        Ok(())
    }
}

/// The object or type of a journal entry.
struct Subject {
    object: Option<i64>,
    version: Option<i64>,
    id: String,
}

fn subjects(reader: &Reader<'_>, catalog: &Catalog, entry: &DetailedEntry) -> Result<Vec<Subject>> {
    let subject = |object: EntryObject| Subject {
        object: Some(object.pk),
        version: Some(object.version),
        id: object.id,
    };
    Ok(match (entry.event, &entry.object) {
        (_, Some(object)) => vec![subject(object.clone())],
        (Some(Event::TypePurged), None) => {
            reader.trashed_at(entry.ctd, entry.at)?.into_iter().map(subject).collect()
        }
        (_, None) => {
            let content_type = catalog.find_by_pk(entry.ctd);
            let subject = |content_type: &Arc<CompiledType>| Subject {
                object: None,
                version: None,
                id: content_type.uid.clone(),
            };
            content_type.map(subject).into_iter().collect()
        }
    })
}

/// The action of an event. The action `Custom` of the API is never sent.
fn action(event: Event) -> Option<&'static str> {
    match event {
        Event::ObjectCreated | Event::ObjectRestored | Event::TypeCreated => Some("Create"),
        Event::ObjectUpdated | Event::TypeUpdated => Some("Update"),
        Event::ObjectDeleted | Event::TypePurged | Event::TypeDeleted => Some("Delete"),
        Event::ObjectPublished => Some("Publish"),
        Event::ObjectUnpublished => Some("Unpublish"),
        Event::ObjectArchived => Some("Archive"),
        Event::ObjectTransitioned => Some("WorkflowTransition"),
        Event::ObjectScheduled
        | Event::ObjectUnscheduled
        | Event::TrashRemoved
        | Event::ReindexRequested => None,
    }
}

/// The id of a message: the same for each delivery of an entry to a webhook.
fn message_id(entry: &DetailedEntry, webhook: i64, object: Option<i64>) -> String {
    let nonce = entry.position.nonce.cast_unsigned();
    format!("msg_{}_{nonce:016x}_{webhook}_{}", entry.position.seq, object.unwrap_or_default())
}
