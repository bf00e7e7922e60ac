//! Sends webhook deliveries, several of each webhook at a time.
//!
//! The core decides which deliveries are due, what a request contains and when it is retried, and
//! stores all of this. After a crash, the next process repeats the requests that were running. This
//! module knows which requests run.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};

use cms_core::{
    Cms, Dispatch, Duty, Error, Outgoing, Result, WebhookOutcome, WebhookTransport, limits,
};
use tokio::{
    runtime::Handle,
    sync::Semaphore,
    task::{self, JoinSet},
    time::{self, Instant},
};

use super::webhook_client::{Request, WebhookClient};
use crate::{blocking, net::permits::WritePermits, state::App};

/// Pause after a commit, so that one pass creates the deliveries of several commits.
const BATCH_DELAY: Duration = Duration::from_millis(20);
/// Poll interval for due retries and for changes of other processes.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Time after a start in which no delivery expires: the server may have been stopped for days, and each delivery gets an
/// attempt before it fails.
const NO_EXPIRY_AFTER_START: Duration = Duration::from_mins(10);
/// Pause after a delivery whose outcome could not be recorded: it is still due, and without a pause
/// it would be sent again immediately.
const UNRECORDED_DELIVERY_PAUSE: Duration = Duration::from_secs(10);
/// Timeout of a delivery.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of a synchronous webhook.
const SYNCHRONOUS_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum size of the response of a synchronous webhook, in MiB: an object, and some more.
const MAX_SYNCHRONOUS_RESPONSE_MIB: usize = 4;
/// Concurrent deliveries to all webhooks.
const MAX_DELIVERIES: usize = 64;
/// Concurrent requests to synchronous webhooks: each blocks a thread.
const MAX_SYNCHRONOUS_REQUESTS: usize = 64;

/// Sends deliveries.
#[derive(Clone)]
struct Dispatcher {
    app: Arc<App>,
    client: Arc<WebhookClient>,
    permits: Arc<Semaphore>,
}

/// Sends requests to synchronous webhooks, on the threads of writes. These release their write
/// permits meanwhile, so a slow receiver delays only the writes that it validates.
struct SynchronousTransport {
    writes: WritePermits,
    permits: Semaphore,
    runtime: Handle,
    client: WebhookClient,
    /// Weak, because the application owns the transport.
    app: Weak<App>,
}

impl WebhookTransport for SynchronousTransport {
    fn send(&self, url: &str, headers: &[(String, String)], body: &str) -> Result<WebhookOutcome> {
        let too_many = |_| Error::Busy("too many requests wait for webhooks".to_owned());
        let _permit = self.permits.try_acquire().map_err(too_many)?;
        let max_bytes = MAX_SYNCHRONOUS_RESPONSE_MIB << 20;
        let timeout = SYNCHRONOUS_TIMEOUT;
        let request = Request { url, headers, body, timeout, max_response_bytes: max_bytes + 1 };
        let (outcome, _) = self.writes.release_while(&self.runtime, self.client.send(request));
        Ok(match outcome {
            // The end of the runtime ends all requests: the receiver did not refuse anything.
            WebhookOutcome::NoResponse(_) if self.is_stopping() => {
                return Err(Error::Busy("the server is stopping".to_owned()));
            }
            WebhookOutcome::Response(_, body) if body.len() > max_bytes => {
                let limit = MAX_SYNCHRONOUS_RESPONSE_MIB;
                WebhookOutcome::NoResponse(format!("the response is larger than {limit} MiB"))
            }
            outcome => outcome,
        })
    }
}

impl SynchronousTransport {
    fn is_stopping(&self) -> bool {
        self.app.upgrade().is_none_or(|app| app.is_draining())
    }
}

/// Enables synchronous webhooks for as long as the runtime runs.
pub(crate) fn enable_synchronous(app: &Arc<App>) {
    let transport = SynchronousTransport {
        writes: app.permits.write_permits(),
        permits: Semaphore::new(MAX_SYNCHRONOUS_REQUESTS),
        runtime: Handle::current(),
        client: WebhookClient::new(app),
        app: Arc::downgrade(app),
    };
    app.cms.webhooks().set_transport(Box::new(transport));
}

/// Sends deliveries for as long as the server runs.
pub(super) async fn deliver(app: Arc<App>) {
    let client = Arc::new(WebhookClient::new(&app));
    let permits = Arc::new(Semaphore::new(MAX_DELIVERIES));
    let dispatcher = Dispatcher { app, client, permits };
    // Dropped with this task, which ends the deliveries too.
    let mut tasks = JoinSet::new();
    let mut running: HashMap<task::Id, Dispatch> = HashMap::new();
    let mut commits = dispatcher.app.commits.subscribe();
    let mut next_poll = Instant::now();
    let no_expiry_until = next_poll + NO_EXPIRY_AFTER_START;
    loop {
        // If the next poll is due within `BATCH_DELAY` anyway, this task does not wait for commits:
        // waking it for each commit would slow the commits down.
        let is_soon = next_poll <= Instant::now() + BATCH_DELAY;
        let due = tokio::select! {
            Some(done) = tasks.join_next_with_id() => {
                // After a panic, the next poll sends the delivery again.
                let (id, has_panicked) = match done {
                    Ok((id, ())) => (id, false),
                    Err(error) => (error.id(), true),
                };
                let done = running.remove(&id).expect("it is added when the task is spawned");
                if has_panicked {
                    continue;
                }
                let running: Vec<Dispatch> = running.values().cloned().collect();
                dispatcher.run(move |cms| next(cms, done.webhook, &running)).await
            }
            Ok(()) = commits.changed(), if !is_soon => {
                next_poll = Instant::now() + BATCH_DELAY;
                continue;
            }
            () = time::sleep_until(next_poll) => {
                let running: Vec<Dispatch> = running.values().cloned().collect();
                let expires = next_poll >= no_expiry_until;
                let polled = dispatcher.run(move |cms| poll(cms, &running, expires)).await;
                let (is_behind, due) = polled.unwrap_or_default();
                let pause = if is_behind { Duration::ZERO } else { POLL_INTERVAL };
                next_poll = Instant::now() + pause;
                Some(due)
            }
        };
        for dispatch in due.unwrap_or_default() {
            let spawned = tasks.spawn(dispatcher.clone().deliver(dispatch.clone()));
            running.insert(spawned.id(), dispatch);
        }
    }
}

/// Returns the deliveries of a webhook that are due.
fn next(cms: &Cms, webhook: i64, running: &[Dispatch]) -> Result<Vec<Dispatch>> {
    let webhooks = cms.webhooks();
    if webhooks.try_become_sender()? {
        webhooks.due(Some(webhook), running)
    } else {
        Ok(Vec::new())
    }
}

/// Returns whether the journal has more to read, and the deliveries that are due. `expires`: old deliveries fail.
fn poll(cms: &Cms, running: &[Dispatch], expires: bool) -> Result<(bool, Vec<Dispatch>)> {
    let webhooks = cms.webhooks();
    if !cms.has_duty(Duty::Webhooks) || !webhooks.try_become_sender()? {
        return Ok((false, Vec::new()));
    }
    let has_more_events = webhooks.create_deliveries()?;
    let has_more_expired = expires && webhooks.expire_deliveries()?;
    Ok((has_more_events || has_more_expired, webhooks.due(None, running)?))
}

impl Dispatcher {
    /// Sends one delivery, and pauses if its outcome could not be recorded.
    async fn deliver(self, dispatch: Dispatch) {
        if self.try_deliver(dispatch).await.is_none() {
            time::sleep(UNRECORDED_DELIVERY_PAUSE).await;
        }
    }

    /// Sends one delivery. Returns none if a call of the core failed.
    async fn try_deliver(&self, dispatch: Dispatch) -> Option<()> {
        let Ok(permit) = self.permits.acquire().await else { return Some(()) };
        // Another node may have taken over while this delivery waited.
        if !self.app.cms.has_duty(Duty::Webhooks) {
            return Some(());
        }
        let outgoing = self.run(move |cms| cms.webhooks().outgoing(&dispatch)).await?;
        let Some(outgoing) = outgoing else { return Some(()) };
        let Outgoing { url, headers, body, .. } = &outgoing;
        let (timeout, max_response_bytes) = (DELIVERY_TIMEOUT, limits::MAX_WEBHOOK_LOG_BODY_BYTES);
        let request = Request { url, headers, body, timeout, max_response_bytes };
        let (outcome, exchange) = self.client.send(request).await;
        drop(permit);
        self.app.metrics.count_delivery(&outcome);
        let webhook = outgoing.id.clone();
        let recorded =
            self.run(move |cms| cms.webhooks().record(outgoing, outcome, exchange)).await?;
        if let Some(error) = recorded.error {
            tracing::warn!(webhook, error, "webhook delivery failed");
        }
        if recorded.went_down {
            tracing::warn!(webhook, "webhook endpoint is down");
        }
        if recorded.recovered {
            tracing::info!(webhook, "webhook endpoint recovered");
        }
        Some(())
    }

    /// Calls the core; an error is logged.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Cms) -> Result<T> + Send + 'static,
    ) -> Option<T> {
        let run = blocking::run_without_permit(&self.app, move |app| work(&app.cms));
        let log = |error: &Error| {
            tracing::warn!(%error, cause = ?std::error::Error::source(error), "webhook task failed");
        };
        run.await.flatten().inspect_err(log).ok()
    }
}
