//! Journal → deliveries: what happened becomes what webhooks are told, in the order of the journal.
//!
//! Deliveries and how far the journal was read are written together, so each row of it makes them
//! once. A webhook is told what comes after its own creation.

use std::{
    collections::BTreeSet,
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
    error::Result,
    webhook::model::{Kind, Webhook},
};

use super::known::{self, Known};
use crate::{
    ctd::catalog_cache::CatalogCache,
    store::{Event, NewDelivery, Reader, Store, ToldEntry, ToldObject, Writer},
};

/// Rows of the journal that one step takes.
const STEP: usize = 500;

/// How far this process has read the journal, when nothing had to be written down.
#[derive(Default)]
pub(crate) struct Cursor(AtomicI64);

impl Cursor {
    fn at(&self, reader: &Reader<'_>) -> Result<i64> {
        Ok(reader.webhook_cursor()?.max(self.0.load(Ordering::Relaxed)))
    }
}

/// Takes a little of the journal; tells whether there may be more.
pub(super) fn step(
    store: &Store,
    catalog: &CatalogCache,
    known: &Known,
    cursor: &Cursor,
    now: Timestamp,
) -> Result<bool> {
    if store.peek(|reader| Ok(reader.journal_head()?.seq <= cursor.at(reader)?))? {
        return Ok(false);
    }
    let (from, news) = store.read(|reader| {
        let from = cursor.at(reader)?;
        let entries = reader.journal_told_after(from, STEP)?;
        let catalog = catalog.at(reader)?;
        let webhooks = known.at(reader, &catalog)?;
        Ok((from, News::of(reader, &catalog, &webhooks, &entries)?))
    })?;
    let has_more = news.has_more;
    if news.is_empty() {
        cursor.0.fetch_max(news.seq, Ordering::Relaxed);
        return Ok(has_more);
    }
    let held = cursor.0.load(Ordering::Relaxed);
    store.write(move |writer| {
        // Whoever moved the cursor meanwhile has told the same.
        if writer.webhook_cursor()?.max(held) == from { news.write(writer, now) } else { Ok(()) }
    })?;
    Ok(has_more)
}

/// Takes all of the journal, inside a transaction that is about to destroy what it speaks of.
pub(crate) fn catch_up(writer: &Writer<'_>, now: Timestamp) -> Result<()> {
    let own = writer.ctd_named(WEBHOOKS)?.map(|pk| writer.ctd_state(pk)).transpose()?;
    if own.is_none_or(|state| state.live == 0) {
        return Ok(());
    }
    let catalog = CatalogCache::default().within(writer)?;
    let webhooks = known::read(writer, catalog.get(WEBHOOKS)?)?;
    loop {
        let entries = writer.journal_told_after(writer.webhook_cursor()?, STEP)?;
        if entries.is_empty() {
            return Ok(());
        }
        News::of(writer, &catalog, &webhooks, &entries)?.write(writer, now)?;
    }
}

/// Writes down how far the journal was read, so that it can be forgotten up to there.
pub(super) fn save(store: &Store, cursor: &Cursor) -> Result<i64> {
    let (read, saved) = store.peek(|reader| Ok((cursor.at(reader)?, reader.webhook_cursor()?)))?;
    if read > saved {
        store.write(move |writer| writer.set_webhook_cursor(read.max(writer.webhook_cursor()?)))?;
    }
    Ok(read)
}

/// What some rows of the journal mean to webhooks.
#[derive(Default)]
struct News {
    /// Webhooks that are new.
    made: Vec<i64>,
    /// Webhooks that were changed and are sent to: what failed before may succeed now.
    changed: Vec<i64>,
    /// Webhooks that were changed and are not sent to.
    suspended: Vec<i64>,
    /// Some webhook is gone.
    has_lost: bool,
    deliveries: Vec<NewDelivery>,
    /// The last of the rows.
    seq: i64,
    /// Whether more may follow.
    has_more: bool,
}

impl News {
    fn of(
        reader: &Reader<'_>,
        catalog: &Catalog,
        webhooks: &[Webhook],
        entries: &[ToldEntry],
    ) -> Result<Self> {
        let seq = entries.last().map_or(0, |entry| entry.place.seq);
        let mut news = Self { seq, has_more: entries.len() == STEP, ..Self::default() };
        let Some(own) = catalog.find(WEBHOOKS) else { return Ok(news) };
        let mut told = Listeners::of(reader, webhooks)?;
        for entry in entries {
            match (entry.event, entry.object.as_ref().map(|object| object.pk)) {
                (Event::ObjectCreated, Some(pk)) if entry.ctd == own.pk => {
                    news.made.push(pk);
                    told.listening.insert(pk);
                }
                (Event::ObjectUpdated, Some(pk)) if entry.ctd == own.pk => {
                    if webhooks.iter().any(|webhook| webhook.pk == pk && webhook.is_sent_to()) {
                        news.changed.push(pk);
                    } else {
                        news.suspended.push(pk);
                    }
                }
                (Event::ObjectDeleted | Event::TypePurged, _) if entry.ctd == own.pk => {
                    news.has_lost = true;
                }
                _ if entry.ctd == own.pk || told.listening.is_empty() => {}
                _ => told.tell(reader, catalog, entry, &mut news.deliveries)?,
            }
        }
        Ok(news)
    }

    fn write(&self, writer: &Writer<'_>, now: Timestamp) -> Result<()> {
        for &pk in &self.made {
            writer.insert_webhook(pk)?;
        }
        for delivery in &self.deliveries {
            writer.insert_delivery(delivery, now)?;
        }
        for &pk in &self.changed {
            writer.restart_webhook(pk, now)?;
        }
        for &pk in &self.suspended {
            writer.suspend_webhook(pk)?;
        }
        if self.has_lost {
            writer.drop_webhooks()?;
        }
        writer.set_webhook_cursor(self.seq)
    }

    fn is_empty(&self) -> bool {
        self.made.is_empty()
            && self.changed.is_empty()
            && self.suspended.is_empty()
            && !self.has_lost
            && self.deliveries.is_empty()
    }
}

/// The webhooks that exist at a place of the journal.
struct Listeners<'a> {
    webhooks: &'a [Webhook],
    /// Rows of those whose creation was read.
    listening: BTreeSet<i64>,
}

impl<'a> Listeners<'a> {
    fn of(reader: &Reader<'_>, webhooks: &'a [Webhook]) -> Result<Self> {
        let listening = reader.webhooks()?.into_iter().collect();
        Ok(Self { webhooks, listening })
    }

    fn tell(
        &self,
        reader: &Reader<'_>,
        catalog: &Catalog,
        entry: &ToldEntry,
        deliveries: &mut Vec<NewDelivery>,
    ) -> Result<()> {
        let (Some(action), Some(name)) = (action(entry.event), &entry.content_type) else {
            return Ok(());
        };
        let is_of_type =
            matches!(entry.event, Event::TypeCreated | Event::TypeUpdated | Event::TypeDeleted);
        let wants = |webhook: &&Webhook| {
            self.listening.contains(&webhook.pk)
                && match webhook.kind {
                    Kind::Type => is_of_type && webhook.enabled,
                    Kind::Object => !is_of_type && webhook.wants(action, name),
                    Kind::Blocking => false,
                }
        };
        let told: Vec<i64> = self.webhooks.iter().filter(wants).map(|webhook| webhook.pk).collect();
        if told.is_empty() {
            return Ok(());
        }
        for subject in subjects(reader, catalog, entry)? {
            for &webhook in &told {
                deliveries.push(NewDelivery {
                    webhook,
                    message: message(entry, webhook, subject.object),
                    at: entry.at,
                    action,
                    ctd: Some(entry.ctd),
                    object: subject.object,
                    version: subject.version,
                    type_name: name.clone(),
                    id: subject.id.clone(),
                });
            }
        }
        Ok(())
    }
}

/// What an entry of the journal is about.
struct Subject {
    object: Option<i64>,
    version: Option<i64>,
    id: String,
}

fn subjects(reader: &Reader<'_>, catalog: &Catalog, entry: &ToldEntry) -> Result<Vec<Subject>> {
    let about = |object: ToldObject| Subject {
        object: Some(object.pk),
        version: Some(object.version),
        id: object.id,
    };
    Ok(match (entry.event, &entry.object) {
        (_, Some(object)) => vec![about(object.clone())],
        (Event::TypePurged, None) => {
            reader.trashed_at(entry.ctd, entry.at)?.into_iter().map(about).collect()
        }
        (_, None) => {
            let known = catalog.types().iter().find(|known| known.pk == entry.ctd);
            let about = |known: &Arc<CompiledType>| Subject {
                object: None,
                version: None,
                id: known.uid.clone(),
            };
            known.map(about).into_iter().collect()
        }
    })
}

/// What webhooks call an event; none is ever called `Custom`.
fn action(event: Event) -> Option<&'static str> {
    match event {
        Event::ObjectCreated | Event::TypeCreated => Some("Create"),
        Event::ObjectUpdated | Event::TypeUpdated => Some("Update"),
        Event::ObjectDeleted | Event::TypePurged | Event::TypeDeleted => Some("Delete"),
        Event::ObjectPublished => Some("Publish"),
        Event::ObjectUnpublished => Some("Unpublish"),
        Event::ObjectArchived => Some("Archive"),
        Event::ObjectMoved => Some("WorkflowTransition"),
        Event::ObjectScheduled | Event::IndexWanted => None,
    }
}

/// Names a message: the same whenever it is made of the same entry.
fn message(entry: &ToldEntry, webhook: i64, object: Option<i64>) -> String {
    let nonce = entry.place.nonce.cast_unsigned();
    format!("msg_{}_{nonce:016x}_{webhook}_{}", entry.place.seq, object.unwrap_or_default())
}
