//! Rows of deliveries of webhooks, and the rows of other tables that deliveries need.

use std::borrow::Cow;

use cms_model::{
    clock::Timestamp,
    error::Result,
    webhook::{
        change_batch,
        schedule::{self, EndpointState, PARALLEL_REQUESTS, PendingDelivery},
    },
};
use rusqlite::{Row, params};

use super::{EntryObject, Reader, WriteTransaction, actor::ActorRef};

/// The event that a delivery reports to a webhook.
#[derive(Clone, Debug)]
pub struct DeliveryEvent {
    pub webhook: i64,
    /// Sent as `webhook-id`.
    pub message: String,
    pub at: Timestamp,
    pub action: Cow<'static, str>,
    /// Primary key of the type; none for a test.
    pub ctd: Option<i64>,
    pub object: Option<i64>,
    pub version: Option<i64>,
    /// In a delivery that collects changes, `change_batch::QUEUE`.
    pub type_name: String,
    /// The id of the object. A delivery that collects changes (`debounceSeconds`) has these changes
    /// instead, as JSON of a `ChangeBatch`. The column is `id`.
    pub id_or_changes: String,
    /// The author of the change.
    pub actor: ActorRef,
}

/// A delivery.
#[derive(Clone, Debug)]
pub struct DeliveryRow {
    pub pk: i64,
    pub event: DeliveryEvent,
    pub is_pending: bool,
    pub due_at: Timestamp,
    /// Start of the time until the delivery expires: it became the head of its queue, or its webhook was
    /// enabled again. None while it waits behind others or the webhook is disabled. The column is
    /// `due_since`.
    pub expiry_start: Option<Timestamp>,
    pub state: String,
    pub attempts: u32,
    pub attempted_at: Option<Timestamp>,
    pub status: Option<u16>,
    pub response: Option<String>,
    pub error: Option<String>,
    pub request: Option<String>,
    /// Headers of the last attempt as JSON.
    pub request_headers: Option<String>,
    pub response_headers: Option<String>,
    pub duration_ms: Option<u64>,
}

/// The result of an attempt.
#[derive(Clone, Debug)]
pub struct DeliveryAttempt {
    pub at: Timestamp,
    pub state: &'static str,
    /// The time of the next attempt; none when the delivery leaves its queue.
    pub due_at: Option<Timestamp>,
    /// Whether the endpoint did not respond, or responded with a server error.
    pub outage: bool,
    pub status: Option<u16>,
    pub response: Option<String>,
    pub error: Option<String>,
    pub request: String,
    /// Headers as JSON.
    pub request_headers: Option<String>,
    pub response_headers: Option<String>,
    pub duration_ms: u64,
}

macro_rules! select {
    ($clauses:literal) => {
        concat!(
            "SELECT pk, webhook, message, at, action, ctd, object, version, type_name, id, queued,
                 due_at, state, attempts, attempted_at, status, response, error, request, due_since, actor,
                 request_headers, response_headers, duration_ms
             FROM webhook_delivery ",
            $clauses
        )
    };
}

fn delivery(row: &Row<'_>) -> rusqlite::Result<DeliveryRow> {
    Ok(DeliveryRow {
        pk: row.get(0)?,
        event: DeliveryEvent {
            webhook: row.get(1)?,
            message: row.get(2)?,
            at: Timestamp(row.get(3)?),
            action: Cow::Owned(row.get(4)?),
            ctd: row.get(5)?,
            object: row.get(6)?,
            version: row.get(7)?,
            type_name: row.get(8)?,
            id_or_changes: row.get(9)?,
            actor: ActorRef::from_column(row.get(20)?),
        },
        is_pending: row.get(10)?,
        due_at: Timestamp(row.get(11)?),
        state: row.get(12)?,
        attempts: row.get(13)?,
        attempted_at: row.get::<_, Option<i64>>(14)?.map(Timestamp),
        status: row.get(15)?,
        response: row.get(16)?,
        error: row.get(17)?,
        request: row.get(18)?,
        expiry_start: row.get::<_, Option<i64>>(19)?.map(Timestamp),
        request_headers: row.get(21)?,
        response_headers: row.get(22)?,
        duration_ms: row.get(23)?,
    })
}

impl Reader<'_> {
    /// Returns the next deliveries of a webhook to send, in journal order: the oldest pending one,
    /// and the first due heads of queues.
    pub fn next_deliveries(&self, webhook: i64, now: Timestamp) -> Result<Vec<PendingDelivery>> {
        let read = |row: &Row<'_>| {
            let due_at = Timestamp(row.get(2)?);
            Ok(PendingDelivery { pk: row.get(0)?, queue: row.get(1)?, due_at })
        };
        let mut found: Vec<PendingDelivery> = Vec::with_capacity(PARALLEL_REQUESTS + 1);
        found.extend(self.query_optional(OLDEST, [webhook], read)?);
        let limit = i64::try_from(PARALLEL_REQUESTS).unwrap_or(i64::MAX);
        let latest_due_at = schedule::latest_due_at(now).0;
        for (sql, bound) in [(DUE, now.0), (DUE_AFTER, latest_due_at)] {
            found.extend(self.query_rows::<_, Vec<_>>(sql, [webhook, bound, limit], read)?);
        }
        found.sort_by_key(|one| one.pk);
        found.dedup();
        Ok(found)
    }

    /// Returns whether the last attempt of a pending delivery failed.
    pub fn is_webhook_failing(&self, webhook: i64) -> Result<bool> {
        self.query_value(
            "SELECT EXISTS (SELECT 1 FROM webhook_delivery
                 WHERE webhook = ?1 AND head AND attempts > 0)",
            [webhook],
        )
    }

    /// Counts the queues of a webhook that have a delivery whose last attempt was an outage. Outages before the last
    /// success of the webhook are not counted.
    pub fn webhook_outages(&self, webhook: i64) -> Result<u64> {
        self.query_value(
            "SELECT count(DISTINCT queue) FROM webhook_delivery WHERE webhook = ?1 AND outage",
            [webhook],
        )
    }

    /// Returns one delivery.
    pub fn delivery(&self, pk: i64) -> Result<Option<DeliveryRow>> {
        self.query_optional(select!("WHERE pk = ?1"), [pk], delivery)
    }

    /// Returns deliveries of a webhook, newest first.
    pub fn deliveries(&self, webhook: i64, offset: u64, limit: u32) -> Result<Vec<DeliveryRow>> {
        let offset = i64::try_from(offset).unwrap_or(i64::MAX);
        self.query_rows(
            select!("WHERE webhook = ?1 ORDER BY pk DESC LIMIT ?3 OFFSET ?2"),
            params![webhook, offset, limit],
            delivery,
        )
    }

    /// Counts the deliveries of a webhook: all, and pending ones.
    pub fn count_deliveries(&self, webhook: i64) -> Result<(u64, u64)> {
        let (ended, pending): (u64, u64) = self.query_row(
            "SELECT (SELECT count(*) FROM webhook_delivery WHERE webhook = ?1 AND NOT queued),
                    (SELECT count(*) FROM webhook_delivery WHERE webhook = ?1 AND queued)",
            [webhook],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        Ok((ended + pending, pending))
    }

    /// Returns the objects of a type that were deleted together.
    pub fn trashed_at(&self, ctd: i64, at: Timestamp) -> Result<Vec<EntryObject>> {
        let read = |row: &Row<'_>| {
            Ok(EntryObject { pk: row.get(0)?, id: row.get(1)?, version: row.get(2)? })
        };
        self.query_rows(
            "SELECT pk, id, version FROM trash WHERE ctd = ?1 AND deleted_at = ?2 ORDER BY pk",
            [ctd, at.0],
            read,
        )
    }

    /// Counts the pending deliveries of all webhooks, and returns the creation time of the oldest.
    pub fn pending_deliveries(&self) -> Result<(u64, Option<Timestamp>)> {
        self.query_row(
            "SELECT (SELECT count(*) FROM webhook_delivery WHERE queued),
                    (SELECT min((SELECT at FROM webhook_delivery
                                 WHERE webhook = w.object AND queued ORDER BY pk LIMIT 1))
                     FROM webhook w)",
            [],
            |row| Ok((row.get(0)?, row.get::<_, Option<i64>>(1)?.map(Timestamp))),
        )
    }

    /// Returns the deliveries whose time until expiry started at `latest_start` or earlier, up to a limit.
    pub fn expired_deliveries(&self, latest_start: Timestamp, limit: u32) -> Result<Vec<i64>> {
        self.query_values(EXPIRED, params![latest_start.0, limit])
    }
}

/// Statements that run every second: their cost must not grow with the number of pending
/// deliveries.
const OLDEST: &str = "SELECT pk, queue, due_at FROM webhook_delivery
    WHERE webhook = ?1 AND queued ORDER BY pk LIMIT 1";
const DUE: &str = "SELECT pk, queue, due_at FROM webhook_delivery
    WHERE webhook = ?1 AND head AND due_at <= ?2 ORDER BY due_at, pk LIMIT ?3";
const DUE_AFTER: &str = "SELECT pk, queue, due_at FROM webhook_delivery
    WHERE webhook = ?1 AND head AND due_at > ?2 ORDER BY due_at, pk LIMIT ?3";
const COLLECTING: &str = "SELECT pk, at, id FROM webhook_delivery
    WHERE webhook = ?1 AND queue = ?2 AND queued AND attempted_at IS NULL ORDER BY pk DESC LIMIT 1";
const END_COLLECTION: &str =
    "UPDATE webhook_delivery SET attempted_at = ?2 WHERE pk = ?1 AND attempted_at IS NULL";
const EXPIRED: &str =
    "SELECT pk FROM webhook_delivery WHERE head AND due_since <= ?1 ORDER BY due_since LIMIT ?2";

impl WriteTransaction<'_> {
    /// Returns the delivery of a webhook that still collects changes: its primary key, the time of
    /// its first change, and its changes.
    pub fn collecting_delivery(&self, webhook: i64) -> Result<Option<(i64, Timestamp, String)>> {
        self.query_optional(COLLECTING, params![webhook, change_batch::QUEUE], |row| {
            Ok((row.get(0)?, Timestamp(row.get(1)?), row.get(2)?))
        })
    }

    /// Replaces the changes of a delivery that collects them, and the time at which it is due.
    pub fn update_collecting(&self, pk: i64, changes: &str, due_at: Timestamp) -> Result<()> {
        self.execute(
            "UPDATE webhook_delivery SET id = ?2, due_at = ?3 WHERE pk = ?1",
            params![pk, changes, due_at.0],
        )
    }

    /// Ends the collection of changes before the first attempt, so that all of them are sent.
    pub fn end_collection(&self, pk: i64, now: Timestamp) -> Result<()> {
        self.execute(END_COLLECTION, [pk, now.0])
    }

    /// Appends a delivery to the queue of its object; returns its primary key.
    pub fn insert_delivery(&self, event: &DeliveryEvent, now: Timestamp) -> Result<i64> {
        let inserted: (i64, String) = self.query_row(
            "INSERT INTO webhook_delivery
                     (webhook, message, at, action, ctd, object, version, type_name, id, actor,
                      due_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?3) RETURNING pk, queue",
            params![
                event.webhook,
                event.message,
                event.at.0,
                event.action,
                event.ctd,
                event.object,
                event.version,
                event.type_name,
                event.id_or_changes,
                event.actor.to_column(),
            ],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let (pk, queue) = inserted;
        self.set_head(event.webhook, &queue, now)?;
        Ok(pk)
    }

    /// Makes the first pending delivery of a queue its head.
    fn set_head(&self, webhook: i64, queue: &str, now: Timestamp) -> Result<()> {
        self.execute(
            "UPDATE webhook_delivery SET head = 1, due_since = coalesce(due_since, ?3)
             WHERE NOT head AND pk = (SELECT pk FROM webhook_delivery
                 WHERE webhook = ?1 AND queue = ?2 AND queued ORDER BY pk LIMIT 1)",
            params![webhook, queue, now.0],
        )
    }

    /// Makes the first pending delivery of each queue of a webhook due, and marks its endpoint as up.
    pub fn restart_webhook(&self, webhook: i64, now: Timestamp) -> Result<()> {
        self.execute(
            "UPDATE webhook_delivery SET due_since = ?2
             WHERE webhook = ?1 AND head AND due_since IS NULL",
            [webhook, now.0],
        )?;
        self.clear_outages(webhook)?;
        self.set_webhook_endpoint(webhook, EndpointState::Up)?;
        self.release_deliveries(webhook, now, 0)
    }

    /// Keeps the pending deliveries of a disabled webhook: they do not expire, and its endpoint does not count
    /// as down.
    pub fn suspend_webhook(&self, webhook: i64) -> Result<()> {
        self.execute(
            "UPDATE webhook_delivery SET due_since = NULL WHERE webhook = ?1 AND head",
            [webhook],
        )?;
        self.clear_outages(webhook)?;
        self.set_webhook_endpoint(webhook, EndpointState::Up)
    }

    /// Makes the first pending delivery of each queue of a webhook due, in journal order, except one delivery.
    pub fn release_deliveries(&self, webhook: i64, now: Timestamp, except: i64) -> Result<()> {
        self.execute(
            "UPDATE webhook_delivery SET due_at = min(at, ?2)
             WHERE webhook = ?1 AND head AND due_at > min(at, ?2) AND pk <> ?3",
            [webhook, now.0, except],
        )
    }

    pub fn clear_outages(&self, webhook: i64) -> Result<()> {
        self.execute(
            "UPDATE webhook_delivery SET outage = 0 WHERE webhook = ?1 AND outage",
            [webhook],
        )
    }

    /// Queues an ended delivery again, at its old position.
    pub fn requeue_delivery(&self, pk: i64, now: Timestamp) -> Result<()> {
        let requeued: Option<(i64, String)> = self.query_optional(
            "UPDATE webhook_delivery
                 SET queued = 1, state = 'pending', attempts = 0, outage = 0, due_since = NULL,
                     due_at = min(at, ?2)
                 WHERE pk = ?1 AND NOT queued RETURNING webhook, queue",
            [pk, now.0],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let Some((webhook, queue)) = requeued else { return Ok(()) };
        self.execute(
            "UPDATE webhook_delivery SET head = 0, due_since = NULL
             WHERE webhook = ?1 AND queue = ?2 AND head",
            params![webhook, queue],
        )?;
        self.set_head(webhook, &queue, now)
    }

    /// Queues all failed deliveries of a webhook again; returns their number.
    pub fn requeue_failed(&self, webhook: i64, now: Timestamp) -> Result<usize> {
        let failed: Vec<i64> = self.query_values(
            "SELECT pk FROM webhook_delivery
             WHERE webhook = ?1 AND NOT queued AND state = 'failed' ORDER BY pk",
            [webhook],
        )?;
        for pk in &failed {
            self.requeue_delivery(*pk, now)?;
        }
        Ok(failed.len())
    }

    /// Records the result of an attempt; when the delivery leaves its queue, the next one becomes
    /// the head.
    pub fn record_attempt(&self, pk: i64, attempt: &DeliveryAttempt) -> Result<()> {
        let (webhook, queue): (i64, String) = self.query_row(
            "UPDATE webhook_delivery
                 SET attempts = attempts + 1, attempted_at = ?2, state = ?3, queued = ?4,
                     head = head AND ?4, due_at = coalesce(?5, due_at), outage = ?6, status = ?7,
                     response = ?8, error = ?9, request = ?10, request_headers = ?11,
                     response_headers = ?12, duration_ms = ?13
                 WHERE pk = ?1 RETURNING webhook, queue",
            params![
                pk,
                attempt.at.0,
                attempt.state,
                attempt.due_at.is_some(),
                attempt.due_at.map(|at| at.0),
                attempt.outage,
                attempt.status,
                attempt.response,
                attempt.error,
                attempt.request,
                attempt.request_headers,
                attempt.response_headers,
                attempt.duration_ms,
            ],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        self.set_head(webhook, &queue, attempt.at)
    }

    /// Marks a delivery as failed; returns its webhook.
    pub fn give_up_delivery(&self, pk: i64, reason: &str, now: Timestamp) -> Result<i64> {
        let (webhook, queue): (i64, String) = self.query_row(
            "UPDATE webhook_delivery
                 SET queued = 0, head = 0, state = 'failed', error = coalesce(error, ?2)
                 WHERE pk = ?1 RETURNING webhook, queue",
            params![pk, reason],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        self.set_head(webhook, &queue, now)?;
        Ok(webhook)
    }

    /// Removes all ended deliveries of a webhook except the newest `keep`.
    pub fn prune_log(&self, webhook: i64, keep: u32) -> Result<()> {
        self.execute(
            "DELETE FROM webhook_delivery WHERE webhook = ?1 AND NOT queued AND pk <=
                 (SELECT pk FROM webhook_delivery WHERE webhook = ?1 AND NOT queued
                  ORDER BY pk DESC LIMIT 1 OFFSET ?2)",
            params![webhook, keep],
        )
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use tempfile::TempDir;

    use super::{DUE, DUE_AFTER, EXPIRED, OLDEST};
    use crate::testing::{assert_read_by_index, database_with};

    /// A data directory with 100,000 pending deliveries: half of them of one object, the others of
    /// one object each, with a later retry.
    fn backlog() -> (TempDir, Connection) {
        database_with(
            "INSERT INTO webhook (object) VALUES (7);
                 WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 100000)
                 INSERT INTO webhook_delivery
                     (webhook, message, at, action, ctd, object, version, type_name, id, due_at,
                      head, due_since)
                 SELECT 7, n, n, 'Update', 1, 1, 1, 'post', iif(n % 2, 'same', n),
                        iif(n % 2, n, 1000000 + n), n = 1 OR n % 2 = 0, iif(n % 2, NULL, n)
                 FROM n;",
        )
    }

    #[test]
    fn next_deliveries_have_constant_cost() {
        let (_folder, database) = backlog();
        let table: [(&str, &[i64], &[i64], &str); 4] = [
            (OLDEST, &[7], &[1], "webhook_queue"),
            (DUE, &[7, 500_000, 4], &[1], "webhook_due"),
            (DUE_AFTER, &[7, 1_099_996, 4], &[99_998, 100_000], "webhook_due"),
            (EXPIRED, &[10, 500], &[2, 4, 6, 8, 10], "webhook_expiry"),
        ];
        for (sql, parameters, wanted, index) in table {
            let parameters = || rusqlite::params_from_iter(parameters);
            assert_read_by_index(&database, sql, parameters, wanted, index);
        }
    }
}
