//! Idempotency keys: the first request is executed, repeated ones get the stored response.
//!
//! The response is written in the transaction of the change, so it exists exactly when the change
//! was committed. One transaction writes at a time: a repeated request waits for the first one. A
//! failed request stores nothing, and is executed again when it is repeated.

use std::sync::Arc;

use cms_model::{
    clock::Timestamp,
    content_type::catalog::{Catalog, CompiledType},
    context::Caller,
    error::{Error, Result},
    limits,
    wire::condition::IdempotencyKey,
};
use cms_store::{PendingCommit, Reader, WriteTransaction};

use super::service::Objects;

impl Objects<'_> {
    /// Returns the stored response to an earlier request with the same idempotency key.
    pub(crate) fn stored_response(&self, caller: &Caller) -> Result<Option<Vec<u8>>> {
        let Some((actor, key)) = repeatable(caller) else { return Ok(None) };
        let after = cutoff(self.cms.now());
        self.cms.store.read_autocommit(|reader| response(reader, actor, key, after))
    }

    /// Queues a write as [`Self::begin_write`] does. If a response was stored meanwhile, nothing is
    /// written, and that response is returned.
    pub(crate) fn begin_once(
        &self,
        caller: &Caller,
        name: &str,
        write: impl FnOnce(&WriteTransaction<'_>, &Catalog, &Arc<CompiledType>) -> Result<Vec<u8>>
        + Send
        + 'static,
    ) -> Result<PendingCommit<Vec<u8>>> {
        let Some((actor, key)) = repeatable(caller) else { return self.begin_write(name, write) };
        let (key, at) = (key.clone(), self.cms.now());
        self.begin_write(name, move |transaction, catalog, content_type| {
            if let Some(response) = response(transaction, actor, &key, cutoff(at))? {
                return Ok(response);
            }
            let response = write(transaction, catalog, content_type)?;
            if response.len() > limits::MAX_IDEMPOTENCY_RESPONSE_BYTES {
                return Err(Error::BodyTooLarge);
            }
            transaction.store_response(actor, (&key.key, key.fingerprint), at, &response)?;
            Ok(response)
        })
    }
}

/// The primary key of the caller, and the idempotency key of the request.
fn repeatable(caller: &Caller) -> Option<(i64, &IdempotencyKey)> {
    caller.actor.pk.zip(caller.write_guards.idempotency_key())
}

/// Responses before this time are expired.
pub(crate) fn cutoff(now: Timestamp) -> Timestamp {
    Timestamp(now.0 - limits::IDEMPOTENCY_RETENTION_HOURS * 3_600_000_000)
}

fn response(
    reader: &Reader<'_>,
    actor: i64,
    key: &IdempotencyKey,
    after: Timestamp,
) -> Result<Option<Vec<u8>>> {
    match reader.stored_response(actor, &key.key, after)? {
        Some((fingerprint, _)) if fingerprint != key.fingerprint => {
            Err(Error::IdempotencyKeyReused)
        }
        kept => Ok(kept.map(|(_, response)| response)),
    }
}
