//! Calls synchronous webhooks before a write, one after the other, each with the data that the previous
//! one returned (see docs/reference/webhooks.md#synchronous-webhooks). No transaction and no snapshot
//! is open meanwhile.

use cms_model::{
    clock::Timestamp,
    content_type::builtin::WEBHOOKS,
    context::Caller,
    error::{Error, FieldErrors, Result},
    limits,
    webhook::{
        model::{Webhook, WebhookKind},
        signature::Secret,
        synchronous::{self, Rejection, WebhookOutcome, WriteEvent},
    },
};
use serde_json::{Map, Value};

use super::{service::Webhooks, state::WebhookTransport};
use crate::cms::Cms;

impl<'a> Webhooks<'a> {
    /// Enables synchronous webhooks.
    pub fn set_transport(&self, transport: Box<dyn WebhookTransport>) {
        // A transport that is already set remains.
        self.cms.webhooks.transport.set(transport).ok();
    }

    /// Prepares the calls about objects of one type; none when no webhook matches.
    pub(crate) fn synchronous_calls(
        &self,
        caller: &'a Caller,
        content_type: &'a str,
        event: WriteEvent,
    ) -> Result<Option<SynchronousCalls<'a>>> {
        let Some(transport) = self.cms.webhooks.transport.get() else { return Ok(None) };
        // No webhook is called about webhooks, so that a broken one can be repaired.
        if content_type == WEBHOOKS {
            return Ok(None);
        }
        let matches = |webhook: &&Webhook| {
            webhook.kind == WebhookKind::Synchronous
                && webhook.matches(event.as_str(), content_type)
        };
        // Usually no webhook matches; the cache shows it without a statement.
        let catalog = self.cms.catalog_of(caller)?;
        let state = self.cms.store.commit_state()?;
        let cached = self.cms.webhooks.cache.of_commit(&state, &catalog);
        if cached.is_some_and(|webhooks| !webhooks.iter().any(|webhook| matches(&webhook))) {
            return Ok(None);
        }
        if caller.fast_only {
            return Err(Error::WouldBlock);
        }
        let (webhooks, key) = self.cms.store.read(|reader| {
            let webhooks: Vec<Webhook> =
                self.all(reader)?.iter().filter(matches).cloned().collect();
            let key = if webhooks.is_empty() { String::new() } else { reader.webhook_key()? };
            Ok((webhooks, key))
        })?;
        Ok((!webhooks.is_empty()).then_some(SynchronousCalls {
            cms: self.cms,
            transport: &**transport,
            caller,
            content_type,
            event,
            webhooks,
            key,
            deadline: Timestamp(
                self.cms.now().0 + limits::SYNC_WEBHOOKS_TIMEOUT_SECONDS * 1_000_000,
            ),
            failed: None,
        }))
    }
}

/// The calls of synchronous webhooks about the objects of one request.
pub(crate) struct SynchronousCalls<'a> {
    cms: &'a Cms,
    transport: &'a dyn WebhookTransport,
    caller: &'a Caller,
    content_type: &'a str,
    event: WriteEvent,
    webhooks: Vec<Webhook>,
    key: String,
    /// Time after which no webhook is called any more.
    deadline: Timestamp,
    /// The errors of the first invalid response: no webhook is called again.
    failed: Option<FieldErrors>,
}

impl SynchronousCalls<'_> {
    /// Returns whether less than half of the time is left. Work that can be continued with new calls stops then:
    /// the time may not be enough for another object.
    pub(crate) fn is_short_of_time(&self) -> bool {
        let half = limits::SYNC_WEBHOOKS_TIMEOUT_SECONDS * 1_000_000 / 2;
        self.cms.now().0 > self.deadline.0 - half
    }

    /// Calls the webhooks about one object; returns the data to write.
    ///
    /// # Errors
    /// [`Error::Invalid`] when a webhook rejects the write.
    pub(crate) fn call(&mut self, mut payload: Map<String, Value>) -> Result<Map<String, Value>> {
        if let Some(failed) = &self.failed {
            return Err(Error::Invalid(failed.clone()));
        }
        let (id, internal) = (payload.get("id").cloned(), payload.get("internal").cloned());
        let config = &self.cms.config;
        for (sequence, webhook) in self.webhooks.iter().enumerate() {
            let actor = self.caller.actor();
            let body =
                synchronous::request_body(self.event, sequence, self.content_type, actor, &payload);
            let message = format!("msg_{}", config.ids.uuid());
            let signature =
                Secret::derive(&self.key, webhook.pk).headers(&message, config.clock.now(), &body);
            let mut headers = webhook.headers.clone();
            headers.extend(signature.map(|(name, value)| (name.to_owned(), value)));
            let outcome = if config.clock.now() < self.deadline {
                self.transport.send(&webhook.url, &headers, &body)?
            } else {
                WebhookOutcome::NoResponse("no response within the timeout".to_owned())
            };
            payload = match synchronous::read_response(webhook, self.event, outcome) {
                Ok(payload) => payload,
                Err(Rejection::ByReceiver(errors)) => return Err(Error::Invalid(errors)),
                Err(Rejection::Failed(errors)) => {
                    self.failed = Some(errors.clone());
                    return Err(Error::Invalid(errors));
                }
            };
            // Webhooks can add an `id`, but not change it, and neither add nor change the dates in `internal`.
            payload.remove("internal");
            let sent = [("id", &id), ("internal", &internal)];
            payload.extend(
                sent.into_iter()
                    .filter_map(|(name, value)| Some((name.to_owned(), value.clone()?))),
            );
        }
        Ok(payload)
    }

    /// Calls the webhooks about an object whose payload may lack the id.
    pub(crate) fn call_with_id(
        &mut self,
        id: &str,
        mut payload: Map<String, Value>,
    ) -> Result<Map<String, Value>> {
        payload.entry("id").or_insert_with(|| id.into());
        self.call(payload)
    }
}
