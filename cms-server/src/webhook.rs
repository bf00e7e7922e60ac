//! Sends the deliveries of webhooks, several of each at a time.
//!
//! The core decides what is due, what a request says and when it is tried again, and keeps all of it
//! in the database: what is under way when the process dies is sent again by the next one. Here is
//! known which requests run.

mod address;
mod client;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use cms_core::{Answered, AskReceiver, Cms, Dispatch, Error, Outgoing, Result, limits};
use tokio::{
    runtime::Handle,
    sync::Semaphore,
    task::JoinSet,
    time::{self, Instant},
};

use self::client::{Caller, Request};
use crate::{
    blocking::{self, WriteTurns},
    state::App,
};

/// How long changes are gathered before they are told.
const GATHERING: Duration = Duration::from_millis(20);
/// How often somebody looks for what is to be tried again, and for what other processes wrote.
const PAUSE: Duration = Duration::from_secs(1);
/// How long a delivery is left alone when its outcome could not be recorded: the receiver would get
/// it again and again.
const TROUBLE: Duration = Duration::from_secs(10);
/// How long a request may take (contract 11.2).
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long a blocking webhook may take (contract 11.4).
const BLOCKING_TIMEOUT: Duration = Duration::from_secs(5);
/// Most bytes of the answer of a blocking webhook: an object, and some more.
const BLOCKING_ANSWER: usize = 4 * 1024 * 1024;
/// Requests to all webhooks that are under way at the same time.
const AT_ONCE: usize = 64;
/// The same for blocking webhooks: each keeps a thread waiting.
const QUESTIONS: usize = 64;

/// What sends deliveries.
#[derive(Clone)]
struct Courier {
    app: Arc<App>,
    caller: Arc<Caller>,
    turns: Arc<Semaphore>,
}

/// Asks blocking webhooks, on the threads of requests that write. These lend their turns to others
/// meanwhile, so a receiver that is slow holds up nobody but who writes what it is asked about.
struct Asker {
    turns: WriteTurns,
    questions: Semaphore,
    runtime: Handle,
    caller: Caller,
}

impl AskReceiver for Asker {
    fn ask(&self, url: &str, headers: &[(String, String)], body: &str) -> Result<Answered> {
        let too_many = |_| Error::Busy("too many requests wait for webhooks".to_owned());
        let _question = self.questions.try_acquire().map_err(too_many)?;
        let (timeout, answer_limit) = (BLOCKING_TIMEOUT, BLOCKING_ANSWER);
        let request = Request { url, headers, body, timeout, answer_limit };
        Ok(self.turns.lend(&self.runtime, self.caller.send(request)))
    }
}

/// Lets blocking webhooks be asked before writes, for as long as the runtime runs.
pub(crate) fn ask_before_writes(app: &App, allow_private: bool) {
    let asker = Asker {
        turns: app.permits.write_turns(),
        questions: Semaphore::new(QUESTIONS),
        runtime: Handle::current(),
        caller: Caller::new(allow_private, app.cms.config().http_webhooks),
    };
    app.cms.webhooks().ask_through(Box::new(asker));
}

/// Sends deliveries for as long as the server runs.
pub(crate) async fn keep_delivering(app: Arc<App>, allow_private: bool) {
    let caller = Caller::new(allow_private, app.cms.config().http_webhooks);
    let turns = Arc::new(Semaphore::new(AT_ONCE));
    let courier = Courier { app, caller: Arc::new(caller), turns };
    // Dropped with this task, and they with it.
    let mut tasks = JoinSet::new();
    let mut running: BTreeMap<i64, Vec<Dispatch>> = BTreeMap::new();
    let mut commits = courier.app.commits.subscribe();
    let mut next_look = Instant::now();
    loop {
        let due = tokio::select! {
            Some(done) = tasks.join_next() => {
                let Ok(done) = done else { continue };
                let webhook = finish(&mut running, &done);
                let known = running.clone();
                courier.ask(move |cms| cms.webhooks().due(Some(webhook), &known)).await
            }
            Ok(()) = commits.changed() => {
                next_look = next_look.min(Instant::now() + GATHERING);
                continue;
            }
            () = time::sleep_until(next_look) => {
                let known = running.clone();
                let (is_behind, due) =
                    courier.ask(move |cms| look(cms, &known)).await.unwrap_or_default();
                next_look = Instant::now() + if is_behind { Duration::ZERO } else { PAUSE };
                Some(due)
            }
        };
        for dispatch in due.unwrap_or_default() {
            running.entry(dispatch.webhook).or_default().push(dispatch.clone());
            tasks.spawn(courier.clone().deliver(dispatch));
        }
    }
}

/// Takes a request that is done from those that run; returns its webhook.
fn finish(running: &mut BTreeMap<i64, Vec<Dispatch>>, done: &Dispatch) -> i64 {
    if let Some(requests) = running.get_mut(&done.webhook) {
        requests.retain(|request| request != done);
        if requests.is_empty() {
            running.remove(&done.webhook);
        }
    }
    done.webhook
}

/// Tells whether there is more to read of the journal or to give up, and what is to be sent.
fn look(cms: &Cms, running: &BTreeMap<i64, Vec<Dispatch>>) -> Result<(bool, Vec<Dispatch>)> {
    let webhooks = cms.webhooks();
    if !webhooks.may_send()? {
        return Ok((false, Vec::new()));
    }
    let is_behind = webhooks.follow()? | webhooks.give_up()?;
    Ok((is_behind, webhooks.due(None, running)?))
}

impl Courier {
    /// Sends one delivery.
    async fn deliver(self, dispatch: Dispatch) -> Dispatch {
        if self.try_deliver(dispatch.clone()).await.is_none() {
            time::sleep(TROUBLE).await;
        }
        dispatch
    }

    /// As [`Self::deliver`]; nothing when the core failed.
    async fn try_deliver(&self, dispatch: Dispatch) -> Option<()> {
        let Ok(permit) = self.turns.acquire().await else { return Some(()) };
        let outgoing = self.ask(move |cms| cms.webhooks().outgoing(&dispatch)).await?;
        let Some(outgoing) = outgoing else { return Some(()) };
        let answered = self.send(&outgoing).await;
        drop(permit);
        self.app.metrics.count_attempt(&answered);
        let webhook = outgoing.id.clone();
        let recorded = self.ask(move |cms| cms.webhooks().record(outgoing, answered)).await?;
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

    async fn send(&self, outgoing: &Outgoing) -> Answered {
        let Outgoing { url, headers, body, .. } = outgoing;
        let request = Request {
            url,
            headers,
            body,
            timeout: TIMEOUT,
            answer_limit: limits::MAX_WEBHOOK_LOG_BODY_BYTES,
        };
        self.caller.send(request).await
    }

    /// Asks the core; a failure goes to the log.
    async fn ask<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Cms) -> Result<T> + Send + 'static,
    ) -> Option<T> {
        let done = blocking::cross(&self.app, move |app| job(&app.cms)).await.flatten();
        let failed = |error: &Error| {
            tracing::warn!(%error, cause = ?std::error::Error::source(error), "webhooks failed");
        };
        done.inspect_err(failed).ok()
    }
}
