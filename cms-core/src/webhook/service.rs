//! Deliveries of webhooks: which are due, what they say, what came of them, and their log.
//!
//! The sender asks [`Webhooks::due`] what to send next, takes the request from [`Webhooks::outgoing`],
//! and says with [`Webhooks::record`] what was [`Answered`]. A delivery that fails stays the first of
//! the queue of its object.

use std::{
    collections::BTreeMap,
    fs::File,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use cms_model::{
    clock::Timestamp,
    context::Caller,
    dates,
    error::{Error, Result},
    limits,
    object::render,
    paging::Page,
    webhook::{
        body::Happening,
        exchange::Answered,
        model::{Kind, Webhook},
        schedule::{self, Dispatch, Endpoint, Outcome, Verdict},
        signature::Secret,
    },
    wire::{
        list::List,
        webhook as wire,
        webhook::{Delivery, DeliveryResponse, ReplayRequest, Replayed},
    },
};
use cms_system::lock;

use super::{
    consult::AskReceiver,
    feed::{self, Cursor},
    known::Known,
};
use crate::{
    cms::Cms,
    store::{Attempt, DeliveryRow, NewDelivery, Reader, Writer},
};

/// The file whose lock says which process sends.
const LOCK: &str = "webhooks.lock";
/// Expired deliveries that one transaction gives up.
const EXPIRED_PER_COMMIT: u32 = 500;

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
    dispatch: Dispatch,
}

/// What an attempt changed that an operator should know of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Why the delivery is an error by now, or was given up.
    pub error: Option<String>,
    /// The endpoint is down from now on.
    pub went_down: bool,
    /// The endpoint was down until now.
    pub recovered: bool,
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
                Ok(wire::Webhook {
                    id: webhook.id.clone(),
                    name: webhook.name.clone(),
                    kind: webhook.kind.as_str().to_owned(),
                    url: webhook.url.clone(),
                    enabled: webhook.enabled,
                    pending,
                    failing: reader.is_webhook_failing(webhook.pk)?,
                    secret: Secret::of(&key, webhook.pk).show(),
                })
            };
            let webhooks = self.known(reader)?;
            Ok(List::single_page(webhooks.iter().map(shown).collect::<Result<_>>()?))
        })
    }

    /// Lists what a webhook was and will be told, newest first.
    pub fn log(&self, caller: &Caller, id: &str, page: Page) -> Result<List<Delivery>> {
        caller.require_admin()?;
        self.cms.store.read(|reader| {
            let webhook = self.find(reader, id)?;
            let (total, _) = reader.count_deliveries(webhook.pk)?;
            let rows = reader.deliveries(webhook.pk, page.offset(), page.limit)?;
            let endpoint = reader.webhook_endpoint(webhook.pk)?.unwrap_or(Endpoint::Up);
            let shown = rows.into_iter().map(|row| to_wire(row, endpoint));
            Ok(List::new(page, total, shown.collect()))
        })
    }

    /// Sends deliveries again, those that were given up unless some are named, and tries immediately
    /// what waits; returns how many there are.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the webhook has no such delivery; then nothing is done.
    pub fn replay(&self, caller: &Caller, id: &str, request: &ReplayRequest) -> Result<Replayed> {
        caller.require_admin()?;
        let pk = self.cms.store.read(|reader| Ok(self.find(reader, id)?.pk))?;
        let ids = request.ids.clone();
        let now = self.cms.config.clock.now();
        self.cms.store.write(move |writer| {
            writer.restart_webhook(pk, now)?;
            let Some(ids) = ids else {
                let (_, waiting) = writer.count_deliveries(pk)?;
                return Ok(Replayed { replayed: waiting + writer.requeue_failed(pk, now)? as u64 });
            };
            for id in &ids {
                let found = writer.delivery(*id)?.filter(|found| found.webhook == pk);
                found.ok_or(Error::NotFound { what: "delivery", name: id.to_string() })?;
                writer.requeue_delivery(*id, now)?;
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
            return Err(Error::Rejected(vec![reason.to_owned()]));
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
            let pk = writer.insert_delivery(&new, new.at)?;
            let row = writer.delivery(pk)?.ok_or_else(|| Error::internal("no delivery"))?;
            Ok(to_wire(row, Endpoint::Up))
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
        let now = self.cms.config.clock.now();
        feed::step(store, catalog, &webhooks.known, &webhooks.cursor, now)
    }

    /// Returns what is to be sent now: to all webhooks, or to one. `running` holds, by webhook, the
    /// requests that are under way.
    pub fn due(
        &self,
        only: Option<i64>,
        running: &BTreeMap<i64, Vec<Dispatch>>,
    ) -> Result<Vec<Dispatch>> {
        let now = self.cms.config.clock.now();
        self.cms.store.read(|reader| {
            let known = self.known(reader)?;
            let wanted = |webhook: &&Webhook| {
                webhook.is_sent_to() && only.is_none_or(|only| only == webhook.pk)
            };
            let mut due = Vec::new();
            for webhook in known.iter().filter(wanted).map(|webhook| webhook.pk) {
                let Some(endpoint) = reader.webhook_endpoint(webhook)? else { continue };
                let mut in_flight = running.get(&webhook).cloned().unwrap_or_default();
                if in_flight.len() >= schedule::PARALLEL_REQUESTS {
                    continue;
                }
                let waiting = reader.next_deliveries(webhook, now)?;
                while let Some(next) = schedule::next(endpoint, &waiting, &in_flight, now) {
                    let queue = next.queue.clone();
                    let dispatch = Dispatch { webhook, delivery: next.pk, queue };
                    in_flight.push(dispatch.clone());
                    due.push(dispatch);
                }
            }
            Ok(due)
        })
    }

    /// Returns the request of a delivery; none when there is nothing to send any more.
    pub fn outgoing(&self, dispatch: &Dispatch) -> Result<Option<Outgoing>> {
        let now = self.cms.config.clock.now();
        self.cms.store.read(|reader| {
            let known = self.known(reader)?;
            let is_wanted = |known: &&Webhook| known.pk == dispatch.webhook && known.is_sent_to();
            let Some(webhook) = known.iter().find(is_wanted) else { return Ok(None) };
            let row = reader.delivery(dispatch.delivery)?.filter(|row| row.queued);
            row.map(|row| self.request(reader, webhook, &row, dispatch, now)).transpose()
        })
    }

    fn request(
        &self,
        reader: &Reader<'_>,
        webhook: &Webhook,
        row: &DeliveryRow,
        dispatch: &Dispatch,
        now: Timestamp,
    ) -> Result<Outgoing> {
        let payload = self.payload(reader, row)?;
        let body = happening(row).body(&webhook.id, payload.as_deref());
        let signature = Secret::of(&reader.webhook_key()?, webhook.pk);
        let signature = signature.headers(&row.message, now, &body);
        let mut headers = webhook.headers.clone();
        headers.extend(signature.map(|(name, value)| (name.to_owned(), value)));
        let (id, url) = (webhook.id.clone(), webhook.url.clone());
        Ok(Outgoing { id, url, headers, body, dispatch: dispatch.clone() })
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

    /// Notes what came of a request.
    pub fn record(&self, sent: Outgoing, answered: Answered) -> Result<Recorded> {
        let now = self.cms.config.clock.now();
        let outcome = Outcome::of(&answered);
        let (status, response, error) = match answered {
            Answered::With(status, body) => {
                let error = (outcome != Outcome::Success)
                    .then(|| format!("the answer has status {status}"));
                (Some(status), Some(bounded(body)), error)
            }
            Answered::Nothing(reason) => (None, None, Some(reason)),
        };
        let request = bounded(sent.body);
        let Dispatch { webhook, delivery, .. } = sent.dispatch;
        self.cms.store.write(move |writer| {
            // The webhook may be gone by now, and the delivery given up.
            let Some(row) = writer.delivery(delivery)? else { return Ok(Recorded::default()) };
            let due_since = row.due_since.unwrap_or(now);
            let attempts = row.attempts.saturating_add(1);
            let (state, due_at) = match schedule::after_attempt(outcome, attempts, due_since, now) {
                Verdict::Done => ("done", None),
                Verdict::Retry { due_at, state } if row.queued => (state, Some(due_at)),
                Verdict::Retry { .. } | Verdict::Failed => ("failed", None),
            };
            let outage = outcome == Outcome::Outage;
            let reported = error.clone().filter(|_| state == "error" || state == "failed");
            let attempt =
                Attempt { at: now, state, due_at, outage, status, response, error, request };
            writer.record_attempt(delivery, &attempt)?;
            writer.prune_log(webhook, limits::MAX_WEBHOOK_LOG_ENTRIES)?;
            let (went_down, recovered) = record_outcome(writer, &row, outcome, now)?;
            Ok(Recorded { error: reported, went_down, recovered })
        })
    }

    /// Gives up a little of what has expired; tells whether there may be more.
    pub fn give_up(&self) -> Result<bool> {
        let store = &self.cms.store;
        let now = self.cms.config.clock.now();
        let before = schedule::expired_before(now);
        if store.peek(|reader| Ok(reader.deliveries_due_since_before(before, 1)?.is_empty()))? {
            return Ok(false);
        }
        store.write(move |writer| {
            let expired = writer.deliveries_due_since_before(before, EXPIRED_PER_COMMIT)?;
            let mut webhooks = Vec::new();
            for delivery in &expired {
                webhooks.push(writer.give_up_delivery(*delivery, schedule::EXPIRED, now)?);
            }
            webhooks.dedup();
            for webhook in webhooks {
                writer.prune_log(webhook, limits::MAX_WEBHOOK_LOG_ENTRIES)?;
            }
            Ok(expired.len() >= EXPIRED_PER_COMMIT as usize)
        })
    }

    /// Gives up what has expired, and reads the journal; returns the row of it up to which nothing
    /// is needed any more.
    pub(crate) fn housekeep(&self) -> Result<i64> {
        while self.give_up()? {}
        while self.follow()? {}
        feed::save(&self.cms.store, &self.cms.webhooks.cursor).map(|seq| seq + 1)
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

/// Applies an attempt to the endpoint of its webhook; tells whether it went down, or recovered.
fn record_outcome(
    writer: &Writer<'_>,
    attempted: &DeliveryRow,
    outcome: Outcome,
    now: Timestamp,
) -> Result<(bool, bool)> {
    let webhook = attempted.webhook;
    let Some(endpoint) = writer.webhook_endpoint(webhook)? else { return Ok((false, false)) };
    let outages = writer.webhook_outages(webhook)?;
    let change = endpoint.after_attempt(outcome, outages, now);
    if change.forgets_outages {
        writer.forget_outages(webhook)?;
    }
    if change.releases_all {
        writer.release_deliveries(webhook, now, attempted.pk)?;
    }
    writer.set_webhook_endpoint(webhook, change.endpoint)?;
    let is_down = |endpoint| matches!(endpoint, Endpoint::Down { .. });
    let (was_down, is_down) = (is_down(endpoint), is_down(change.endpoint));
    Ok((!was_down && is_down, was_down && !is_down))
}

fn happening(row: &DeliveryRow) -> Happening<'_> {
    Happening {
        action: &row.action,
        content_type: &row.type_name,
        id: &row.id,
        version: row.version,
    }
}

fn to_wire(row: DeliveryRow, endpoint: Endpoint) -> Delivery {
    let due_at = Timestamp(row.due_at.0.max(row.at.0));
    let due_at = match endpoint {
        Endpoint::Up => due_at,
        Endpoint::Down { resume_at, .. } => due_at.max(resume_at),
    };
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
        next_attempt_at: row.queued.then(|| dates::definition_date(due_at)),
        request: row.request,
        response: row
            .status
            .map(|status| DeliveryResponse { status, body: row.response.unwrap_or_default() }),
        error: row.error,
    }
}

/// The beginning of a text, as much of it as the log keeps.
fn bounded(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(limits::MAX_WEBHOOK_LOG_BODY_BYTES));
    text
}
