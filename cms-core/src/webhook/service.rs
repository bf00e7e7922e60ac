//! Deliveries of webhooks: which are due, what they say, what came of them, and their log.
//!
//! Whoever sends takes [`Outgoing`] from [`Webhooks::next`], one at a time of each webhook, and says
//! with [`Webhooks::record`] what was [`Answered`]. One that fails stays the first of its queue.

use std::{
    fs::File,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use super::{
    body::Happening,
    consult::AskReceiver,
    exchange::Answered,
    feed::{self, Cursor},
    known::Known,
    model::{Kind, Webhook},
    retry,
    signature::Secret,
};
use crate::{
    clock::Timestamp,
    cms::Cms,
    context::Caller,
    dates,
    error::{Error, Result},
    limits, lock,
    object::render,
    paging::Page,
    store::{Attempt, DeliveryRow, NewDelivery, Reader},
    wire::{
        list::List,
        webhook::{self as wire, Delivery, ReplayRequest, Replayed, Response},
    },
};

/// The file whose lock says which process sends.
const LOCK: &str = "webhooks.lock";

/// What a process remembers of webhooks.
#[derive(Default)]
pub(crate) struct Deliveries {
    pub(super) known: Known,
    cursor: Cursor,
    /// Held for as long as this process sends.
    lock: Mutex<Option<File>>,
    /// Who asks blocking webhooks.
    pub(super) receiver: OnceLock<Box<dyn AskReceiver>>,
}

/// A request to be sent.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// The id of the webhook.
    pub id: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
    webhook: i64,
    delivery: i64,
    attempts: u32,
}

/// Operations on webhooks. They themselves are objects of the type `_webhooks`.
pub struct Webhooks<'a> {
    pub(crate) cms: &'a Cms,
}

impl Webhooks<'_> {
    /// Lists the webhooks, oldest first.
    pub fn list(&self, caller: &Caller) -> Result<List<wire::Webhook>> {
        caller.require_admin()?;
        self.cms.store.read(|reader| {
            let key = reader.webhook_key()?;
            let shown = |webhook: &Webhook| {
                let (_, pending) = reader.count_deliveries(webhook.pk)?;
                let next = reader.next_delivery(webhook.pk)?;
                Ok(wire::Webhook {
                    id: webhook.id.clone(),
                    name: webhook.name.clone(),
                    kind: webhook.kind.as_str().to_owned(),
                    url: webhook.url.clone(),
                    enabled: webhook.enabled,
                    pending,
                    failing: next.is_some_and(|next| next.attempts > 0),
                    secret: Secret::of(&key, webhook.pk).show(),
                })
            };
            let webhooks = self.known(reader)?;
            Ok(List::whole(webhooks.iter().map(shown).collect::<Result<_>>()?))
        })
    }

    /// Lists what a webhook was and will be told, newest first.
    pub fn log(&self, caller: &Caller, id: &str, page: Page) -> Result<List<Delivery>> {
        caller.require_admin()?;
        self.cms.store.read(|reader| {
            let webhook = self.find(reader, id)?;
            let (total, _) = reader.count_deliveries(webhook.pk)?;
            let rows = reader.deliveries(webhook.pk, page.offset(), page.limit)?;
            Ok(List::new(page, total, rows.into_iter().map(to_wire).collect()))
        })
    }

    /// Sends deliveries again, and tries at once what waits; returns how many there are.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the webhook has no such delivery; then nothing is done.
    pub fn replay(&self, caller: &Caller, id: &str, request: &ReplayRequest) -> Result<Replayed> {
        caller.require_admin()?;
        let pk = self.cms.store.read(|reader| Ok(self.find(reader, id)?.pk))?;
        let ids = request.ids.clone();
        self.cms.store.write(move |writer| {
            writer.hurry_webhook(pk)?;
            let Some(ids) = ids else {
                let (_, waiting) = writer.count_deliveries(pk)?;
                return Ok(Replayed { replayed: waiting + writer.requeue_failed(pk)? as u64 });
            };
            for id in &ids {
                let found = writer.delivery(*id)?.filter(|found| found.webhook == pk);
                found.ok_or(Error::NotFound { what: "delivery", name: id.to_string() })?;
                writer.requeue_delivery(*id)?;
            }
            Ok(Replayed { replayed: ids.len() as u64 })
        })
    }

    /// Puts a delivery into the queue of a webhook that tells of nothing.
    pub fn test(&self, caller: &Caller, id: &str) -> Result<Delivery> {
        caller.require_admin()?;
        let webhook = self.cms.store.read(|reader| self.find(reader, id))?;
        if webhook.kind == Kind::Blocking {
            let reason = "Synchronous webhooks are called by writes only";
            return Err(Error::Refused(vec![reason.to_owned()]));
        }
        let new = NewDelivery {
            webhook: webhook.pk,
            message: format!("msg_{}", self.cms.config.ids.uuid()),
            at: self.cms.config.clock.now(),
            action: "Test",
            ctd: None,
            object: None,
            version: None,
            type_name: String::new(),
            id: "test".to_owned(),
        };
        self.cms.store.write(move |writer| {
            // It may be so new that nobody has read of it yet.
            writer.insert_webhook(new.webhook)?;
            let pk = writer.insert_delivery(&new)?;
            let row = writer.delivery(pk)?.ok_or_else(|| Error::internal("no delivery"))?;
            Ok(to_wire(row))
        })
    }

    /// Tells whether this process is the one that sends, and makes it so when there is none.
    pub fn may_send(&self) -> Result<bool> {
        let mut held = self.cms.webhooks.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_none() {
            *held = lock::try_hold(&self.cms.config.folder.join(LOCK))?;
        }
        Ok(held.is_some())
    }

    /// Makes deliveries of a little of the journal; tells whether there may be more to do.
    pub fn follow(&self) -> Result<bool> {
        let Cms { store, catalog, webhooks, .. } = self.cms;
        feed::step(store, catalog, &webhooks.known, &webhooks.cursor)
    }

    /// Names the webhooks for which something is due.
    pub fn due(&self) -> Result<Vec<i64>> {
        let now = self.cms.config.clock.now();
        self.cms.store.read(|reader| {
            let mut due = Vec::new();
            for webhook in self.known(reader)?.iter().filter(|webhook| is_told(webhook)) {
                let next = reader.next_delivery(webhook.pk)?;
                if next.is_some_and(|next| next.due_at <= now) {
                    due.push(webhook.pk);
                }
            }
            Ok(due)
        })
    }

    /// Returns what a webhook is to be sent now, if anything.
    pub fn next(&self, webhook: i64) -> Result<Option<Outgoing>> {
        let now = self.cms.config.clock.now();
        self.cms.store.read(|reader| {
            let known = self.known(reader)?;
            let Some(webhook) = known.iter().find(|known| known.pk == webhook && is_told(known))
            else {
                return Ok(None);
            };
            let next = reader.next_delivery(webhook.pk)?.filter(|next| next.due_at <= now);
            next.map(|next| self.outgoing(reader, webhook, &next, now)).transpose()
        })
    }

    fn outgoing(
        &self,
        reader: &Reader<'_>,
        webhook: &Webhook,
        row: &DeliveryRow,
        now: Timestamp,
    ) -> Result<Outgoing> {
        let payload = self.payload(reader, row)?;
        let body = happening(row).body(&webhook.id, payload.as_deref());
        let signature = Secret::of(&reader.webhook_key()?, webhook.pk);
        let signature = signature.headers(&row.message, now, &body);
        let mut headers = webhook.headers.clone();
        headers.extend(signature.map(|(name, value)| (name.to_owned(), value)));
        Ok(Outgoing {
            id: webhook.id.clone(),
            url: webhook.url.clone(),
            headers,
            body,
            webhook: webhook.pk,
            delivery: row.pk,
            attempts: row.attempts,
        })
    }

    /// What a delivery tells of: the object in the version that it had, the type as it is. None when
    /// that is gone.
    fn payload(&self, reader: &Reader<'_>, row: &DeliveryRow) -> Result<Option<Vec<u8>>> {
        match (row.ctd, row.object, row.version) {
            _ if row.action == "Delete" => Ok(None),
            (Some(_), Some(object), Some(version)) => {
                let stored = reader.any_version(object, version)?;
                Ok(stored.map(|stored| {
                    let mut out = Vec::new();
                    render::object(&mut out, &row.type_name, &stored);
                    out
                }))
            }
            (Some(ctd), None, _) => {
                let catalog = self.cms.catalog.at(reader)?;
                let found = catalog.types().iter().find(|known| known.pk == ctd);
                let json = found.map(|known| serde_json::to_vec(&known.to_wire())).transpose();
                json.map_err(|error| Error::Internal(Box::new(error)))
            }
            _ => Ok(None),
        }
    }

    /// Notes what came of a request; tells why, when it is an error by now.
    pub fn record(&self, sent: Outgoing, answered: Answered) -> Result<Option<String>> {
        let now = self.cms.config.clock.now();
        let is_done = answered.is_success();
        let (status, response, error) = match answered {
            Answered::With(status, body) => {
                let error = (!is_done).then(|| format!("the answer has status {status}"));
                (Some(status), Some(bounded(body)), error)
            }
            Answered::Nothing(reason) => (None, None, Some(reason)),
        };
        let attempts = sent.attempts.saturating_add(1);
        let (state, due_at) = match &error {
            None => ("done", None),
            Some(_) if retry::is_error(attempts) => ("error", Some(retry::next(attempts, now))),
            Some(_) => ("pending", Some(retry::next(attempts, now))),
        };
        let told = error.clone().filter(|_| state == "error");
        let request = bounded(sent.body);
        let attempt = Attempt { at: now, state, due_at, status, response, error, request };
        let (webhook, delivery) = (sent.webhook, sent.delivery);
        self.cms.store.write(move |writer| {
            writer.record_attempt(delivery, &attempt)?;
            writer.prune_log(webhook, limits::WEBHOOK_LOG)
        })?;
        Ok(told)
    }

    /// Gives up what has waited for too long, and reads the journal; returns the row of it up to
    /// which nothing is needed any more.
    pub(crate) fn housekeep(&self, before: Timestamp) -> Result<i64> {
        let store = &self.cms.store;
        if store.peek(|reader| reader.has_deliveries_before(before))? {
            let reason = format!("given up after {} days", limits::WEBHOOK_DAYS);
            store.write(move |writer| writer.give_up_deliveries(before, &reason))?;
        }
        while self.follow()? {}
        feed::save(store, &self.cms.webhooks.cursor).map(|seq| seq + 1)
    }

    pub(super) fn known(&self, reader: &Reader<'_>) -> Result<Arc<Vec<Webhook>>> {
        self.cms.webhooks.known.at(reader, &*self.cms.catalog.at(reader)?)
    }

    fn find(&self, reader: &Reader<'_>, id: &str) -> Result<Webhook> {
        let known = self.known(reader)?;
        let found = known.iter().find(|known| known.id.eq_ignore_ascii_case(id));
        found.cloned().ok_or_else(|| Error::NotFound { what: "webhook", name: id.to_owned() })
    }
}

fn is_told(webhook: &Webhook) -> bool {
    webhook.enabled && webhook.kind != Kind::Blocking
}

fn happening(row: &DeliveryRow) -> Happening<'_> {
    Happening {
        action: &row.action,
        content_type: &row.type_name,
        id: &row.id,
        version: row.version,
    }
}

fn to_wire(row: DeliveryRow) -> Delivery {
    Delivery {
        id: row.pk,
        reference: happening(&row).reference(),
        message: row.message,
        action: row.action,
        content_type_name: row.type_name,
        status: row.state,
        attempts: row.attempts,
        created_at: dates::definition_date(row.at),
        attempted_at: row.attempted_at.map(dates::definition_date),
        next_attempt_at: row
            .queued
            .then(|| dates::definition_date(Timestamp(row.due_at.0.max(row.at.0)))),
        request: row.request,
        response: row
            .status
            .map(|status| Response { status, body: row.response.unwrap_or_default() }),
        error: row.error,
    }
}

/// The beginning of a text, as much of it as the log keeps.
fn bounded(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(limits::WEBHOOK_LOGGED));
    text
}
