//! Asking blocking webhooks before a write, one after the other, each about what the one before made
//! of the data (contract 11.4). Nothing is held meanwhile: not the writer, not a snapshot.

use cms_model::{
    clock::Timestamp,
    content_type::builtin::WEBHOOKS,
    context::Caller,
    error::{Error, FieldErrors, Result},
    limits,
    webhook::{
        exchange::{self, Answered, Event, No},
        model::{Kind, Webhook},
        signature::Secret,
    },
};
use serde_json::{Map, Value};

use super::service::Webhooks;
use crate::cms::Cms;

/// Makes the requests, which the core does not. Without one, blocking webhooks are not asked.
pub trait AskReceiver: Send + Sync {
    /// Sends a body to an address, and waits for the answer, but not for long.
    ///
    /// # Errors
    /// [`Error::Busy`] when too many are asked already.
    fn ask(&self, url: &str, headers: &[(String, String)], body: &str) -> Result<Answered>;
}

impl<'a> Webhooks<'a> {
    /// Lets blocking webhooks be asked from now on.
    pub fn ask_through(&self, receiver: Box<dyn AskReceiver>) {
        // Whoever came first is as good.
        self.cms.webhooks.receiver.set(receiver).ok();
    }

    /// Begins to ask about writes of objects of one type; none when nobody wants to be asked.
    pub(crate) fn consult(
        &self,
        caller: &'a Caller,
        content_type: &'a str,
        event: Event,
    ) -> Result<Option<Consultation<'a>>> {
        let Some(receiver) = self.cms.webhooks.receiver.get() else { return Ok(None) };
        // Nobody is asked about webhooks, or one that is broken could not be mended.
        if content_type == WEBHOOKS {
            return Ok(None);
        }
        let wants = |webhook: &&Webhook| {
            webhook.kind == Kind::Blocking && webhook.wants(event.action(), content_type)
        };
        let (asked, key) = self.cms.store.read(|reader| {
            let asked: Vec<Webhook> = self.known(reader)?.iter().filter(wants).cloned().collect();
            let key = if asked.is_empty() { String::new() } else { reader.webhook_key()? };
            Ok((asked, key))
        })?;
        Ok((!asked.is_empty()).then_some(Consultation {
            cms: self.cms,
            receiver: &**receiver,
            caller,
            content_type,
            event,
            asked,
            key,
            until: Timestamp(
                self.cms.config.clock.now().0 + limits::SYNC_WEBHOOKS_TIMEOUT_SECONDS * 1_000_000,
            ),
            failed: None,
        }))
    }
}

/// Webhooks that are asked about the objects of one call.
pub(crate) struct Consultation<'a> {
    cms: &'a Cms,
    receiver: &'a dyn AskReceiver,
    caller: &'a Caller,
    content_type: &'a str,
    event: Event,
    asked: Vec<Webhook>,
    key: String,
    /// When whoever called has waited long enough.
    until: Timestamp,
    /// What the first webhook that did not answer properly left behind: nobody waits for it again.
    failed: Option<FieldErrors>,
}

impl Consultation<'_> {
    /// Asks about one object; returns what is to be written.
    ///
    /// # Errors
    /// [`Error::Invalid`] when it must not be written.
    pub(crate) fn ask(&mut self, mut payload: Map<String, Value>) -> Result<Map<String, Value>> {
        if let Some(failed) = &self.failed {
            return Err(Error::Invalid(failed.clone()));
        }
        let kept = ["id", "internal"].map(|name| (name, payload.get(name).cloned()));
        let config = &self.cms.config;
        for (sequence, webhook) in self.asked.iter().enumerate() {
            let key = &self.caller.actor().name;
            let body = exchange::question(self.event, sequence, self.content_type, key, &payload);
            let message = format!("msg_{}", config.ids.uuid());
            let signature =
                Secret::of(&self.key, webhook.pk).headers(&message, config.clock.now(), &body);
            let mut headers = webhook.headers.clone();
            headers.extend(signature.map(|(name, value)| (name.to_owned(), value)));
            let answered = if config.clock.now() < self.until {
                self.receiver.ask(&webhook.url, &headers, &body)?
            } else {
                Answered::Nothing("no answer in time".to_owned())
            };
            payload = match exchange::read(webhook, self.event, answered) {
                Ok(payload) => payload,
                Err(No::Refused(errors)) => return Err(Error::Invalid(errors)),
                Err(No::Failed(errors)) => {
                    self.failed = Some(errors.clone());
                    return Err(Error::Invalid(errors));
                }
            };
            // A webhook changes the data, not whose they are and how old.
            for (name, value) in &kept {
                if let Some(value) = value {
                    payload.insert((*name).to_owned(), value.clone());
                }
            }
        }
        Ok(payload)
    }

    /// Asks about an object of which only the id is told, or to which the id is added.
    pub(crate) fn ask_about(
        &mut self,
        id: &str,
        mut payload: Map<String, Value>,
    ) -> Result<Map<String, Value>> {
        payload.entry("id").or_insert_with(|| id.into());
        self.ask(payload)
    }
}
