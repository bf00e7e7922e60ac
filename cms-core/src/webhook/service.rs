//! The webhook service: due deliveries, their requests, their outcome, and their log.
//!
//! The dispatcher gets the next deliveries from [`Webhooks::due`] and a request from
//! [`Webhooks::outgoing`], and reports the [`WebhookOutcome`] to [`Webhooks::record`]. A failed
//! delivery stays the first of the queue of its object.

use std::{borrow::Cow, sync::Arc};

use cms_model::{
    clock::Timestamp,
    context::Caller,
    dates,
    error::{Error, Result},
    limits,
    object::render,
    paging::PageRequest,
    webhook::{
        change_batch::{self, ChangeBatch},
        exchange::Exchange,
        model::{Webhook, WebhookKind},
        schedule::{self, AttemptResult, Dispatch, EndpointState, NextState},
        signature::Secret,
        synchronous::WebhookOutcome,
    },
    wire::{
        list::List,
        webhook as wire,
        webhook::{Delivery, ReplayRequest, Replayed},
    },
};
use cms_store::{DeliveryAttempt, DeliveryEvent, DeliveryRow, Reader, WriteTransaction};
use cms_system::lock;

use super::{delivery_creator, log_entry};
use crate::cms::{Cms, service};

/// The file that the sending process locks.
const LOCK: &str = "webhooks.lock";
/// Expired deliveries per transaction.
const EXPIRED_PER_COMMIT: u32 = 500;

/// A request to be sent.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// The id of the webhook.
    pub id: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
    /// Names of the headers that the webhook configures.
    configured_headers: Vec<String>,
    dispatch: Dispatch,
}

/// The effect of an attempt, for logs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttemptReport {
    /// The reason why the delivery has the state `error` or `failed`.
    pub error: Option<String>,
    /// The endpoint has become down.
    pub went_down: bool,
    /// The endpoint is up again.
    pub recovered: bool,
}

service! {
    /// Operations on deliveries; webhooks are objects of the type `_webhooks`.
    Webhooks, webhooks
}

impl Webhooks<'_> {
    /// Lists the webhooks, oldest first.
    pub fn list(&self, caller: &Caller) -> Result<List<wire::WebhookStatus>> {
        caller.require_admin()?;
        self.cms.store.read(|reader| {
            let key = reader.webhook_key()?;
            let shown = |webhook: &Webhook| {
                let (_, pending) = reader.count_deliveries(webhook.pk)?;
                let paused_until = match reader.webhook_endpoint(webhook.pk)? {
                    Some(EndpointState::Down { resume_at, .. }) => {
                        Some(dates::microsecond_date(resume_at))
                    }
                    Some(EndpointState::Up) | None => None,
                };
                Ok(wire::WebhookStatus {
                    id: webhook.id.clone(),
                    name: webhook.name.clone(),
                    kind: webhook.kind.as_str().to_owned(),
                    url: webhook.url.clone(),
                    enabled: webhook.enabled,
                    pending,
                    failing: reader.is_webhook_failing(webhook.pk)?,
                    paused_until,
                    secret: Secret::derive(&key, webhook.pk).show(),
                })
            };
            let webhooks = self.all(reader)?;
            Ok(List::single_page(webhooks.iter().map(shown).collect::<Result<_>>()?))
        })
    }

    /// Checks that a webhook exists.
    pub fn require(&self, caller: &Caller, id: &str) -> Result<()> {
        caller.require_admin()?;
        self.cms.store.read(|reader| self.find(reader, id).map(drop))
    }

    /// Lists the deliveries of a webhook, newest first.
    pub fn log(&self, caller: &Caller, id: &str, page: PageRequest) -> Result<List<Delivery>> {
        caller.require_admin()?;
        self.cms.store.read(|reader| {
            let webhook = self.find(reader, id)?;
            let (total, _) = reader.count_deliveries(webhook.pk)?;
            let rows = reader.deliveries(webhook.pk, page.offset(), page.limit)?;
            let endpoint = reader.webhook_endpoint(webhook.pk)?.unwrap_or(EndpointState::Up);
            let shown = rows.into_iter().map(|row| log_entry::to_wire(row, &webhook, endpoint));
            Ok(List::new(page, total, shown.collect()))
        })
    }

    /// Queues the requested deliveries again; without ids, all failed ones. Pending deliveries become
    /// due immediately. Returns the number of requested deliveries; without ids, that of failed and
    /// pending ones.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the webhook has no such delivery; then nothing changes.
    pub fn replay(&self, caller: &Caller, id: &str, request: &ReplayRequest) -> Result<Replayed> {
        caller.require_admin()?;
        let webhook = self.cms.store.read(|reader| self.find(reader, id))?;
        let (pk, ids, now) = (webhook.pk, request.ids.clone(), self.cms.now());
        self.cms.store.write(move |writer| {
            // Without this, changes whose journal rows are not read yet would wait for a quiet period instead of being
            // sent now.
            delivery_creator::catch_up(writer, now)?;
            writer.restart_webhook(pk, now)?;
            let replayed = if let Some(ids) = ids {
                for id in &ids {
                    let found = writer.delivery(*id)?.filter(|found| found.event.webhook == pk);
                    found.ok_or_else(|| Error::not_found("delivery", id.to_string()))?;
                    writer.requeue_delivery(*id, now)?;
                }
                ids.len() as u64
            } else {
                let (_, pending) = writer.count_deliveries(pk)?;
                pending + writer.requeue_failed(pk, now)? as u64
            };
            if !webhook.receives_deliveries() {
                writer.suspend_webhook(pk)?;
            }
            Ok(Replayed { replayed })
        })
    }

    /// Queues a test delivery.
    pub fn test(&self, caller: &Caller, id: &str) -> Result<Delivery> {
        caller.require_admin()?;
        let webhook = self.cms.store.read(|reader| self.find(reader, id))?;
        if webhook.kind == WebhookKind::Synchronous {
            let reason = "Synchronous webhooks are called by writes only";
            return Err(Error::Rejected(vec![reason.into()]));
        }
        let new = DeliveryEvent {
            webhook: webhook.pk,
            message: format!("msg_{}", self.cms.config.ids.uuid()),
            at: self.cms.now(),
            action: "Test".into(),
            ctd: None,
            object: None,
            version: None,
            type_name: String::new(),
            id_or_changes: "test".to_owned(),
            actor: caller.actor().pk.into(),
        };
        self.cms.store.write(move |writer| {
            // First read the journal up to the creation of the webhook: a webhook whose endpoint is inserted before
            // that would also receive earlier events.
            delivery_creator::catch_up(writer, new.at)?;
            writer.insert_webhook_endpoint(new.webhook)?;
            let pk = writer.insert_delivery(&new, new.at)?;
            if !webhook.receives_deliveries() {
                writer.suspend_webhook(new.webhook)?;
            }
            let row = writer.delivery(pk)?.ok_or_else(|| Error::internal("no delivery"))?;
            Ok(log_entry::to_wire(row, &webhook, EndpointState::Up))
        })
    }

    /// Returns whether this process sends deliveries; takes the lock of the sender if it is free. False for a data
    /// directory whose content has moved into a cluster: the nodes of the cluster send its deliveries.
    pub fn try_become_sender(&self) -> Result<bool> {
        if self.cms.store.has_moved()? {
            return Ok(false);
        }
        let mut lock_file = self.cms.webhooks.lock.lock();
        if lock_file.is_none() {
            *lock_file = lock::try_lock(&self.cms.config.folder.join(LOCK))?;
        }
        Ok(lock_file.is_some())
    }

    /// Creates deliveries for a batch of the journal; returns whether more may follow.
    pub fn create_deliveries(&self) -> Result<bool> {
        let Cms { store, catalog, webhooks, .. } = self.cms;
        let now = self.cms.now();
        delivery_creator::create_deliveries(store, catalog, &webhooks.cache, &webhooks.cursor, now)
    }

    /// Returns the deliveries to send now, of all webhooks or of one. `running` holds the requests
    /// in flight.
    pub fn due(&self, only: Option<i64>, running: &[Dispatch]) -> Result<Vec<Dispatch>> {
        let now = self.cms.now();
        self.cms.store.read(|reader| {
            let webhooks = self.all(reader)?;
            let wanted = |webhook: &&Webhook| {
                webhook.receives_deliveries() && only.is_none_or(|only| only == webhook.pk)
            };
            let mut due = Vec::new();
            for webhook in webhooks.iter().filter(wanted).map(|webhook| webhook.pk) {
                let Some(endpoint) = reader.webhook_endpoint(webhook)? else { continue };
                let of_webhook = running.iter().filter(|request| request.webhook == webhook);
                let mut in_flight: Vec<Dispatch> = of_webhook.cloned().collect();
                if in_flight.len() >= schedule::PARALLEL_REQUESTS {
                    continue;
                }
                let pending = reader.next_deliveries(webhook, now)?;
                while let Some(next) = schedule::next(endpoint, &pending, &in_flight, now) {
                    let queue = next.queue.clone();
                    let dispatch = Dispatch { webhook, delivery: next.pk, queue };
                    in_flight.push(dispatch.clone());
                    due.push(dispatch);
                }
            }
            Ok(due)
        })
    }

    /// Returns the request of a delivery; none when it is no longer pending.
    pub fn outgoing(&self, dispatch: &Dispatch) -> Result<Option<Outgoing>> {
        let now = self.cms.now();
        if dispatch.queue == change_batch::QUEUE {
            let pk = dispatch.delivery;
            self.cms.store.write(move |writer| writer.end_collection(pk, now))?;
        }
        self.cms.store.read(|reader| {
            let webhooks = self.all(reader)?;
            let is_wanted = |webhook: &&Webhook| {
                webhook.pk == dispatch.webhook && webhook.receives_deliveries()
            };
            let Some(webhook) = webhooks.iter().find(is_wanted) else { return Ok(None) };
            let row = reader.delivery(dispatch.delivery)?.filter(|row| row.is_pending);
            let Some(row) = row else { return Ok(None) };
            let body = self.body(reader, webhook, &row.event)?;
            let signature = Secret::derive(&reader.webhook_key()?, webhook.pk);
            let signature = signature.headers(&row.event.message, now, &body);
            let mut headers = webhook.headers.clone();
            let configured_headers = headers.iter().map(|(name, _)| name.clone()).collect();
            headers.extend(signature.map(|(name, value)| (name.to_owned(), value)));
            let (id, url, dispatch) = (webhook.id.clone(), webhook.url.clone(), dispatch.clone());
            Ok(Some(Outgoing { id, url, headers, body, configured_headers, dispatch }))
        })
    }

    fn body(
        &self,
        reader: &Reader<'_>,
        webhook: &Webhook,
        event: &DeliveryEvent,
    ) -> Result<String> {
        if log_entry::is_batch(event) {
            let changes: ChangeBatch =
                serde_json::from_str(&event.id_or_changes).map_err(Error::internal)?;
            return Ok(changes.body(&webhook.id));
        }
        let payload = self.payload(reader, event)?;
        let by = reader.authors([event.actor])?.author_of(event.actor);
        Ok(log_entry::event_payload(event).body(&webhook.id, &by, payload.as_deref()))
    }

    /// The payload of a delivery: the version of the object, or the current type; none when it no
    /// longer exists.
    fn payload(&self, reader: &Reader<'_>, event: &DeliveryEvent) -> Result<Option<Vec<u8>>> {
        match (event.ctd, event.object, event.version) {
            _ if event.action == "Delete" => Ok(None),
            (Some(_), Some(object), Some(version)) => {
                let stored = reader.any_version(object, version)?;
                Ok(stored.map(|mut stored| {
                    // The object may be restored under another id since: this is the id of `ref`.
                    stored.id = Cow::Borrowed(&event.id_or_changes);
                    let mut out = Vec::new();
                    render::object(&mut out, &event.type_name, &stored);
                    out
                }))
            }
            (Some(ctd), None, _) => {
                let catalog = self.cms.catalog.at(reader)?;
                let found = catalog.find_by_pk(ctd);
                let json = found.map(|stored| serde_json::to_vec(&stored.to_wire())).transpose();
                json.map_err(Error::internal)
            }
            _ => Ok(None),
        }
    }

    /// Records the outcome of a request, and what its log shows.
    pub fn record(
        &self,
        sent: Outgoing,
        outcome: WebhookOutcome,
        exchange: Exchange,
    ) -> Result<AttemptReport> {
        let now = self.cms.now();
        let result = AttemptResult::of(&outcome);
        let (status, response, error) = match outcome {
            WebhookOutcome::Response(status, body) => {
                let body = String::from_utf8_lossy(&body).into_owned();
                let error = (result != AttemptResult::Success)
                    .then(|| format!("the response has status {status}"));
                (Some(status), Some(log_entry::truncated(body)), error)
            }
            WebhookOutcome::NoResponse(reason) => (None, None, Some(reason)),
        };
        let request = log_entry::truncated(sent.body);
        let request_headers = exchange
            .request_headers
            .map(|sent_headers| sent_headers.masked(&sent.configured_headers));
        let request_headers = log_entry::to_json(request_headers)?;
        let response_headers = log_entry::to_json(exchange.response_headers)?;
        let duration_ms = u64::try_from(exchange.duration.as_millis()).unwrap_or(u64::MAX);
        let Dispatch { webhook, delivery, .. } = sent.dispatch;
        // It may have been disabled during the attempt.
        let webhooks = self.cms.store.read(|reader| self.all(reader))?;
        let is_suspended =
            webhooks.iter().any(|hook| hook.pk == webhook && !hook.receives_deliveries());
        self.cms.store.write(move |writer| {
            // The webhook may be deleted meanwhile.
            let Some(row) = writer.delivery(delivery)? else { return Ok(AttemptReport::default()) };
            // Another node has delivered it while this one was paused.
            if row.state == "done" {
                return Ok(AttemptReport::default());
            }
            let expiry_start = row.expiry_start.unwrap_or(now);
            let attempts = row.attempts.saturating_add(1);
            let next = schedule::after_attempt(result, attempts, expiry_start, now);
            let (state, due_at) = match next {
                NextState::Delivered => ("done", None),
                // A delivery that expired during this attempt is not tried again.
                NextState::Retry { due_at, state } if row.is_pending => (state, Some(due_at)),
                NextState::Retry { .. } | NextState::Failed => ("failed", None),
            };
            let outage = result == AttemptResult::Outage;
            let reported = error.clone().filter(|_| state == "error" || state == "failed");
            let attempt = DeliveryAttempt {
                at: now,
                state,
                due_at,
                outage,
                status,
                response,
                error,
                request,
                request_headers,
                response_headers,
                duration_ms,
            };
            writer.record_attempt(delivery, &attempt)?;
            writer.prune_log(webhook, limits::MAX_WEBHOOK_LOG_ENTRIES)?;
            let (went_down, recovered) = record_result(writer, &row, result, now)?;
            if is_suspended {
                writer.suspend_webhook(webhook)?;
            }
            Ok(AttemptReport { error: reported, went_down, recovered })
        })
    }

    /// Fails a batch of expired deliveries; returns whether more may follow.
    pub fn expire_deliveries(&self) -> Result<bool> {
        let store = &self.cms.store;
        let now = self.cms.now();
        let before = schedule::expired_before(now);
        if store.read_autocommit(|reader| Ok(reader.expired_deliveries(before, 1)?.is_empty()))? {
            return Ok(false);
        }
        store.write(move |writer| {
            let expired = writer.expired_deliveries(before, EXPIRED_PER_COMMIT)?;
            let (mut webhooks, reason) = (Vec::new(), schedule::expired());
            for delivery in &expired {
                webhooks.push(writer.give_up_delivery(*delivery, &reason, now)?);
            }
            webhooks.dedup();
            for webhook in webhooks {
                writer.prune_log(webhook, limits::MAX_WEBHOOK_LOG_ENTRIES)?;
            }
            Ok(expired.len() >= EXPIRED_PER_COMMIT as usize)
        })
    }

    /// Creates the deliveries of new journal rows; returns the `seq` of the last row that was read. The caller stores it
    /// as the webhook cursor, so that the rows up to it can be removed.
    pub(crate) fn clean_up(&self) -> Result<i64> {
        while self.create_deliveries()? {}
        self.cms.store.read_autocommit(|reader| self.cms.webhooks.cursor.at(reader))
    }

    pub(super) fn all(&self, reader: &Reader<'_>) -> Result<Arc<Vec<Webhook>>> {
        self.cms.webhooks.cache.at(reader, &*self.cms.catalog.at(reader)?)
    }

    fn find(&self, reader: &Reader<'_>, id: &str) -> Result<Webhook> {
        let webhooks = self.all(reader)?;
        let found = webhooks.iter().find(|webhook| webhook.id.eq_ignore_ascii_case(id));
        found.cloned().ok_or_else(|| Error::not_found("webhook", id))
    }
}

/// Applies an attempt to the endpoint of its webhook; returns whether it went down, or recovered.
fn record_result(
    writer: &WriteTransaction<'_>,
    attempted: &DeliveryRow,
    result: AttemptResult,
    now: Timestamp,
) -> Result<(bool, bool)> {
    let webhook = attempted.event.webhook;
    let Some(endpoint) = writer.webhook_endpoint(webhook)? else { return Ok((false, false)) };
    let outages = writer.webhook_outages(webhook)?;
    let changed = endpoint.after_attempt(result, outages, now);
    let is_down = |endpoint| matches!(endpoint, EndpointState::Down { .. });
    let (was_down, is_down) = (is_down(endpoint), is_down(changed));
    let has_recovered = was_down && !is_down;
    if result == AttemptResult::Success || has_recovered {
        writer.clear_outages(webhook)?;
    }
    if has_recovered {
        writer.release_deliveries(webhook, now, attempted.pk)?;
    }
    writer.set_webhook_endpoint(webhook, changed)?;
    Ok((!was_down && is_down, has_recovered))
}
