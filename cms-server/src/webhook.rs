//! Sends what webhooks are told: each its own queue in order, several webhooks at a time.
//!
//! What is due, what a request says and when it is tried again is the core's business, and everything
//! is in the database: whatever is under way when the process dies is sent again by the next one.

mod address;
mod client;

use std::{collections::HashMap, sync::Arc, time::Duration};

use cms_core::{Answered, AskReceiver, Cms, Error, Outgoing, Result, limits};
use tokio::{
    runtime::Handle,
    sync::Semaphore,
    task::{AbortHandle, JoinSet},
    time,
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
/// How long a webhook is left alone when what came of a request could not be noted: it would get
/// the same again and again.
const TROUBLE: Duration = Duration::from_secs(10);
/// How long a request may take (contract 11.2).
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long a blocking webhook may take (contract 11.4).
const BLOCKING_TIMEOUT: Duration = Duration::from_secs(5);
/// Most bytes of the answer of a blocking webhook: an object, and some more.
const BLOCKING_ANSWER: usize = 4 * 1024 * 1024;
/// Requests that are under way at the same time.
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
    let mut running: HashMap<i64, AbortHandle> = HashMap::new();
    let mut commits = courier.app.commits.subscribe();
    loop {
        let (is_behind, due) = courier.ask(look).await.unwrap_or_default();
        while tasks.try_join_next().is_some() {}
        running.retain(|_, task| !task.is_finished());
        for webhook in due {
            running.entry(webhook).or_insert_with(|| tasks.spawn(courier.clone().deliver(webhook)));
        }
        if !is_behind {
            tokio::select! {
                _ = commits.changed() => time::sleep(GATHERING).await,
                Some(_) = tasks.join_next() => {}
                () = time::sleep(PAUSE) => {}
            }
        }
    }
}

/// Tells whether there is more to read of the journal, and which webhooks have something due.
fn look(cms: &Cms) -> Result<(bool, Vec<i64>)> {
    let webhooks = cms.webhooks();
    if !webhooks.may_send()? {
        return Ok((false, Vec::new()));
    }
    Ok((webhooks.follow()?, webhooks.due()?))
}

impl Courier {
    /// Sends what is due to one webhook, until there is nothing more or something fails.
    async fn deliver(self, webhook: i64) {
        if self.deliver_all(webhook).await.is_none() {
            time::sleep(TROUBLE).await;
        }
    }

    /// As [`Self::deliver`]; nothing when the core failed.
    async fn deliver_all(&self, webhook: i64) -> Option<()> {
        while let Some(outgoing) = self.ask(move |cms| cms.webhooks().next(webhook)).await? {
            let Ok(turn) = self.turns.acquire().await else { break };
            let answered = self.send(&outgoing).await;
            drop(turn);
            self.app.metrics.count_attempt(&answered);
            let is_done = answered.is_success();
            let webhook = outgoing.id.clone();
            let error = self.ask(move |cms| cms.webhooks().record(outgoing, answered)).await?;
            if let Some(error) = error {
                tracing::warn!(webhook, error, "a webhook cannot be told what happens");
            }
            if !is_done {
                break;
            }
        }
        Some(())
    }

    async fn send(&self, outgoing: &Outgoing) -> Answered {
        let Outgoing { url, headers, body, .. } = outgoing;
        let request =
            Request { url, headers, body, timeout: TIMEOUT, answer_limit: limits::WEBHOOK_LOGGED };
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
